"""The fleet as an MCP server for clients outside: `compozy mcp serve` and `/mcp` (issue 7 item 1).

Whoever is connected acts as the person at this machine, with the tools of `READING` and `CHANGING` and no others:
what only people decide (permission questions, trust, settings, secrets, the daemon's life) is not among them. The
permission modes of the sessions that are started hold as always. The MCP SDK is loaded when it is first needed.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from compozy.model.errors import Forbidden, Unavailable
from compozy.model.tool import ToolDescriptor, ToolInvocation, ToolResult
from compozy.runtime.mcp.sdk import load
from compozy.runtime.tools.callers import Caller
from compozy.runtime.tools.calls import Invocation
from compozy.runtime.tools.identities import Identities
from compozy.runtime.tools.mcp_side import Refusal, answered, end, new_server, run
from compozy.runtime.tools.service import Tools
from compozy.tools.hosted.launches import Peer
from compozy.tools.ids import native_id

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from compozy.tools.hosted.server import HostedServer

Asgi = Callable[..., Awaitable[None]]
"""What answers an HTTP request: scope, receive, send."""
NAME = "compozy"
INSTRUCTIONS = (
    "The agents of the compozy runtime on this machine. Choose one with compozy__agent_select or "
    "compozy__agent_list, start it with compozy__session_create, give it work with compozy__session_prompt, wait "
    "with compozy__session_wait and read what it said with compozy__session_history. Questions for permission are "
    "answered by a person, not here."
)
READING = tuple(
    native_id(name)
    for name in (
        "agent_list",
        "agent_info",
        "agent_select",
        "workspace_list",
        "workspace_info",
        "session_list",
        "session_status",
        "session_history",
        "session_events",
        "session_inputs_list",
        "session_wait",
    )
)
CHANGING = tuple(
    native_id(name) for name in ("session_create", "session_prompt", "session_prompt_cancel", "session_stop")
)
# Clients at a time; each costs a few hundred kilobytes.
MOST_CONNECTIONS = 100


@dataclass(kw_only=True)
class Connection:
    """One client over standard input and output; it belongs to the process that opened it."""

    id: str
    pid: int
    server: "HostedServer"
    serving: asyncio.Task[None]


class OutsideTools:
    """The MCP connections from outside of one daemon."""

    def __init__(self, tools: Tools, identities: Identities) -> None:
        self._tools = tools
        self._identities = identities
        self._connections: dict[str, Connection] = {}
        self._manager: StreamableHTTPSessionManager | None = None
        self._managing: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._closing = asyncio.Event()

    async def close(self) -> None:
        """End every connection."""
        self._closing.set()
        for connection in list(self._connections.values()):
            await self.release(connection)
        if self._managing is not None:
            self._manager = None
            await asyncio.wait((self._managing,), timeout=5)

    # --- over standard input and output

    async def open(self, peer: Peer | None, workspace: str, *, read_only: bool) -> Connection:
        """Open a connection for a process; tools look into `workspace` where no other is named.

        Raises:
            NotFound: there is no such workspace.
            Forbidden: the process is not known.
            Unavailable: too many are connected, or the daemon ends.
        """
        if peer is None:
            raise Forbidden(
                "an MCP client comes over the daemon's socket: use `compozy mcp serve`", code="mcp_serve_refused"
            )
        if self._closing.is_set() or len(self._connections) >= MOST_CONNECTIONS:
            raise Unavailable("no MCP client can connect now: try again later", code="mcp_serve_unavailable")
        server = await self._server(workspace, read_only=read_only)
        serving = run(server, "mcp-serve")
        connection = Connection(id=secrets.token_urlsafe(32), pid=peer.pid, server=server, serving=serving)
        self._connections[connection.id] = connection
        return connection

    def connection(self, bind_id: str, peer: Peer | None) -> Connection:
        """Return a connection to the process that opened it.

        Raises:
            Forbidden: unknown, ended, or another process.
        """
        found = self._connections.get(bind_id)
        if found is None or peer is None or peer.pid != found.pid:
            raise Forbidden("this MCP connection is not yours, or has ended: open another", code="mcp_serve_unknown")
        return found

    async def feed(self, connection: Connection, message: bytes) -> None:
        """Hand one message of the client to the server."""
        await connection.server.feed(message)

    async def messages(self, connection: Connection) -> AsyncIterator[bytes]:
        """Yield the server's messages; when the reader goes, so does the connection."""
        try:
            async for message in connection.server.messages():
                yield message
        finally:
            await self.release(connection)

    async def release(self, connection: Connection) -> None:
        """End a connection."""
        self._connections.pop(connection.id, None)
        await end(connection.server, connection.serving)

    # --- over streamable HTTP

    async def http(self) -> Asgi:
        """Return what answers requests of streamable HTTP."""
        async with self._starting:
            if self._closing.is_set():
                raise Unavailable("the daemon ends: start it again", code="mcp_serve_unavailable")
            if self._manager is None:
                server = await self._server("", read_only=False)
                module = await load("mcp.server.streamable_http_manager")
                self._manager = module.StreamableHTTPSessionManager(
                    server.lowlevel, session_idle_timeout=1800, max_sessions=MOST_CONNECTIONS
                )
                ready = asyncio.Event()
                self._managing = asyncio.create_task(self._manage(self._manager, ready), name="mcp-http")
                await ready.wait()
            return cast("Asgi", self._manager.handle_request)

    async def _manage(self, manager: "StreamableHTTPSessionManager", ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._closing.wait()

    # --- inside

    async def _server(self, workspace: str, *, read_only: bool) -> "HostedServer":
        caller = await self._caller(workspace)
        find = _for_workspace(self._caller, caller.workspace_id)
        offered = frozenset(READING if read_only else (*READING, *CHANGING))
        return await new_server(
            lambda refusal: _Desk(self._tools, find, offered, refusal), name=NAME, instructions=INSTRUCTIONS
        )

    async def _caller(self, workspace: str) -> Caller:
        caller = await self._identities.caller(workspace=workspace)
        # The person who connects a client has said yes to what is offered; nobody could be asked again.
        return replace(caller, agent_permissions="approve-all")


def _for_workspace(find: Callable[[str], Awaitable[Caller]], workspace: str) -> Callable[[], Awaitable[Caller]]:
    """Return what finds the caller anew for each call: settings may have changed."""

    async def found() -> Caller:
        return await find(workspace)

    return found


class _Desk:
    """What the MCP server of a client outside calls."""

    def __init__(
        self,
        tools: Tools,
        caller: Callable[[], Awaitable[Caller]],
        offered: frozenset[str],
        refusal: Refusal,
    ) -> None:
        self._tools = tools
        self._caller = caller
        self._offered = offered
        self._refusal = refusal

    async def list_tools(self) -> Sequence[ToolDescriptor]:
        views = await self._tools.callable_views(await self._caller())
        return [view.descriptor for view in views if view.descriptor.tool_id in self._offered]

    async def call_tool(self, name: str, arguments: dict[str, object]) -> ToolResult:
        if name not in self._offered:
            raise self._refusal(f"tool {name[:200]!r} is not offered here; list the tools to see which are")
        return await answered(self._invoke(Invocation(tool_id=name, arguments=arguments)), self._refusal)

    async def _invoke(self, wanted: Invocation) -> ToolInvocation:
        return await self._tools.invoke(await self._caller(), wanted)
