"""Who is calling: from what a request names, or a scope, to a caller and its actor (contract §6.3)."""

import asyncio
from collections.abc import Sequence

from compozy.config.config import Config
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.model.errors import Conflict, InvalidRequest
from compozy.model.mcp import ResolvedServer
from compozy.model.workspace import Workspace
from compozy.runtime.configs import Configs
from compozy.runtime.fleet import Fleet, VisibleAgent
from compozy.runtime.mcp_servers import McpAsk, resolve_mcp_servers
from compozy.runtime.sessions import Sessions
from compozy.runtime.sessions.mode import session_mode
from compozy.runtime.tools.callers import Caller
from compozy.runtime.tools.native.kit import Actor
from compozy.runtime.trust import Trust
from compozy.runtime.workspaces import Workspaces
from compozy.tools.source import ToolScope

_STOPPED = "stopped"


class Identities:
    """Finds callers."""

    def __init__(
        self,
        home: Home,
        workspaces: Workspaces,
        fleet: Fleet,
        sessions: Sessions,
        configs: Configs,
        trust: Trust,
    ) -> None:
        self._home = home
        self._workspaces = workspaces
        self._fleet = fleet
        self._sessions = sessions
        self._configs = configs
        self._trust = trust

    async def caller(self, *, workspace: str = "", session_id: str = "", agent_name: str = "") -> Caller:
        """Return who is meant: a session, or an operator who may look through an agent's eyes.

        Raises:
            NotFound: no such session or workspace.
            InvalidRequest: the session is of another agent, or there is no such agent.
        """
        if session_id.strip():
            return await self._session(session_id.strip(), workspace.strip(), agent_name.strip())
        place = await self._workspaces.get(workspace) if workspace.strip() else None
        config = await self._configs.of(place.root_dir if place else "")
        if not agent_name.strip():
            everybodys = await asyncio.to_thread(self._servers, McpAsk(workspace=place), config)
            return Caller(config=config, workspace=place, agent_servers=_names(everybodys), can_ask=True)
        agent = await self._fleet.find(agent_name, place)
        is_capped, servers = await asyncio.to_thread(self._would_have, agent, place, config)
        mode = session_mode(agent.loaded.definition, config, requested="", is_capped=is_capped)
        return Caller(
            config=config,
            workspace=place,
            agent=agent.loaded,
            agent_permissions=mode.mode,
            agent_servers=servers,
            can_ask=True,
        )

    def _would_have(
        self, agent: VisibleAgent, place: Workspace | None, config: Config
    ) -> tuple[bool, tuple[str, ...]]:
        """Return whether a session of the agent would be capped, and the servers it would be given."""
        ask = McpAsk(workspace=place, agent=agent.loaded, origin=agent.origin)
        servers = self._servers(ask, config)
        names = _names(servers)
        if place is None:
            return False, names
        try:
            return self._trust.require(agent.loaded, agent.origin, place, config, servers).is_capped, names
        except Conflict:
            # What is not trusted runs nowhere; it is shown with what it would have at most.
            return True, names

    def _servers(self, ask: McpAsk, config: Config) -> tuple[ResolvedServer, ...]:
        try:
            return resolve_mcp_servers(self._home, self._trust, config, ask)
        except ConfigError:
            # A file that cannot be used stops sessions and says so there; what else there is can still be looked at.
            return ()

    async def note_life(self, session_id: str) -> None:
        """A session's agent called a tool: it is not silent."""
        (await self._sessions.live(session_id)).touch()

    async def of_scope(self, scope: ToolScope) -> Caller:
        """Return the caller of a scope."""
        return await self.caller(
            workspace=scope.workspace_id, session_id=scope.session_id, agent_name=scope.agent_name
        )

    async def actor_of(self, scope: ToolScope) -> Actor:
        """Return who acts in a call."""
        caller = await self.of_scope(scope)
        session = caller.session.session if caller.session is not None else None
        return Actor(session=session, workspace=caller.workspace, permission_mode=caller.permission_mode, scope=scope)

    async def _session(self, session_id: str, workspace: str, agent_name: str) -> Caller:
        record = await self._sessions.record(session_id, workspace)
        session = record.session
        if agent_name and agent_name != session.agent_name:
            raise InvalidRequest(
                f"session {session_id!r} is of agent {session.agent_name!r}, not {agent_name!r}: name one of both"
            )
        place: Workspace | None = await self._workspaces.get(session.workspace_id) if session.workspace_id else None
        config = await self._configs.of(session.workspace_path)
        # Whether a turn runs is only known when it matters; a stopped session runs none.
        return Caller(config=config, workspace=place, session=record, can_ask=session.state != _STOPPED)


def _names(servers: Sequence[ResolvedServer]) -> tuple[str, ...]:
    return tuple(row.server.name for row in servers if row.state == "in_force")
