"""One configured server: started when it is wanted, supervised, started again with growing pauses, ended with us.

Imports nothing of the SDK: the connection is loaded with the first start. All that can go wrong ends in `last_error`
and a state; nothing is raised past this module but `ToolFailed`.
"""

import asyncio
import contextlib
import logging
import secrets as randomness
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING

from compozy.acp.child import Child, start
from compozy.acp.contract import AgentStartError, LaunchSpec
from compozy.config.environment import server_environment
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.model import times
from compozy.model.errors import CompozyError
from compozy.model.mcp import ServerStart
from compozy.model.mcp_runtime import McpRunState, McpServerStatus
from compozy.model.tool import ReasonCode
from compozy.runtime.mcp.bounds import McpBounds
from compozy.runtime.mcp.entries import Offered, offered
from compozy.runtime.mcp.journal import ProcessJournal
from compozy.runtime.mcp.oauth.kept import KeptLogins
from compozy.runtime.mcp.sdk import load
from compozy.runtime.mcp.wanted import WantedServer
from compozy.runtime.mcp_servers import start_of
from compozy.tools.source import ToolEntry, ToolFailed, ToolOutput

if TYPE_CHECKING:
    from compozy.runtime.mcp.connection import Connection, Reach, Signals

log = logging.getLogger(__name__)
_SHOWN = 600
_EXIT_GRACE = 0.5
_NEEDED = 2


@dataclass(frozen=True, kw_only=True)
class Backing:
    """What every server is started with."""

    secrets: Secrets
    redactor: Redactor
    journal: ProcessJournal
    logins: KeptLogins
    bounds: McpBounds


class _Ended(Exception):
    """The connection is over; the text says why."""


class McpServerRun:
    """One instance."""

    def __init__(self, wanted: WantedServer, backing: Backing, on_change: Callable[[], None]) -> None:
        self.wanted = wanted
        self._backing, self._bounds, self._on_change = backing, backing.bounds, on_change
        self.state: McpRunState = "idle"
        self.version = 0
        """Changes whenever what is offered may have changed."""
        self.last_used = asyncio.get_running_loop().time()
        self._offered = Offered()
        self._error = ""
        self._starts = self._failures = 0
        self._started_at = ""
        self._ready_since = self._next_try = 0.0
        self._connection: Connection | None = None
        self._child: Child | None = None
        self._reach: Reach | None = None
        self._task: asyncio.Task[None] | None = None
        self._poke, self._moved = asyncio.Event(), asyncio.Event()
        self._over, self._tools_changed = asyncio.Event(), asyncio.Event()
        self._why = self._died = ""

    # --- for those who ask

    @property
    def name(self) -> str:
        return self.wanted.server.name

    @property
    def reasons(self) -> tuple[ReasonCode, ...]:
        """Why its tools cannot be called now; empty while it is ready or may soon be."""
        if self.state == "needs_login":
            return ("mcp_auth_required",)
        return ("mcp_unreachable",) if self.state in ("backoff", "failed") else ()

    @property
    def is_known(self) -> bool:
        """Whether it has ever said what it offers."""
        return bool(self._starts and (self._offered.entries or self._offered.notes or self.state == "ready"))

    @property
    def entries(self) -> tuple[ToolEntry, ...]:
        """Its tools, as it named them last; with the reason while they cannot be called."""
        if self.state == "ready":
            return self._offered.entries
        reasons = self.reasons or ("mcp_unreachable",)
        return tuple(replace(entry, problems=(*entry.problems, *reasons)) for entry in self._offered.entries)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(f"MCP server {self.name!r}: {note}" for note in self._offered.notes)

    def status(self, sessions: int) -> McpServerStatus:
        """Return what a person may know of it."""
        now = asyncio.get_running_loop().time()
        is_stable = self.state == "ready" and now - self._ready_since > self._bounds.stable
        return McpServerStatus(
            name=self.name,
            workspace_id=self.wanted.workspace_id,
            transport="http" if self.wanted.is_remote else "stdio",
            state=self.state,
            tools=tuple(entry.descriptor.tool_id for entry in self.entries if not entry.problems),
            restarts=max(0, self._starts - 1),
            sessions=sessions,
            defined_in=self.wanted.defined_in,
            last_error="" if is_stable else self._error,
            pid=self._child.identity.pid if self._child is not None else 0,
            started_at=self._started_at,
            next_try_seconds=round(max(0.0, self._next_try - now), 1) if self.state in ("backoff", "failed") else 0.0,
            notes=self._offered.notes,
        )

    def want(self) -> None:
        """Somebody uses it: start it unless it runs, waits, or has just failed for good."""
        now = asyncio.get_running_loop().time()
        self.last_used = now
        if self.state == "failed" and now >= self._next_try:
            self._failures = 0
            self._poke.set()
        if self._task is None:
            self.state = "starting"
            self._task = asyncio.create_task(self._run(), name=f"mcp-server-{self.name}")

    def look_again(self) -> None:
        """A login came or went: what was tried before says nothing any more."""
        self._failures = 0
        self._poke.set()
        if self.state == "ready":
            self._end("its login has changed")

    async def settled(self, seconds: float) -> None:
        """Want it, and wait until it is ready or known to fail."""
        self.want()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.state == "starting" or (self.state == "backoff" and self._failures < _NEEDED):
                    self._moved.clear()
                    await self._moved.wait()

    async def call(self, entry: ToolEntry, arguments: Mapping[str, object], seconds: float) -> ToolOutput:
        """Call one of its tools.

        Raises:
            ToolFailed: there is no output; the message names the server.
        """
        await self.settled(self._bounds.settle)
        connection = self._connection
        if connection is None:
            reason = self.reasons[0] if self.reasons else "mcp_unreachable"
            raise self._failed(self._error or "is still starting", code="tool_unavailable", reason=reason)
        self.last_used = asyncio.get_running_loop().time()
        try:
            return await connection.call(entry.descriptor.backend.mcp_tool, arguments, seconds)
        except ToolFailed as failed:
            if failed.code != "tool_timed_out" and self.wanted.is_remote:
                # A remote server that has gone shows only when it is asked.
                self._tools_changed.set()
            why = self._why or failed.message
            raise self._failed(why, code=failed.code, reason=failed.reason) from failed
        finally:
            self.last_used = asyncio.get_running_loop().time()

    async def close(self) -> None:
        """End it with all its processes."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))
        self.state = "idle"

    # --- its life

    async def _run(self) -> None:
        while True:
            error = await self._live()
            if self._ready_since and asyncio.get_running_loop().time() - self._ready_since >= self._bounds.stable:
                self._failures = 0
            self._failures += 1
            needs_login = self._reach is not None and self._reach.met_401
            self._error = self._clean(error)
            if needs_login:
                self._error = f"it asks for a login: compozy mcp auth login {self.name}"
            log.warning("MCP server %r of %r: %s", self.name, self.wanted.workspace_id, self._error)
            await self._pause(needs_login)

    async def _live(self) -> str:
        """Start, serve, and return why it is over."""
        self._over.clear()
        self._tools_changed.clear()
        self._why, self._died, self._ready_since, self._reach = "", "", 0.0, None
        self._starts += 1
        self._started_at = times.now()
        self._move("starting")
        if self.wanted.problem:
            return self.wanted.problem
        try:
            async with contextlib.AsyncExitStack() as stack:
                try:
                    async with asyncio.timeout(self._bounds.start):
                        connection = await stack.enter_async_context(self._opened())
                        await self._list(connection)
                except TimeoutError:
                    raise _Ended(f"it did not say hello and list its tools within {self._bounds.start:g} s") from None
                self._connection = connection
                # Whoever had it started has not used it yet.
                self.last_used = self._ready_since = asyncio.get_running_loop().time()
                self._move("ready")
                await self._serve(connection)
        except Exception as error:  # noqa: BLE001 - supervisor: whatever a server makes of its connection ends here
            return self._explain(error)
        finally:
            self._connection = None
        return "it ended"

    async def _serve(self, connection: "Connection") -> None:
        while True:
            waits = [asyncio.ensure_future(event.wait()) for event in (self._over, self._tools_changed)]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            if self._over.is_set():
                raise _Ended(self._why or "it closed the connection")
            await asyncio.sleep(self._bounds.refresh_pause)
            self._tools_changed.clear()
            try:
                async with asyncio.timeout(self._bounds.start):
                    await self._list(connection)
            except TimeoutError:
                raise _Ended(f"it did not list its tools within {self._bounds.start:g} s") from None
            self._move("ready")

    async def _list(self, connection: "Connection") -> None:
        tools = await connection.tools()
        self._offered = await asyncio.to_thread(offered, self.name, self.wanted.workspace_id, tools)

    @contextlib.asynccontextmanager
    async def _opened(self) -> "AsyncIterator[Connection]":
        # In a thread: the SDK takes a second to load, once in the daemon's life.
        module = await load("compozy.runtime.mcp.connection")
        how = await asyncio.to_thread(start_of, self.wanted.server, self._backing.secrets)
        signals: Signals = module.Signals(changed=self._tools_changed.set, ended=self._end)
        opened = self._remote(module, how, signals) if self.wanted.is_remote else self._started(module, how, signals)
        async with opened as connection:
            yield connection

    @contextlib.asynccontextmanager
    async def _started(self, module: ModuleType, how: ServerStart, signals: "Signals") -> "AsyncIterator[Connection]":
        spec = LaunchSpec(
            argv=how.argv,
            env=server_environment(how.env),
            cwd=self.wanted.folder,
            marker=randomness.token_hex(16),
        )
        child = self._child = await start(spec, output="separate")
        try:
            await asyncio.to_thread(self._backing.journal.add, child.identity)
            async with module.connect_child(child, self.wanted.folder, self._bounds, signals) as connection:
                yield connection
                if child.stdin is not None and not self._over.is_set():
                    child.stdin.close()
        finally:
            if self._over.is_set() and not self._why:
                await child.wait_exit(_EXIT_GRACE)
            # Before it is ended by us: only its own end explains anything.
            self._died = _how_it_ended(child) if child.exited.is_set() else ""
            await self._end_child(child)

    async def _end_child(self, child: Child) -> None:
        ending = asyncio.ensure_future(child.end(term_grace=self._bounds.term_grace))
        while not ending.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait((ending,))
        self._child = None
        await asyncio.to_thread(self._backing.journal.remove, child.identity.marker)

    @contextlib.asynccontextmanager
    async def _remote(self, module: ModuleType, how: ServerStart, signals: "Signals") -> "AsyncIterator[Connection]":
        auth = None
        if not any(name.lower() == "authorization" for name in how.headers):
            auth = await self._backing.logins.auth_for(self.wanted, how.client_secret)
        reach: Reach = module.Reach(url=how.url, headers=how.headers, auth=auth)
        self._reach = reach
        async with module.connect_remote(reach, self.wanted.folder, self._bounds, signals) as connection:
            # What was met while a login was refreshed is over.
            reach.met_401 = False
            yield connection

    # --- what becomes of it

    def _end(self, why: str) -> None:
        self._why = self._why or why
        self._over.set()
        if self.state == "ready":
            # Whoever calls now waits for the next start.
            self._connection = None
            self._move("starting")

    async def _pause(self, needs_login: bool) -> None:
        loop, bounds = asyncio.get_running_loop(), self._bounds
        self._poke.clear()
        seconds: float | None = min(bounds.longest_pause, bounds.first_pause * 2 ** (self._failures - 1))
        state: McpRunState = "backoff"
        if needs_login:
            state, seconds = "needs_login", None
        elif self._failures >= bounds.most_failures:
            state, seconds = "failed", None
        self._next_try = loop.time() + (bounds.longest_pause if seconds is None else seconds)
        self._move(state)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._poke.wait()

    def _move(self, state: McpRunState) -> None:
        self.state = state
        self.version += 1
        self._moved.set()
        self._on_change()

    def _explain(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self._why or self._died:
            return self._why or self._died
        if isinstance(error, CompozyError | ToolFailed):
            return error.message
        if isinstance(error, _Ended | AgentStartError):
            return str(error)
        return f"{str(error)[:_SHOWN] or type(error).__name__}"

    def _clean(self, text: str) -> str:
        return self._backing.redactor.text(text)

    def _failed(self, why: str, *, code: str, reason: ReasonCode | None) -> ToolFailed:
        text = self._clean(f"MCP server {self.name!r}: {why}")
        return ToolFailed(text, code=code, reason=reason)  # type: ignore[arg-type]


def _how_it_ended(child: Child) -> str:
    code, tail = child.exit_code, child.stderr.text().strip()[-_SHOWN:]
    how = "ended" if code is None else f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
    return f"its process {how}" + (f"; it wrote: {tail}" if tail else "")
