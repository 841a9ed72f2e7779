"""Which configured servers a scope is given, each as one definition with the key of its instance (D15, D19, P70).

A session has what was frozen when it was created; an operator what the files say now. What is denied, not allowed or
not trusted is not in it: then it is never started and its secrets are never looked up.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from compozy.model.definition import McpServer
from compozy.model.errors import CompozyError
from compozy.model.mcp import ResolvedServer
from compozy.model.workspace import Workspace
from compozy.runtime.fleet import Fleet
from compozy.runtime.mcp_servers import McpAsk, resolve_mcp_servers
from compozy.runtime.sessions import Deps, Sessions
from compozy.runtime.sessions.binding import authored_servers
from compozy.runtime.sessions.mcp import with_literals
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import SessionRecord
from compozy.tools.source import ToolScope


@dataclass(frozen=True, kw_only=True)
class WantedServer:
    """One server for one workspace. Equal keys share an instance; `problem` says why it cannot be started at all."""

    key: str
    server: McpServer
    workspace_id: str
    folder: str
    defined_in: str
    problem: str = ""

    @property
    def is_remote(self) -> bool:
        return not self.server.command


class Wishes:
    """Finds the servers of scopes; remembers those of sessions until their agent ends."""

    def __init__(self, deps: Deps, workspaces: Workspaces, fleet: Fleet, sessions: Sessions) -> None:
        self._deps, self._workspaces, self._fleet, self._sessions = deps, workspaces, fleet, sessions
        self._known: dict[str, tuple[WantedServer, ...]] = {}

    @property
    def by_session(self) -> Mapping[str, tuple[WantedServer, ...]]:
        """The servers of sessions whose agent runs."""
        return self._known

    async def of(self, scope: ToolScope) -> tuple[WantedServer, ...]:
        """Return the servers of a scope.

        Raises:
            CompozyError: a file cannot be used, or there is no such session, workspace or agent.
        """
        if not scope.session_id:
            return await self._of_place(scope.workspace_id, scope.agent_name)
        known = self._known.get(scope.session_id)
        if known is None:
            record = await self._sessions.record(scope.session_id)
            known = self._known[scope.session_id] = await self._of_session(record) if record.mcp_servers else ()
        return known

    def forget(self, session_id: str) -> None:
        """The session's agent has ended; the next one is given what the files say then."""
        self._known.pop(session_id, None)

    async def resolved(self, workspace: Workspace | None, agent_name: str) -> tuple[ResolvedServer, ...]:
        """Return every server of a place with its state.

        Raises:
            CompozyError: as for `of`.
        """
        config = await self._deps.configs.of(workspace.root_dir if workspace else "")
        ask = McpAsk(workspace=workspace)
        if agent_name:
            found = await self._fleet.find(agent_name, workspace)
            ask = McpAsk(workspace=workspace, agent=found.loaded, origin=found.origin)
        return await asyncio.to_thread(resolve_mcp_servers, self._deps.home, self._deps.trust, config, ask)

    async def _of_place(self, workspace_id: str, agent_name: str) -> tuple[WantedServer, ...]:
        workspace = await self._workspaces.get(workspace_id) if workspace_id else None
        folder = workspace.root_dir if workspace else ""
        rows = await self.resolved(workspace, agent_name)
        return tuple(
            wanted(row.server, workspace_id, folder or str(self._deps.home.root), row.path)
            for row in rows
            if row.state == "in_force"
        )

    async def _of_session(self, record: SessionRecord) -> tuple[WantedServer, ...]:
        config = await self._deps.configs.of(record.session.workspace_path)
        try:
            authored = await asyncio.to_thread(authored_servers, self._deps, record, config)
        except CompozyError:
            # Its files are gone or broken; what was frozen and is whole can still be used.
            authored = ()
        return tuple(self._one(server, record, authored) for server in record.mcp_servers)

    def _one(self, stored: McpServer, record: SessionRecord, authored: tuple[ResolvedServer, ...]) -> WantedServer:
        path = next((row.path for row in authored if row.server.name == stored.name), "")
        session, problem, server = record.session, "", stored
        try:
            (server,) = with_literals((stored,), authored, self._deps.redactor)
        except CompozyError as error:
            problem = error.message
        return wanted(server, session.workspace_id, session.workspace_path or record.cwd, path, problem)


def wanted(server: McpServer, workspace_id: str, folder: str, path: str, problem: str = "") -> WantedServer:
    """Return a definition with the key of its instance: one workspace, one file, one content."""
    content = msgspec.json.encode([workspace_id, path, server], order="sorted")
    return WantedServer(
        key=hashlib.sha256(content).hexdigest(),
        server=server,
        workspace_id=workspace_id,
        folder=folder,
        defined_in=path,
        problem=problem,
    )
