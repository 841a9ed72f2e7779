"""The internal routes behind `compozy tool mcp`: bind, projection, calls, messages, release (contract §6.4).

On the Unix socket only, because the other side is recognised by its process. `messages` is ours (`mcp_channel.py`):
the relay forwards MCP's own messages, and the server that answers them lives in the daemon.
"""

from collections.abc import AsyncIterator

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, query_values, read_body
from compozy.daemon.peers import peer_of
from compozy.daemon.routes.mcp_channel import Names, channel_routes, connection_of
from compozy.daemon.routes.tools import with_tool_errors
from compozy.daemon.routing import Route
from compozy.daemon.sse import EventStreamResponse, frame
from compozy.model.errors import InvalidRequest, Unavailable
from compozy.model.tool import ToolDescriptor, ToolResult
from compozy.runtime.services import Services
from compozy.runtime.tools.hosted import HostedTools

_BASE = "/api/internal/hosted-mcp"
_ENCODE = msgspec.json.Encoder().encode


class Bind(Body, frozen=True, kw_only=True):
    session_id: str
    bind_nonce: str


class Call(Body, frozen=True, kw_only=True):
    bind_id: str
    tool_name: str
    tool_call_id: str = ""
    correlation_id: str = ""
    input: object = None


def _require_enabled(app: Services) -> None:
    if not (app.config.tools.enabled and app.config.tools.hosted_mcp_enabled):
        raise Unavailable("hosted MCP is off: set [tools] hosted_mcp_enabled = true", code="hosted_mcp_disabled")


def _door(app: Services) -> HostedTools:
    return app.hosted


async def bind(app: Services, request: Request) -> Response:
    """Use a launch's nonce up."""
    _require_enabled(app)
    body = await read_body(request, Bind)
    if not body.session_id or not body.bind_nonce:
        raise InvalidRequest("session_id and bind_nonce are required")
    binding, projection = await app.hosted.bind(body.session_id, body.bind_nonce, peer_of(request))
    return json_response(
        {"bind_id": binding.id, "scope": "session", "tools": projection.tools, "digest": projection.digest}
    )


async def get_projection(app: Services, request: Request) -> Response:
    """Answer what the session may call now."""
    binding = connection_of(app.hosted, request, query_values(request).get("bind_id", ""))
    projection = await app.hosted.project(binding)
    return json_response({"tools": projection.tools, "digest": projection.digest})


async def stream_projection(app: Services, request: Request) -> Response:
    """Stream the projection: now, and whenever it has changed."""
    binding = connection_of(app.hosted, request, query_values(request).get("bind_id", ""))

    async def frames() -> AsyncIterator[bytes]:
        async for projection in app.hosted.projections(binding):
            yield frame(_ENCODE({"tools": projection.tools, "digest": projection.digest}), event="projection")

    return EventStreamResponse(frames())


@with_tool_errors
async def call_tool(app: Services, request: Request) -> Response:
    """Run one call of the bound session."""
    body = await read_body(request, Call)
    binding = connection_of(app.hosted, request, body.bind_id)
    done = await app.hosted.call(
        binding,
        body.tool_name,
        body.input,
        tool_call_id=body.tool_call_id,
        correlation_id=body.correlation_id,
    )
    return json_response({"result": done.result})


_PROJECTION = {"tools": tuple[ToolDescriptor, ...], "digest": str}
ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=f"{_BASE}/bind",
        handler=bind,
        name="bindHostedMcp",
        summary="Bind a session's agent to its tools with the nonce of its launch",
        transport="unix",
        kind="write",
        body=Bind,
        answer={"bind_id": str, "scope": str, **_PROJECTION},
    ),
    Route(
        method="GET",
        path=f"{_BASE}/projection",
        handler=get_projection,
        name="getHostedMcpProjection",
        summary="The tools the bound session may call now",
        transport="unix",
        answer=_PROJECTION,
        query=("bind_id",),
    ),
    Route(
        method="GET",
        path=f"{_BASE}/projection/stream",
        handler=stream_projection,
        name="streamHostedMcpProjection",
        summary="The same as a stream: an event `projection` whenever it has changed",
        transport="unix",
        streams=True,
        query=("bind_id",),
    ),
    Route(
        method="POST",
        path=f"{_BASE}/tools/call",
        handler=call_tool,
        tool_errors=True,
        name="callHostedMcpTool",
        summary="Call a tool as the bound session",
        transport="unix",
        kind="write",
        body=Call,
        answer={"result": ToolResult},
    ),
    *channel_routes(
        _BASE,
        _door,
        Names(feed="feedHostedMcpMessage", stream="streamHostedMcpMessages", release="releaseHostedMcp"),
    ),
)
