"""The fleet for MCP clients outside: `/mcp` speaks streamable HTTP; the others are behind `compozy mcp serve`.

`/mcp` is guarded like everything on the listener (Host, Origin, loopback: decisions D16). The internal ones exist on
the Unix socket only, because the other side is recognised by its process.
"""

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from compozy.daemon.messages import Body, empty_response, json_response, query_values, read_body
from compozy.daemon.peers import peer_of
from compozy.daemon.routing import Route
from compozy.daemon.sse import STOP_KEY, EventStreamResponse, frame
from compozy.model.errors import InvalidRequest
from compozy.runtime.services import Services
from compozy.runtime.tools.outside import Connection

_BASE = "/api/internal/mcp-serve"
PATH = "/mcp"


class Open(Body, frozen=True, kw_only=True):
    workspace: str = ""
    read_only: bool = False


class Message(Body, frozen=True, kw_only=True):
    bind_id: str
    message: str


class Release(Body, frozen=True, kw_only=True):
    bind_id: str


def _connection(app: Services, request: Request, bind_id: str) -> Connection:
    if not bind_id:
        raise InvalidRequest("bind_id is required: open a connection first")
    return app.outside.connection(bind_id, peer_of(request))


async def open_connection(app: Services, request: Request) -> Response:
    """Open a connection for the calling process."""
    body = await read_body(request, Open)
    opened = await app.outside.open(peer_of(request), body.workspace, read_only=body.read_only)
    return json_response({"bind_id": opened.id})


async def feed_message(app: Services, request: Request) -> Response:
    """Take one message of the client."""
    body = await read_body(request, Message)
    await _connection(app, request, body.bind_id).server.feed(body.message.encode())
    return empty_response()


async def stream_messages(app: Services, request: Request) -> Response:
    """Stream the server's messages; the connection ends with the stream."""
    connection = _connection(app, request, query_values(request).get("bind_id", ""))

    async def frames() -> AsyncIterator[bytes]:
        async for message in app.outside.messages(connection):
            yield frame(message, event="message")

    return EventStreamResponse(frames())


async def release(app: Services, request: Request) -> Response:
    """End a connection."""
    body = await read_body(request, Release)
    await app.outside.release(_connection(app, request, body.bind_id))
    return empty_response()


class _McpResponse(Response):
    """The SDK's own answer to a request; ends with the daemon."""

    def __init__(self, serve: ASGIApp) -> None:
        super().__init__()
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ended = asyncio.ensure_future(scope[STOP_KEY].wait())
        served = asyncio.ensure_future(_run(self._serve, scope, receive, send))
        try:
            await asyncio.wait((ended, served), return_when=asyncio.FIRST_COMPLETED)
            if served.done():
                served.result()
        finally:
            for task in (ended, served):
                task.cancel()
            await asyncio.wait((ended, served))


async def _run(serve: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await serve(scope, receive, send)


async def speak_mcp(app: Services, request: Request) -> Response:
    """Hand the request to the MCP server."""
    return _McpResponse(await app.outside.http())


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=PATH,
        handler=speak_mcp,
        name="postMcp",
        summary="MCP over streamable HTTP: one message of a client (see docs/mcp-serve.md)",
        transport="tcp",
        kind="privileged",
        streams=True,
    ),
    Route(
        method="GET",
        path=PATH,
        handler=speak_mcp,
        name="streamMcp",
        summary="MCP over streamable HTTP: the messages that the server begins",
        transport="tcp",
        kind="privileged",
        streams=True,
    ),
    Route(
        method="DELETE",
        path=PATH,
        handler=speak_mcp,
        name="endMcp",
        summary="MCP over streamable HTTP: the end of a client's connection",
        transport="tcp",
        kind="privileged",
        streams=True,
    ),
    Route(
        method="POST",
        path=f"{_BASE}/open",
        handler=open_connection,
        name="openMcpServe",
        summary="Open an MCP connection for the calling process",
        transport="unix",
        kind="write",
        body=Open,
        answer={"bind_id": str},
    ),
    Route(
        method="POST",
        path=f"{_BASE}/messages",
        handler=feed_message,
        name="feedMcpServe",
        summary="Hand over one MCP message of the client",
        transport="unix",
        kind="write",
        body=Message,
        status=204,
    ),
    Route(
        method="GET",
        path=f"{_BASE}/messages/stream",
        handler=stream_messages,
        name="streamMcpServe",
        summary="The MCP messages of the server, as events `message`",
        transport="unix",
        streams=True,
        query=("bind_id",),
    ),
    Route(
        method="POST",
        path=f"{_BASE}/release",
        handler=release,
        name="releaseMcpServe",
        summary="End the connection",
        transport="unix",
        kind="write",
        body=Release,
        status=204,
    ),
)
