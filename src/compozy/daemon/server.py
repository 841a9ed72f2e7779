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
from compozy.daemon.uvicorn_parts import CLOSE_HEADER, STATUS_LINE, HttpToolsProtocol, ServerState, UvicornConfig

_log = logging.getLogger("compozy.http")
# Idle connections of browsers and clients stay open this long.
KEEP_ALIVE_SECONDS = 75
_POLL_SECONDS = 0.02


class _Protocol(HttpToolsProtocol):
    """uvicorn's protocol, with our envelope for what is no HTTP."""

    def send_400_response(self, msg: str) -> None:
        body = json.dumps(
            {"error": "this is not a valid HTTP request; send HTTP/1.1", "code": "invalid_request"}
        ).encode()
        headers = [
            *self.server_state.default_headers,
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            CLOSE_HEADER,
        ]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(STATUS_LINE[400] + lines + b"\r\n" + body)
        self.transport.close()


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
