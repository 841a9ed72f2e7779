"""What our MCP servers share, whoever is on the other side: loading the SDK, running, answering a call.

The SDK takes a second to load, once in a daemon's life; nothing here imports it.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

import msgspec

from compozy import __version__
from compozy.model.errors import CompozyError
from compozy.model.tool import ToolInvocation, ToolResult
from compozy.runtime.mcp.sdk import load
from compozy.runtime.tools.faults import ToolFault

if TYPE_CHECKING:
    from compozy.tools.hosted.server import Desk, HostedServer

log = logging.getLogger(__name__)
Refusal = Callable[[str], Exception]
"""Makes the exception that the server answers as a call that did not happen."""


async def new_server(desk: Callable[[Refusal], "Desk"], *, name: str = "", instructions: str = "") -> "HostedServer":
    """Return a server, not yet running, in front of the desk that `desk` makes."""
    module = await load("compozy.tools.hosted.server")
    named = {key: value for key, value in (("name", name), ("instructions", instructions)) if value}
    made = module.HostedServer(desk(cast("Refusal", module.CallRefused)), version=__version__, **named)
    return cast("HostedServer", made)


def run(server: "HostedServer", name: str) -> asyncio.Task[None]:
    """Run a server until it is closed; its faults are logged."""
    return asyncio.create_task(_run(server), name=name)


async def _run(server: "HostedServer") -> None:
    try:
        await server.run()
    except Exception:
        # Supervisor: one connection's fault must not reach the daemon.
        log.exception("an MCP server of ours failed")
    finally:
        server.close()


async def end(server: "HostedServer", serving: asyncio.Task[None]) -> None:
    """End a server that runs, and wait until it has."""
    server.close()
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wait((serving,), timeout=5)


async def answered(call: Awaitable[ToolInvocation], refusal: Refusal) -> ToolResult:
    """Return a call's result; what refused or failed is told with the error as tools tell it."""
    try:
        return (await call).result
    except ToolFault as fault:
        error = msgspec.to_builtins(fault.tool_error)
        raise refusal(f"{fault.message}\n{msgspec.json.encode({'error': error}).decode()}") from fault
    except CompozyError as error:
        raise refusal(error.message) from error
