"""The fleet: which agents are in force where, as the API shows them (contract §3.3; decisions D7–D9).

Looks at the disk on every call through the catalog's discovery, in a thread; files that did not change are not read
again. Definitions that do not load are rows with diagnostics, never gaps.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from compozy.catalog.discovery import Discovery, discover
from compozy.catalog.reading import AgentReader
from compozy.config.config import Config
from compozy.config.home import Home
from compozy.documents.agents import LoadedAgent
from compozy.model.agent import Agent, Origin, SourceState
from compozy.model.errors import InvalidRequest, NotFound
from compozy.model.workspace import Workspace
from compozy.runtime.agent_view import agent_payload, broken_payload
from compozy.runtime.resolution import resolve_agent_name
from compozy.runtime.selection import Selection, select


@dataclass(frozen=True, kw_only=True)
class VisibleAgent:
    """An agent in force: its definition and where it comes from."""

    loaded: LoadedAgent
    origin: Origin


@dataclass(frozen=True, kw_only=True)
class AgentList:
    """The agents visible from one place, by name, and what was looked at."""

    agents: tuple[Agent, ...]
    sources: tuple[SourceState, ...]


class Fleet:
    """Agents visible in a workspace or globally."""

    def __init__(self, home: Home, config: Config) -> None:
        self._home = home
        self._config = config
        self._reader = AgentReader()
        # The reader keeps what it read and is used by one thread at a time.
        self._reading = asyncio.Lock()

    async def _discover(self, workspace: Workspace | None) -> Discovery:
        root = Path(workspace.root_dir) if workspace else None
        extra = [Path(path) for path in workspace.add_dirs] if workspace else []
        async with self._reading:
            return await asyncio.to_thread(
                discover,
                workspace=root,
                additional=extra,
                home_agents=self._home.agents,
                reader=self._reader,
            )

    async def visible(self, workspace: Workspace | None) -> AgentList:
        """Return every agent visible in the workspace, or the global ones, broken ones included."""
        found = await self._discover(workspace)
        workspace_id = workspace.id if workspace else ""
        rows = [agent_payload(agent, self._config, workspace_id) for agent in found.agents]
        rows.extend(self._broken(found, workspace))
        return AgentList(agents=tuple(sorted(rows, key=lambda row: (row.name, row.path))), sources=found.sources)

    def _broken(self, found: Discovery, workspace: Workspace | None) -> list[Agent]:
        home = str(self._home.agents)
        return [
            broken_payload(
                item.name,
                item.diagnostic.path,
                item.diagnostic.kind or item.diagnostic.code,
                item.diagnostic.message,
                in_workspace=not item.diagnostic.path.startswith(home + "/"),
                workspace_id=workspace.id if workspace else "",
            )
            for item in found.diagnostics
            if item.diagnostic.severity == "error"
        ]

    async def get(self, name: str, workspace: Workspace | None) -> Agent:
        """Return one agent's payload; a broken one with its diagnostics.

        Raises:
            NotFound: no definition of that name.
        """
        rows = (await self.visible(workspace)).agents
        wanted = name.strip()
        named = [row for row in rows if row.name == wanted]
        if not named:
            raise NotFound(
                f"agent {name!r} is not defined {_where(workspace)}: see `compozy agent list`", code="agent_not_found"
            )
        return next((row for row in named if not row.diagnostics), named[0])

    async def find(self, requested: str, workspace: Workspace | None) -> VisibleAgent:
        """Return the definition a session should use: the requested one or the default.

        Raises:
            InvalidRequest: no name, unknown name, or a definition that does not load.
        """
        name = resolve_agent_name(requested, workspace, self._config)
        found = await self._discover(workspace)
        for agent in found.agents:
            if agent.name == name:
                return VisibleAgent(loaded=agent.loaded, origin=agent.origin)
        for item in found.diagnostics:
            if item.name == name and item.diagnostic.severity == "error":
                raise InvalidRequest(
                    f"agent {name!r} does not load: {item.diagnostic.message} ({item.diagnostic.path}); run "
                    f"`compozy agent check {item.diagnostic.path}`",
                    code="agent_invalid",
                )
        if not found.agents:
            raise InvalidRequest(
                f"no agent found {_where(workspace)}, and so none named {name!r}: run `compozy install` or write an "
                "AGENT.md",
                code="agent_not_found",
                hint="compozy install",
            )
        known = ", ".join(sorted(agent.name for agent in found.agents)[:10])
        raise InvalidRequest(
            f"agent {name!r} is unknown {_where(workspace)}: choose one of {known}",
            code="agent_not_found",
            hint="compozy agent list",
        )

    async def select(self, task: str, workspace: Workspace | None) -> Selection:
        """Choose an agent for a task by its declared capabilities.

        Raises:
            InvalidRequest: an empty task, or no default agent is named.
        """
        if not task.strip():
            raise InvalidRequest("task is required: say in a sentence what should be done")
        default = resolve_agent_name("", workspace, self._config)
        usable = [row for row in (await self.visible(workspace)).agents if not row.diagnostics]
        return select(task, usable, default)


def _where(workspace: Workspace | None) -> str:
    return f"in workspace {workspace.name!r}" if workspace else "globally"
