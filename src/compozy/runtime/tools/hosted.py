"""Hosted tools: from an agent's launch to its bound MCP connection (contract §5.6, §6.4; decision D18).

Sessions ask here what their agent is given (`ToolSurface`); the internal routes bind, call and release. Each binding
belongs to one launch of one agent and ends with it. The MCP SDK is loaded when the first agent binds.
"""

import asyncio
import hashlib
import logging
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compozy.acp.contract import ProcessIdentity
from compozy.acp.processes import descends_from
from compozy.config.config import Config
from compozy.config.environment import own_program
from compozy.config.home import Home
from compozy.model.errors import CompozyError, Forbidden, Unavailable
from compozy.model.provider import Provider
from compozy.model.tool import ToolDescriptor, ToolInvocation, ToolResult
from compozy.runtime.configs import Configs
from compozy.runtime.sessions.service import HIDDEN
from compozy.runtime.sessions.startup.slots import BlockContext
from compozy.runtime.sessions.surface import HostedLaunch, ToolReach, required_of, unavailable
from compozy.runtime.tools.calls import Invocation
from compozy.runtime.tools.identities import Identities
from compozy.runtime.tools.mcp_side import Refusal, answered, end, new_server, run
from compozy.runtime.tools.service import Tools
from compozy.store.interface import SessionRecord
from compozy.tools.hosted.launches import Launch, Launches, LaunchRefused, Peer
from compozy.tools.registry import Registry
from compozy.tools.source import ToolScope

if TYPE_CHECKING:
    from compozy.tools.hosted.server import HostedServer

log = logging.getLogger(__name__)
SERVER_NAME = "compozy-hosted-tools"
# Changes that come together are told once.
_QUIET_SECONDS = 0.05


@dataclass(kw_only=True)
class Binding:
    """One bound MCP connection of one launch."""

    id: str
    session_id: str
    marker: str
    pid: int
    digest: str = ""
    server: "HostedServer | None" = None
    serving: asyncio.Task[None] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    is_closed: bool = False


@dataclass(frozen=True, kw_only=True)
class Projection:
    """The tools a session may call now."""

    tools: tuple[ToolDescriptor, ...]
    digest: str


class HostedTools:
    """The launches and bindings of one daemon. `attach` before the first session starts."""

    def __init__(self, home: Home, registry: Registry) -> None:
        self._home = home
        self._registry = registry
        self._launches = Launches(clock=time.monotonic, uid=os.getuid(), descends=_descends)
        self._bindings: dict[str, Binding] = {}
        self._tools: Tools | None = None
        self._identities: Identities | None = None
        self._telling: asyncio.Task[None] | None = None
        self._end_watch = registry.watch(self._changed)
        self.covers_servers = False
        """Set by the source of configured MCP servers: then agents reach those through us alone (contract §5.6)."""
        self.session_ended: Callable[[str], None] = _nobody
        """Told when the agent of a session has ended."""
        self._sessions: dict[str, str] = {}

    def attach(self, tools: Tools, identities: Identities) -> None:
        """Give what needs sessions to exist."""
        self._tools, self._identities = tools, identities

    async def close(self) -> None:
        """End every binding."""
        self._end_watch()
        if self._telling is not None:
            self._telling.cancel()
        for binding in list(self._bindings.values()):
            await self._close(binding)

    # --- what sessions ask (ToolSurface)

    async def require(self, record: SessionRecord, provider: Provider, config: Config) -> None:
        """Refuse a session whose required tools are known to be missing."""
        await self._check(record, provider, config, settle=False)

    async def launch(
        self, record: SessionRecord, provider: Provider, config: Config, marker: str
    ) -> HostedLaunch | None:
        """Return the relay's command with a fresh nonce."""
        notes = await self._check(record, provider, config, settle=True)
        # A session that works for the daemon itself has no tools.
        if _why_not(provider, config) or record.session.type == HIDDEN:
            return None
        seconds = config.tools.hosted_mcp.bind_nonce_ttl_seconds
        nonce = self._launches.prepare(record.session.id, marker, seconds)
        self._sessions[marker] = record.session.id
        program = own_program()
        command = [program] if program else [sys.executable, "-m", "compozy"]
        arguments = ["tool", "mcp", "--session", record.session.id, "--bind-nonce", nonce]
        server: dict[str, object] = {
            "name": SERVER_NAME,
            "command": command[0],
            "args": [*command[1:], *arguments],
            "env": [{"name": "COMPOZY_HOME", "value": str(self._home.root)}],
        }
        return HostedLaunch(server=server, notes=notes, covers_servers=self.covers_servers)

    async def reach(self, record: SessionRecord) -> ToolReach:
        """Return what the session's toolsets come to, and which tools exist for it."""
        session = record.session
        scope = ToolScope(workspace_id=session.workspace_id, agent_name=session.agent_name)
        snapshot = await self._registry.snapshot(scope)
        return ToolReach(
            members=snapshot.toolsets.expand(record.tool_access.toolsets), known=frozenset(snapshot.tools)
        )

    def arm(self, marker: str, pid: int) -> None:
        """Let the launch be used from now on."""
        self._launches.arm(marker, pid)

    def forget(self, marker: str) -> None:
        """End the launch and what was bound with it."""
        self._launches.forget(marker)
        session_id = self._sessions.pop(marker, "")
        # A session that has been started again meanwhile goes on using what it uses.
        if session_id and session_id not in self._sessions.values():
            self.session_ended(session_id)
        for binding in [known for known in self._bindings.values() if known.marker == marker]:
            self._drop(binding)

    async def _check(
        self, record: SessionRecord, provider: Provider, config: Config, *, settle: bool
    ) -> tuple[str, ...]:
        """Return what should be said about wildcards; refuse what cannot be projected (D18)."""
        required = required_of(record)
        if not required:
            return ()
        why = _why_not(provider, config)
        if why:
            raise unavailable(record, provider, required, why)
        session = record.session
        scope = ToolScope(
            workspace_id=session.workspace_id, agent_name=session.agent_name, session_id=session.id if settle else ""
        )
        snapshot = await self._registry.snapshot(scope, settle=settle)
        groups = record.tool_access.toolsets
        missing, idle = snapshot.missing([name for name in required if name not in groups], groups)
        if missing:
            raise unavailable(
                record,
                provider,
                missing,
                f"{'these do' if len(missing) > 1 else 'it does'} not exist here; correct "
                "its AGENT.md, or see `compozy tool list` and `compozy toolsets list`",
            )
        return tuple(f"tools: {name!r} matches no tool" for name in idle)

    # --- what the relay asks

    async def bind(self, session_id: str, nonce: str, peer: Peer | None) -> tuple[Binding, Projection]:
        """Use a launch's nonce up and open a connection for it.

        Raises:
            Forbidden: nonce or process is not the launch's.
        """
        try:
            launch = await asyncio.to_thread(self._launches.use, session_id, nonce, peer)
        except LaunchRefused as refused:
            log.warning("a bind to session %s was refused: %s", session_id[:100], refused)
            raise Forbidden(
                f"hosted tools: {refused}; start the agent again through the daemon", code="hosted_mcp_bind_refused"
            ) from refused
        assert peer is not None, "a launch is used by a known peer"
        binding = Binding(id=secrets.token_urlsafe(32), session_id=session_id, marker=launch.marker, pid=peer.pid)
        self._bindings[binding.id] = binding
        projection = await self.project(binding)
        binding.digest = projection.digest
        return binding, projection

    def connection(self, bind_id: str, peer: Peer | None) -> Binding:
        """Return a binding to the process that made it.

        Raises:
            Forbidden: unknown, ended, or another process.
        """
        found = self._bindings.get(bind_id)
        if found is None or peer is None or peer.pid != found.pid:
            raise Forbidden("hosted tools: this binding is not yours, or has ended", code="hosted_mcp_bind_unknown")
        return found

    async def project(self, binding: Binding, *, settle: bool = False) -> Projection:
        """Return what the binding's session may call now; `settle` waits a little for servers that are starting."""
        tools, identities = self._attached()
        caller = await identities.caller(session_id=binding.session_id)
        found = tuple(view.descriptor for view in await tools.callable_views(caller, settle=settle))
        digest = hashlib.sha256()
        for tool in found:
            digest.update(f"{tool.tool_id}\0{tool.input_schema_digest}\0{tool.description}\n".encode())
        return Projection(tools=found, digest=f"sha256:{digest.hexdigest()}")

    async def projections(self, binding: Binding) -> AsyncIterator[Projection]:
        """Yield the projection now, and again whenever it has changed, until the binding ends."""
        shown = ""
        while not binding.is_closed:
            binding.changed.clear()
            now = await self.project(binding)
            if now.digest != shown:
                shown = now.digest
                yield now
            await binding.changed.wait()

    async def call(
        self, binding: Binding, name: str, arguments: object, *, tool_call_id: str = "", correlation_id: str = ""
    ) -> ToolInvocation:
        """Run one call of the binding's session.

        Raises:
            ToolFault: it was not allowed, or gave no result.
        """
        tools, identities = self._attached()
        await identities.note_life(binding.session_id)
        caller = await identities.caller(session_id=binding.session_id)
        wanted = Invocation(
            tool_id=name,
            arguments={} if arguments is None else arguments,
            tool_call_id=tool_call_id,
            correlation_id=correlation_id,
            may_ask=True,
        )
        return await tools.invoke(caller, wanted)

    async def feed(self, binding: Binding, message: bytes) -> None:
        """Hand one message of the agent's MCP client to the server."""
        await (await self._server(binding)).feed(message)

    async def messages(self, binding: Binding) -> AsyncIterator[bytes]:
        """Yield the server's messages; when the reader goes, so does the binding."""
        server = await self._server(binding)
        try:
            async for message in server.messages():
                yield message
        finally:
            await self._close(binding)

    async def release(self, binding: Binding) -> None:
        """End a binding."""
        await self._close(binding)

    # --- inside

    def _attached(self) -> tuple[Tools, Identities]:
        if self._tools is None or self._identities is None:
            raise Unavailable("hosted tools are not ready yet: try again in a moment")
        return self._tools, self._identities

    async def _server(self, binding: Binding) -> "HostedServer":
        if binding.server is None:
            server = await new_server(lambda refusal: _SessionDesk(self, binding, refusal))
            if binding.is_closed:
                raise Forbidden("hosted tools: this binding has ended", code="hosted_mcp_bind_unknown")
            if binding.server is None:
                binding.server = server
                binding.serving = run(server, f"hosted-{binding.session_id}")
        return binding.server

    def _drop(self, binding: Binding) -> None:
        binding.is_closed = True
        binding.changed.set()
        self._bindings.pop(binding.id, None)
        if binding.server is not None:
            binding.server.close()
        if binding.serving is not None:
            binding.serving.cancel()

    async def _close(self, binding: Binding) -> None:
        self._drop(binding)
        if binding.server is not None and binding.serving is not None:
            await end(binding.server, binding.serving)

    def _changed(self) -> None:
        if self._bindings and (self._telling is None or self._telling.done()):
            self._telling = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        await asyncio.sleep(_QUIET_SECONDS)
        for binding in list(self._bindings.values()):
            try:
                projection = await self.project(binding)
            except CompozyError:
                # The session went away meanwhile; its binding follows.
                continue
            if projection.digest != binding.digest:
                binding.digest = projection.digest
                binding.changed.set()
                if binding.server is not None:
                    await binding.server.tools_changed()


class _SessionDesk:
    """What one session's MCP server calls."""

    def __init__(self, hosted: HostedTools, binding: Binding, refusal: Refusal) -> None:
        self._hosted = hosted
        self._binding = binding
        self._refusal = refusal

    async def list_tools(self) -> Sequence[ToolDescriptor]:
        # Many agents list once: what is starting meanwhile should be in it.
        projection = await self._hosted.project(self._binding, settle=True)
        self._binding.digest = projection.digest
        return projection.tools

    async def call_tool(self, name: str, arguments: dict[str, object]) -> ToolResult:
        return await answered(self._hosted.call(self._binding, name, arguments), self._refusal)


def _nobody(session_id: str) -> None:
    """Nobody wants to know."""


def _why_not(provider: Provider, config: Config) -> str:
    """Say why no tools are hosted for a session, "" when they are."""
    if not config.tools.enabled:
        return "[tools] enabled is false"
    if not config.tools.hosted_mcp_enabled:
        return "[tools] hosted_mcp_enabled is false"
    if not provider.session_mcp:
        return f"provider {provider.id!r} takes no MCP servers (session_mcp is false)"
    return ""


def hosts_tools(provider: Provider, config: Config) -> bool:
    """Whether a session with that provider gets hosted tools."""
    return not _why_not(provider, config)


def hosted_tools_block(configs: Configs) -> Callable[[BlockContext], Awaitable[str | None]]:
    """Return what fills the tools slot of the startup prompt: None without hosted tools (contract §5.7)."""

    async def block(context: BlockContext) -> str | None:
        config = await configs.of(context.workspace_root)
        provider = config.providers.get(context.provider)
        return "" if provider is not None and hosts_tools(provider, config) else None

    return block


def _descends(peer: Peer, launch: Launch) -> bool:
    identity = ProcessIdentity(pid=launch.pid, start_time="", group=launch.pid, marker=launch.marker)
    return descends_from(peer.pid, identity)
