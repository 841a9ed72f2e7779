"""Routes of tools: list, search, one, call, approve, groups, kept results (contract §3.7, §6).

Errors of calls have the tool endpoints' own envelope and statuses (contract §3.1); everything else has the usual one.
"""

from collections.abc import Awaitable, Callable
from functools import wraps

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, query_number, query_values, read_body
from compozy.daemon.routes.sessions import SESSION, session_id_of
from compozy.daemon.routing import Route
from compozy.model.errors import InvalidRequest
from compozy.model.tool import ArtifactPage, ToolApproval, ToolInvocation, Toolset, ToolView
from compozy.runtime.services import Services
from compozy.runtime.tools.callers import Caller
from compozy.runtime.tools.calls import Invocation
from compozy.runtime.tools.faults import ToolFault
from compozy.runtime.tools.service import MOST_FOUND, SEARCH_LIMIT
from compozy.tools.artifacts import PAGE_BYTES

_WHO = ("workspace_id", "workspace", "session_id", "agent_name")
Handler = Callable[[Services, Request], Awaitable[Response]]


class SearchTools(Body, frozen=True, kw_only=True):
    query: str
    limit: int = SEARCH_LIMIT
    agent_name: str = ""
    session_id: str = ""
    workspace_id: str = ""


class ApproveTool(Body, frozen=True, kw_only=True):
    session_id: str = ""
    agent_name: str = ""
    workspace_id: str = ""
    input: dict[str, object] | None = None
    input_digest: str = ""


class InvokeTool(Body, frozen=True, kw_only=True):
    input: object = None
    agent_name: str = ""
    approval_token: str = ""
    correlation_id: str = ""
    sensitive_input_fields: tuple[str, ...] = ()
    session_id: str = ""
    tool_call_id: str = ""
    turn_id: str = ""
    workspace_id: str = ""


def with_tool_errors(handler: Handler) -> Handler:
    """Give a handler the error envelope of the tool endpoints."""

    @wraps(handler)
    async def answer(app: Services, request: Request) -> Response:
        try:
            return await handler(app, request)
        except ToolFault as fault:
            return json_response({"error": fault.tool_error}, fault.status)

    return answer


async def _who(app: Services, request: Request) -> Caller:
    values = query_values(request)
    workspace = values.get("workspace", "") or values.get("workspace_id", "")
    return await app.callers.caller(
        workspace=workspace, session_id=values.get("session_id", ""), agent_name=values.get("agent_name", "")
    )


@with_tool_errors
async def list_tools(app: Services, request: Request) -> Response:
    """Answer every tool with what the policy says about it for the caller that is named."""
    return json_response({"tools": await app.tools.views(await _who(app, request))})


@with_tool_errors
async def get_tool(app: Services, request: Request) -> Response:
    """Answer one tool; its decision says what each layer said."""
    return json_response({"tool": await app.tools.view(await _who(app, request), request.path_params["id"])})


def _limit(limit: int) -> int:
    if not 1 <= limit <= MOST_FOUND:
        raise InvalidRequest(f"limit is {limit}; write a whole number from 1 to {MOST_FOUND}")
    return limit


@with_tool_errors
async def search_tools(app: Services, request: Request) -> Response:
    """Answer the tools that fit a query."""
    body = await read_body(request, SearchTools)
    session_id, workspace = body.session_id, body.workspace_id
    if "session_id" in request.path_params:
        session_id, workspace = await session_id_of(app, request), request.path_params["workspace_id"]
    caller = await app.callers.caller(workspace=workspace, session_id=session_id, agent_name=body.agent_name)
    return json_response({"tools": await app.tools.search(caller, body.query, _limit(body.limit))})


@with_tool_errors
async def list_session_tools(app: Services, request: Request) -> Response:
    """Answer the tools as a session sees them."""
    session_id = await session_id_of(app, request)
    return json_response({"tools": await app.tools.views(await app.callers.caller(session_id=session_id))})


@with_tool_errors
async def approve_tool(app: Services, request: Request) -> Response:
    """Give a single-use token for one call; only somebody who is no agent should."""
    body = await read_body(request, ApproveTool)
    caller = await app.callers.caller(
        workspace=body.workspace_id, session_id=body.session_id, agent_name=body.agent_name
    )
    given = await app.tools.approve(caller, request.path_params["id"], body.input, body.input_digest.strip())
    return json_response({"approval": given}, 201)


@with_tool_errors
async def invoke_tool(app: Services, request: Request) -> Response:
    """Run one call."""
    body = await read_body(request, InvokeTool)
    caller = await app.callers.caller(
        workspace=body.workspace_id, session_id=body.session_id, agent_name=body.agent_name
    )
    wanted = Invocation(
        tool_id=request.path_params["id"],
        arguments={} if body.input is None else body.input,
        approval_token=body.approval_token.strip(),
        turn_id=body.turn_id,
        tool_call_id=body.tool_call_id,
        correlation_id=body.correlation_id,
    )
    return json_response(await app.tools.invoke(caller, wanted))


@with_tool_errors
async def list_toolsets(app: Services, request: Request) -> Response:
    """Answer every group of tools."""
    return json_response({"toolsets": await app.tools.toolsets(await _who(app, request))})


@with_tool_errors
async def get_toolset(app: Services, request: Request) -> Response:
    """Answer one group."""
    return json_response({"toolset": await app.tools.toolset(await _who(app, request), request.path_params["id"])})


@with_tool_errors
async def read_artifact(app: Services, request: Request) -> Response:
    """Answer a page of a kept result."""
    workspace = await app.workspaces.get(request.path_params["workspace_id"])
    offset = query_number(request, "offset", default=0, minimum=0, maximum=2**53)
    limit = query_number(request, "limit", default=PAGE_BYTES, minimum=1, maximum=PAGE_BYTES)
    artifact_id = request.path_params["artifact_id"]
    return json_response(await app.tools.read_artifact(workspace.id, artifact_id, offset, limit))


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/tools",
        handler=list_tools,
        tool_errors=True,
        name="listTools",
        summary="Every tool, and whether and why the named session, agent or operator may call it",
        answer={"tools": tuple[ToolView, ...]},
        query=_WHO,
    ),
    Route(
        method="POST",
        path="/api/tools/search",
        handler=search_tools,
        tool_errors=True,
        name="searchTools",
        summary="Find tools by what they do",
        body=SearchTools,
        answer={"tools": tuple[ToolView, ...]},
        kind="write",
    ),
    Route(
        method="GET",
        path="/api/tools/{id}",
        handler=get_tool,
        tool_errors=True,
        name="getTool",
        summary="One tool with the derivation of its decision, layer by layer",
        answer={"tool": ToolView},
        query=_WHO,
    ),
    Route(
        method="POST",
        path="/api/tools/{id}/approvals",
        handler=approve_tool,
        tool_errors=True,
        name="createToolApproval",
        summary="Allow one call: a single-use token for a tool, an input and a session",
        body=ApproveTool,
        answer={"approval": ToolApproval},
        status=201,
        kind="privileged",
    ),
    Route(
        method="POST",
        path="/api/tools/{id}/invoke",
        handler=invoke_tool,
        tool_errors=True,
        name="invokeTool",
        summary="Call a tool",
        body=InvokeTool,
        answer=ToolInvocation,
        kind="admit",
    ),
    Route(
        method="GET",
        path="/api/toolsets",
        handler=list_toolsets,
        tool_errors=True,
        name="listToolsets",
        summary="The groups of tools and what they come to",
        answer={"toolsets": tuple[Toolset, ...]},
        query=_WHO,
    ),
    Route(
        method="GET",
        path="/api/toolsets/{id}",
        handler=get_toolset,
        tool_errors=True,
        name="getToolset",
        summary="One group of tools",
        answer={"toolset": Toolset},
        query=_WHO,
    ),
    Route(
        method="GET",
        path="/api/workspaces/{workspace_id}/tool-artifacts/{artifact_id}",
        handler=read_artifact,
        tool_errors=True,
        name="readToolArtifact",
        summary="A page of a result that was too large to hand out",
        answer=ArtifactPage,
        query=("offset", "limit"),
    ),
    Route(
        method="GET",
        path=f"{SESSION}/tools",
        handler=list_session_tools,
        tool_errors=True,
        name="listSessionTools",
        summary="The tools as a session sees them",
        answer={"tools": tuple[ToolView, ...]},
        query=("agent_name",),
    ),
    Route(
        method="POST",
        path=f"{SESSION}/tools/search",
        handler=search_tools,
        tool_errors=True,
        name="searchSessionTools",
        summary="Find tools of a session by what they do",
        body=SearchTools,
        answer={"tools": tuple[ToolView, ...]},
        kind="write",
    ),
)
