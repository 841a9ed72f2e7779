"""The three routes that carry one MCP connection over the Unix socket: messages in, messages out, the end.

Both doors of ours have them: `hosted_mcp.py` for the agents of sessions, `mcp_serve.py` for clients outside. How a
connection begins differs, and stands there; that it belongs to one process is the door's to check.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, empty_response, query_values, read_body
from compozy.daemon.peers import peer_of
from compozy.daemon.routing import Route
from compozy.daemon.sse import EventStreamResponse, frame
from compozy.model.errors import InvalidRequest
from compozy.runtime.services import Services
from compozy.tools.hosted.launches import Peer

_Connection = TypeVar("_Connection")


class Message(Body, frozen=True, kw_only=True):
    bind_id: str
    message: str


class Release(Body, frozen=True, kw_only=True):
    bind_id: str


class Door(Protocol[_Connection]):
    """What a connection is asked of."""

    def connection(self, bind_id: str, peer: Peer | None) -> _Connection:
        """Return a connection to the process that made it."""
        ...

    async def feed(self, connection: _Connection, message: bytes) -> None:
        """Hand the server one message of the client."""
        ...

    def messages(self, connection: _Connection) -> AsyncIterator[bytes]:
        """Yield the server's messages; the connection ends with the reading."""
        ...

    async def release(self, connection: _Connection) -> None:
        """End the connection."""
        ...


@dataclass(frozen=True, kw_only=True)
class Names:
    """What the three operations are called."""

    feed: str
    stream: str
    release: str


def connection_of(door: Door[_Connection], request: Request, bind_id: str) -> _Connection:
    """Return the connection that a request names, if it is the calling process's own."""
    if not bind_id:
        raise InvalidRequest("bind_id is required: open a connection first")
    return door.connection(bind_id, peer_of(request))


def channel_routes(base: str, door: Callable[[Services], Door[_Connection]], names: Names) -> tuple[Route, ...]:
    """Return the three routes below `base`."""

    async def feed(app: Services, request: Request) -> Response:
        body = await read_body(request, Message)
        connection = connection_of(door(app), request, body.bind_id)
        await door(app).feed(connection, body.message.encode())
        return empty_response()

    async def stream(app: Services, request: Request) -> Response:
        connection = connection_of(door(app), request, query_values(request).get("bind_id", ""))

        async def frames() -> AsyncIterator[bytes]:
            async for message in door(app).messages(connection):
                yield frame(message, event="message")

        return EventStreamResponse(frames())

    async def release(app: Services, request: Request) -> Response:
        body = await read_body(request, Release)
        await door(app).release(connection_of(door(app), request, body.bind_id))
        return empty_response()

    return (
        Route(
            method="POST",
            path=f"{base}/messages",
            handler=feed,
            name=names.feed,
            summary="Hand the server one MCP message of the client",
            transport="unix",
            kind="write",
            body=Message,
            status=204,
        ),
        Route(
            method="GET",
            path=f"{base}/messages/stream",
            handler=stream,
            name=names.stream,
            summary="The MCP messages of the server, as events `message`",
            transport="unix",
            streams=True,
            query=("bind_id",),
        ),
        Route(
            method="POST",
            path=f"{base}/release",
            handler=release,
            name=names.release,
            summary="End the connection",
            transport="unix",
            kind="write",
            body=Release,
            status=204,
        ),
    )
