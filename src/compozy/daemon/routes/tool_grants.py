"""Routes of remembered answers about tools (contract §6.3; shapes: tool-approval-grants)."""

from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, empty_response, json_response, query_values, read_body
from compozy.daemon.routing import Route
from compozy.model.errors import InvalidRequest
from compozy.model.tool import ApprovalGrant
from compozy.model.workspace import Workspace
from compozy.runtime.services import Services


class SetGrant(Body, frozen=True, kw_only=True):
    tool_id: str
    decision: Literal["allow", "reject"]
    scope: Literal["agent", "tool"]
    agent_name: str = ""


async def _workspace(app: Services, request: Request) -> Workspace:
    reference = query_values(request).get("workspace_id", "")
    if not reference:
        raise InvalidRequest("query parameter 'workspace_id' is required: grants belong to a workspace")
    return await app.workspaces.get(reference)


async def list_grants(app: Services, request: Request) -> Response:
    """Answer the grants of a workspace."""
    grants = await app.tools.grants.of((await _workspace(app, request)).id)
    return json_response({"grants": grants, "total": len(grants)})


async def set_grant(app: Services, request: Request) -> Response:
    """Remember an answer for an agent, or for every agent of a workspace."""
    workspace = await _workspace(app, request)
    body = await read_body(request, SetGrant)
    agent = body.agent_name.strip()
    if (body.scope == "agent") != bool(agent):
        raise InvalidRequest('agent_name is given with scope "agent", and only then')
    caller = await app.callers.caller(workspace=workspace.id, agent_name=agent)
    grant = await app.tools.put_grant(caller, body.tool_id.strip(), body.decision, agent)
    return json_response({"grant": grant})


async def delete_grant(app: Services, request: Request) -> Response:
    """Forget an answer."""
    await app.tools.grants.delete((await _workspace(app, request)).id, request.path_params["id"])
    return empty_response()


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/tool-approval-grants",
        handler=list_grants,
        name="listToolApprovalGrants",
        summary="The remembered answers of a workspace",
        answer={"grants": tuple[ApprovalGrant, ...], "total": int},
        query=("workspace_id",),
    ),
    Route(
        method="PUT",
        path="/api/tool-approval-grants",
        handler=set_grant,
        name="setToolApprovalGrant",
        summary="Remember that a tool is allowed, or rejected, for an agent or for all",
        body=SetGrant,
        answer={"grant": ApprovalGrant},
        kind="privileged",
        query=("workspace_id",),
    ),
    Route(
        method="DELETE",
        path="/api/tool-approval-grants/{id}",
        handler=delete_grant,
        name="revokeToolApprovalGrant",
        summary="Forget a remembered answer",
        kind="privileged",
        status=204,
        query=("workspace_id",),
    ),
)
