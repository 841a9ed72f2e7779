"""Serving HTTP on sockets that are already bound: uvicorn's protocol on our own listeners (contract §1.3).

Two listeners, one application, no server object of uvicorn: that would install signal handlers and wait for open
streams without end. Stopping has three steps here: no new connections, let requests finish, cut what is left.
"""

import asyncio
import json
import logging
import socket
from typing import Literal

from starlette.types import ASGIApp

from compozy import __version__
from compozy.daemon.peers import PEER_KEY, read_peer
from compozy.daemon.uvicorn_parts import (
    CLOSE_HEADER,
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
    ServerState,
    UvicornConfig,
)
from compozy.tools.hosted.launches import Peer

_log = logging.getLogger("compozy.http")
# Idle connections of browsers and clients stay open this long.
KEEP_ALIVE_SECONDS = 75
# Request line and headers together; the parser itself keeps any amount. More than one read of the loop (256 KiB).
MAX_HEAD_BYTES = 512 * 1024
# Nobody needs longer for the first byte or for a head; a half request must not hold a descriptor for ever.
HEAD_SECONDS = 60.0
# After a refusal what the client still sends is thrown away, so that it can read the answer before the end.
DISCARD_SECONDS = 5.0
DISCARD_BYTES = 64 << 20
_POLL_SECONDS = 0.02


class _Protocol(HttpToolsProtocol):
    """uvicorn's protocol, with our envelope for what is no HTTP, and with bounds on heads and trailers."""

    _is_in_head = True
    _unanswered_bytes = 0
    """Bytes since the last piece of a body or the start of a message: what the parser may have to keep."""
    _head_timer: asyncio.TimerHandle | None = None
    _is_refused = False
    _peer: Peer | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._peer = read_peer(transport.get_extra_info("socket"))
        self._bound_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unbound_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unanswered_bytes += len(data)
        if self._is_refused:
            if self._unanswered_bytes > DISCARD_BYTES:
                self.transport.abort()
            return
        super().data_received(data)
        if self._unanswered_bytes > MAX_HEAD_BYTES:
            self._refuse(431, f"the request's head exceeds {MAX_HEAD_BYTES} bytes; send less", "head_too_large")
        elif self._is_in_head and self._head_timer is None and not self.transport.is_closing():
            self._bound_head()

    def on_message_begin(self) -> None:
        self._is_in_head, self._unanswered_bytes = True, 0
        super().on_message_begin()
        self.scope[PEER_KEY] = self._peer  # type: ignore[literal-required]

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._unbound_head()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unanswered_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unanswered_bytes = 0
        super().on_message_complete()

    def _bound_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _unbound_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        self._refuse(
            408, f"the request was not complete after {HEAD_SECONDS:.0f} s; send it again", "request_timeout"
        )

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "this is not a valid HTTP request; send HTTP/1.1", "invalid_request")

    def _refuse(self, status: int, message: str, code: str) -> None:
        if self._is_refused or self.transport.is_closing():
            return
        # None before the first request, whatever uvicorn's annotation says.
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            # An answer is on its way: a second one between its bytes would be read as a part of it.
            self.transport.abort()
            return
        body = json.dumps({"error": message, "code": code}).encode()
        headers = [
            *self.server_state.default_headers,
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            CLOSE_HEADER,
        ]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(STATUS_LINE[status] + lines + b"\r\n" + body)
        self.transport.write_eof()
        self._is_refused = True
        self._unbound_head()
        self._head_timer = self.loop.call_later(DISCARD_SECONDS, self.transport.abort)


class HttpServer:
    """Both listeners of one daemon."""

    def __init__(self) -> None:
        self._state = ServerState()
        self._state.default_headers = [(b"x-compozy-version", __version__.encode())]
        self._servers: list[asyncio.Server] = []

    async def listen(self, sock: socket.socket, app: ASGIApp, kind: Literal["tcp", "unix"]) -> None:
        """Start serving `app` on a bound socket."""
        config = UvicornConfig(
            app,
            http=_Protocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        config.load()

        def protocol() -> asyncio.Protocol:
            return _Protocol(config=config, server_state=self._state, app_state={})

        loop = asyncio.get_running_loop()
        if kind == "tcp":
            server = await loop.create_server(protocol, sock=sock)
        else:
            server = await loop.create_unix_server(protocol, sock=sock)
        self._servers.append(server)

    def close_listeners(self) -> None:
        """Accept nobody any more; open connections stay until their request is done."""
        for server in self._servers:
            server.close()
        for connection in list(self._state.connections):
            connection.shutdown()

    async def drain(self, seconds: float) -> None:
        """Wait until every request is answered; after `seconds` cut the connections that are left."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        # uvicorn's sets have no event to wait for.
        while (self._state.tasks or self._state.connections) and loop.time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        left = list(self._state.connections)
        for connection in left:
            connection.transport.abort()
        if left:
            _log.warning("cut %d connections that did not end", len(left))
            # One turn of the loop, so that the requests see it.
            await asyncio.sleep(_POLL_SECONDS)
