"""The route of the fleet catalog (contract §3.2, §3.3)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import json_response, query_number, query_values
from compozy.daemon.routing import Route
from compozy.model.errors import InvalidRequest
from compozy.model.fleet import CatalogPage
from compozy.runtime.agent_catalog import CatalogQuery
from compozy.runtime.services import Services
from compozy.runtime.workspaces import require_root

_STATUSES = ("active", "idle")
_LARGEST_PAGE = 100
# Longer texts match nothing: names have 106 characters at most.
_LONGEST_TEXT = 1_000


async def list_catalog(app: Services, request: Request) -> Response:
    """Answer one page of the fleet of a workspace."""
    values = query_values(request)
    reference = values.get("workspace", "")
    if not reference:
        raise _refused("workspace", reference, "give a workspace's id, name or path")
    status = values.get("status", "")
    if status and status not in _STATUSES:
        raise _refused("status", status, "write active or idle, or leave it out")
    for name in ("name", "q", "category"):
        if len(values.get(name, "")) > _LONGEST_TEXT:
            raise _refused(name, values[name][:20] + "…", f"write at most {_LONGEST_TEXT} characters")
    query = CatalogQuery(
        name=values.get("name", ""),
        q=values.get("q", ""),
        category=values.get("category", ""),
        status=status,
        cursor=values.get("cursor", ""),
        limit=query_number(request, "limit", default=50, minimum=1, maximum=_LARGEST_PAGE),
    )
    workspace = await app.workspaces.get(reference)
    require_root(workspace)
    return json_response(await app.agent_catalog.page(workspace, query))


def _refused(name: str, value: str, remedy: str) -> InvalidRequest:
    return InvalidRequest(f"query parameter {name!r} is {value!r}; {remedy}", details={"parameter": name})


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/agents/catalog",
        handler=list_catalog,
        name="listAgentCatalog",
        summary="A page of the agents of a workspace with what their sessions did",
        answer=CatalogPage,
        query=("workspace", "name", "q", "category", "status", "cursor", "limit"),
    ),
)
