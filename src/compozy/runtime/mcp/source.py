"""The configured servers of all scopes as one source of tools (contract §5.6, §6.1).

One instance for each definition in each workspace. A session's question starts what it is given, an operator's only
where it must be known. What nobody uses any more is ended after a while.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Mapping

from compozy.model.errors import CompozyError
from compozy.model.mcp_runtime import McpServerStatus, McpStatus
from compozy.model.tool import ReasonCode
from compozy.runtime.mcp.server import Backing, McpServerRun
from compozy.runtime.mcp.wanted import WantedServer, Wishes
from compozy.tools.ids import mcp_prefix
from compozy.tools.schema import problem_with
from compozy.tools.source import ToolCall, ToolEntry, ToolFailed, ToolListing, ToolOutput, ToolScope

_KEPT = 64
_NOTHING = ToolListing(entries=())


class McpSource:
    """All configured servers of one daemon. Implements `ToolSource`."""

    name = "mcp"

    def __init__(self, wishes: Wishes, backing: Backing) -> None:
        self._wishes, self._backing, self._bounds = wishes, backing, backing.bounds
        self._servers: dict[str, McpServerRun] = {}
        self._listeners: list[Callable[[], None]] = []
        self._kept: OrderedDict[tuple[tuple[str, int], ...], ToolListing] = OrderedDict()
        self._reaper: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closed = False

    # --- ToolSource

    async def list(self, scope: ToolScope, *, settle: bool = False) -> ToolListing:
        """Return the tools of the servers a scope is given."""
        try:
            wanted = await self._wishes.of(scope)
        except CompozyError as error:
            return ToolListing(entries=(), notes=(f"MCP servers: {error.message}",))
        if not wanted:
            return _NOTHING
        if (scope.session_id or settle) and not self._is_closed:
            servers = [self._server(one) for one in wanted]
            for server in servers:
                server.want()
            if settle:
                await asyncio.gather(*(server.settled(self._bounds.settle) for server in servers))
        return self._listing(wanted)

    def check(self, entry: ToolEntry, arguments: Mapping[str, object]) -> str:
        """Say what is wrong with the arguments."""
        return problem_with(entry.descriptor.input_schema, arguments)

    async def call(self, entry: ToolEntry, call: ToolCall) -> ToolOutput:
        """Run one call on the scope's own instance."""
        owner = entry.descriptor.source.owner
        try:
            wanted = next((one for one in await self._wishes.of(call.scope) if one.server.name == owner), None)
        except CompozyError as error:
            raise ToolFailed(error.message, code="tool_unavailable") from error
        if wanted is None or self._is_closed:
            raise ToolFailed(f"MCP server {owner!r} is not given here any more", code="tool_unavailable")
        return await self._server(wanted).call(entry, call.arguments, min(call.timeout, self._bounds.call))

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Tell `listener` about changes."""
        self._listeners.append(listener)

        def end() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return end

    # --- for the daemon

    async def start(self) -> None:
        """End what an earlier daemon left running."""
        await asyncio.to_thread(self._backing.journal.sweep, term_grace=0.25)

    def session_ended(self, session_id: str) -> None:
        """The session's agent has ended: its servers may go when nobody else uses them."""
        self._wishes.forget(session_id)

    def status(self) -> McpStatus:
        """Return every server that is or was used."""
        users = self._users()
        rows: list[McpServerStatus] = [server.status(users.get(key, 0)) for key, server in self._servers.items()]
        return McpStatus(servers=tuple(sorted(rows, key=lambda row: (row.name, row.workspace_id))))

    def look_again(self, name: str, path: str) -> None:
        """A login at a server, defined in that file, came or went."""
        for server in self._servers.values():
            if server.name == name and server.wanted.defined_in == path:
                server.look_again()

    async def close(self) -> None:
        """End every server."""
        self._is_closed = True
        if self._reaper is not None:
            self._reaper.cancel()
        await asyncio.gather(*self._ending, *(server.close() for server in self._servers.values()))

    # --- inside

    def _server(self, wanted: WantedServer) -> McpServerRun:
        found = self._servers.get(wanted.key)
        if found is None:
            found = self._servers[wanted.key] = McpServerRun(wanted, self._backing, self._changed)
        if self._reaper is None:
            self._reaper = asyncio.create_task(self._end_unused(), name="mcp-servers-unused")
        return found

    def _listing(self, wanted: tuple[WantedServer, ...]) -> ToolListing:
        key = tuple((one.key, self._servers[one.key].version if one.key in self._servers else -1) for one in wanted)
        known = self._kept.get(key)
        if known is None:
            known = self._kept[key] = self._make(wanted)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return known

    def _make(self, wanted: tuple[WantedServer, ...]) -> ToolListing:
        entries: list[ToolEntry] = []
        notes: list[str] = []
        pending: dict[str, tuple[ReasonCode, ...]] = {}
        for one in wanted:
            server = self._servers.get(one.key)
            if server is None or not server.is_known:
                pending[mcp_prefix(one.server.name)] = server.reasons if server is not None else ()
                continue
            entries += server.entries
            notes += server.notes
        return ToolListing(entries=tuple(entries), pending=pending, notes=tuple(notes))

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    def _users(self) -> dict[str, int]:
        users: dict[str, int] = {}
        for wanted in self._wishes.by_session.values():
            for one in wanted:
                users[one.key] = users.get(one.key, 0) + 1
        return users

    async def _end_unused(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._bounds.look)
            users = self._users()
            unused = [
                key
                for key, server in self._servers.items()
                if key not in users
                and server.state != "starting"
                and loop.time() - server.last_used > self._bounds.idle
            ]
            for key in unused:
                # On its own: whoever ends the daemon meanwhile waits for it too.
                ending = asyncio.create_task(self._servers.pop(key).close(), name="mcp-server-ends")
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)
            if unused:
                self._changed()
