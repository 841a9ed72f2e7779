"""Routes that show who does the daemon's own jobs (contract §3.6, §9)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import json_response, query_values
from compozy.daemon.routing import Route
from compozy.model.definition import AgentDefinition
from compozy.model.role import Role
from compozy.runtime.roles import resolve_role, resolve_roles
from compozy.runtime.services import Services
from compozy.runtime.workspaces import require_root


async def list_roles(app: Services, request: Request) -> Response:
    """Answer every role as it resolves in a workspace, or globally."""
    root, agents = await _place(app, request)
    return json_response({"roles": resolve_roles(await app.configs.of(root), agents)})


async def get_role(app: Services, request: Request) -> Response:
    """Answer one role."""
    root, agents = await _place(app, request)
    return json_response({"role": resolve_role(request.path_params["role"], await app.configs.of(root), agents)})


async def _place(app: Services, request: Request) -> tuple[str, dict[str, AgentDefinition]]:
    reference = query_values(request).get("workspace", "")
    workspace = await app.workspaces.get(reference) if reference else None
    if workspace is not None:
        require_root(workspace)
    found = await app.fleet.in_force(workspace)
    agents = {row.loaded.definition.name: row.loaded.definition for row in found}
    return (workspace.root_dir if workspace else ""), agents


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/roles",
        handler=list_roles,
        name="listRoles",
        summary="Who does the daemon's own jobs",
        answer={"roles": tuple[Role, ...]},
        query=("workspace",),
    ),
    Route(
        method="GET",
        path="/api/roles/{role}",
        handler=get_role,
        name="getRole",
        summary="One of these jobs",
        answer={"role": Role},
        query=("workspace",),
    ),
)
