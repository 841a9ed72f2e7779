"""The product's application and server over routes of a test, on a Unix socket and a TCP port of this process.

For what no route of the product shows by itself: streams, faults in handlers, strict bodies. Blocking clients run in
a thread (`anyio.to_thread`) while the server runs in the test's loop.
"""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from compozy.client import DaemonClient, connect_tcp
from compozy.client.transport import UnixAddress
from compozy.config.redaction import Redactor
from compozy.daemon.application import Application
from compozy.daemon.guards import TcpGuard
from compozy.daemon.listeners import bind_tcp, bind_unix
from compozy.daemon.routing import Route
from compozy.daemon.server import HttpServer
from compozy.runtime.services import Services


class Served:
    """A running application."""

    def __init__(self, path: Path, port: int, stop: asyncio.Event, status: SimpleNamespace) -> None:
        self.path = path
        self.port = port
        self.stop = stop
        self.status = status

    def unix(self) -> DaemonClient:
        return DaemonClient(UnixAddress(self.path))

    def tcp(self) -> DaemonClient:
        return connect_tcp("localhost", self.port)


@contextlib.asynccontextmanager
async def serving(routes: Sequence[Route]) -> AsyncIterator[Served]:
    """Serve routes; at the end streams are told to stop and everything is closed within a bound."""
    status = SimpleNamespace(is_draining=False)
    services = cast(Services, SimpleNamespace(status=status))
    stop = asyncio.Event()
    server = HttpServer()
    with tempfile.TemporaryDirectory() as folder:
        tcp, unix = bind_tcp("localhost", 0), bind_unix(Path(folder) / "s")
        port = tcp.getsockname()[1]
        app = Application(services, routes, guard=TcpGuard("localhost", port), stop=stop, redact=Redactor().text)
        await server.listen(tcp, app.on("tcp"), "tcp")
        await server.listen(unix, app.on("unix"), "unix")
        try:
            yield Served(Path(folder) / "s", port, stop, status)
        finally:
            stop.set()
            server.close_listeners()
            await server.drain(10)
            tcp.close()
            unix.close()
