"""The capabilities of one agent, brief for peers or whole with digests (decisions D2, D27; issue 4 item 5)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import json_response, query_values
from compozy.daemon.routing import Route
from compozy.model.capability import AgentCapabilities, Capability, DeclaredCapability
from compozy.model.errors import InvalidRequest
from compozy.runtime.services import Services
from compozy.runtime.workspaces import require_root

_DETAILS = ("brief", "rich")


async def get_capabilities(app: Services, request: Request) -> Response:
    """Answer what an agent declares: id and summary, or the full records."""
    query = query_values(request)
    detail = query.get("detail") or "rich"
    if detail not in _DETAILS:
        raise InvalidRequest(f"query parameter 'detail' is {detail!r}; write brief or rich")
    reference = query.get("workspace", "")
    workspace = await app.workspaces.get(reference) if reference else None
    if workspace is not None:
        require_root(workspace)
    agent = await app.fleet.get(request.path_params["name"], workspace)
    if agent.diagnostics and not agent.definition_digest:
        raise InvalidRequest(
            f"agent {agent.name!r} does not load: {agent.diagnostics[0].message}; run `compozy agent check --fix`",
            code="agent_invalid",
        )
    shown = ("id", "summary") if detail == "brief" else Capability.__struct_fields__
    rows = [DeclaredCapability(**{name: getattr(row, name) for name in shown}) for row in agent.capabilities]
    return json_response(
        AgentCapabilities(
            agent=agent.name,
            detail=detail,
            capabilities=tuple(rows),
            capabilities_digest=agent.capabilities_digest,
        )
    )


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/agents/{name}/capabilities",
        handler=get_capabilities,
        name="getAgentCapabilities",
        summary="What an agent declares it can do: brief (id, summary) or rich (full records with digests)",
        answer=AgentCapabilities,
        query=("workspace", "detail"),
    ),
)
