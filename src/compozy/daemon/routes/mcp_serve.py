"""The fleet for MCP clients outside: `/mcp` speaks streamable HTTP; the others are behind `compozy mcp serve`.

`/mcp` is guarded like everything on the listener (Host, Origin, loopback: decisions D16). The internal ones exist on
the Unix socket only, because the other side is recognised by its process.
"""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.peers import peer_of
from compozy.daemon.routes.mcp_channel import Names, channel_routes
from compozy.daemon.routing import Route
from compozy.daemon.sse import STOP_KEY
from compozy.runtime.services import Services
from compozy.runtime.tools.outside import OutsideTools

_BASE = "/api/internal/mcp-serve"
PATH = "/mcp"


class Open(Body, frozen=True, kw_only=True):
    workspace: str = ""
    read_only: bool = False


def _door(app: Services) -> OutsideTools:
    return app.outside


async def open_connection(app: Services, request: Request) -> Response:
    """Open a connection for the calling process."""
    body = await read_body(request, Open)
    opened = await app.outside.open(peer_of(request), body.workspace, read_only=body.read_only)
    return json_response({"bind_id": opened.id})


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
    *channel_routes(_BASE, _door, Names(feed="feedMcpServe", stream="streamMcpServe", release="releaseMcpServe")),
)
