"""The route that explains a permission before anybody is asked for it (additive to contract §5.5)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.routing import Route
from compozy.model.errors import InvalidRequest
from compozy.model.permission import PermissionExplanation
from compozy.runtime.permissions import PermissionQuestion
from compozy.runtime.services import Services


class ExplainPermission(Body, frozen=True, kw_only=True):
    agent: str = ""
    session_id: str = ""
    workspace: str = ""
    workspace_path: str = ""
    tool: str = ""
    kind: str = ""
    paths: tuple[str, ...] = ()
    permissions: str = ""


async def explain_permission(app: Services, request: Request) -> Response:
    """Answer what would happen if an agent did something, layer by layer."""
    body = await read_body(request, ExplainPermission)
    if body.workspace and body.workspace_path:
        raise InvalidRequest("workspace and workspace_path are mutually exclusive")
    workspace = None
    if body.workspace or body.workspace_path:
        workspace = await app.workspaces.get(body.workspace or body.workspace_path)
    question = PermissionQuestion(
        agent=body.agent.strip(),
        session_id=body.session_id.strip(),
        tool=body.tool.strip(),
        kind=body.kind.strip(),
        paths=body.paths,
        permissions=body.permissions.strip(),
    )
    return json_response({"explanation": await app.permissions.explain(question, workspace)})


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/api/permissions/explain",
        handler=explain_permission,
        name="explainPermission",
        summary="What would happen if an agent did something, and what would change that",
        body=ExplainPermission,
        answer={"explanation": PermissionExplanation},
        kind="write",
    ),
)
