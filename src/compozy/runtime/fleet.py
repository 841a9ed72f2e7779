"""The fleet: which agents are in force where, as the API shows them (contract §3.3; decisions D7–D9).

Every answer rests on the present view of a place (`fleet_views`); files that did not change are not read again.
Definitions that do not load are rows with diagnostics, never gaps.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from compozy.catalog.discovery import DiscoveredAgent, Discovery, ExtensionAgents, NamedDiagnostic
from compozy.catalog.fleet_index import FleetEntry, FleetIndex
from compozy.config.config import Config
from compozy.config.home import Home
from compozy.documents.agents import LoadedAgent
from compozy.model.agent import Agent, AgentDiagnostic, Origin, SourceState
from compozy.model.errors import Conflict, InvalidRequest, LocalError, NotFound
from compozy.model.fleet import Definitions
from compozy.model.selection import Selection
from compozy.model.workspace import Workspace
from compozy.ocm.selection.documents import Document
from compozy.ocm.selection.extras import CACHE_NAME, by_meaning
from compozy.ocm.selection.matching import LexicalMatcher, Matcher
from compozy.runtime.agent_view import agent_payload, broken_payload
from compozy.runtime.builtin_agents import builtin_agent
from compozy.runtime.configs import Configs
from compozy.runtime.definitions import explain
from compozy.runtime.fleet_views import FleetViews
from compozy.runtime.resolution import resolve_agent_name
from compozy.runtime.selection import AgentSelector, Wishes
from compozy.runtime.selection_kept import KeptSelectors
from compozy.runtime.selection_skills import enabled_skills


@dataclass(frozen=True, kw_only=True)
class VisibleAgent:
    """An agent in force: its definition, and whom it is trusted like: the home's own, or a workspace's."""

    loaded: LoadedAgent
    origin: Origin


@dataclass(frozen=True, kw_only=True)
class AgentList:
    """The agents visible from one place, by name, and what was looked at."""

    agents: tuple[Agent, ...]
    sources: tuple[SourceState, ...]


class Fleet:
    """Agents visible in a workspace or globally. `extensions` says what enabled extensions bring."""

    def __init__(
        self,
        home: Home,
        config: Config,
        extensions: Callable[[], Sequence[ExtensionAgents]] = tuple,
        configs: Configs | None = None,
    ) -> None:
        self._home = home
        self._config = config
        self._configs = configs
        self.views = FleetViews(home.agents, extensions, home.root / "cache" / "definitions")
        self._selectors = KeptSelectors()

    async def close(self) -> None:
        """End what follows the last reads."""
        await self.views.close()

    async def look(self, workspace: Workspace | None, name: str) -> Discovery:
        """Return what can be seen from a place, hidden and broken definitions included; of `name` as it is now."""
        index = await self.views.confirm(workspace, await self.views.get(workspace), (name,))
        return index.discovery

    async def visible(self, workspace: Workspace | None) -> AgentList:
        """Return every agent visible in the workspace, or the global ones, broken ones included."""
        index = await self.views.get(workspace)
        rows = await asyncio.to_thread(self._all_rows, index, workspace)
        return AgentList(agents=rows, sources=index.discovery.sources)

    def _all_rows(self, index: FleetIndex, workspace: Workspace | None) -> tuple[Agent, ...]:
        rows = []
        for entry in index.entries:
            if entry.agent is not None:
                rows.append(self._in_force(entry, workspace))
            rows.extend(self._broken(item, workspace) for item in entry.broken)
        return tuple(sorted(rows, key=lambda row: (row.name, row.path)))

    def payload(self, index: FleetIndex, name: str, workspace: Workspace | None) -> Agent:
        """Return the one row of a name that the index has, with every finding about that name."""
        entry = index.get(name)
        assert entry is not None, "names come from the index"
        findings = tuple(_finding(item) for item in entry.broken)
        if entry.agent is None:
            return msgspec.structs.replace(self._broken(entry.broken[0], workspace), diagnostics=findings)
        row = self._in_force(entry, workspace)
        return msgspec.structs.replace(row, diagnostics=findings) if findings else row

    def _config_in(self, workspace: Workspace | None) -> Config:
        """Return the settings that hold where the agents are looked at: a workspace may have some of its own."""
        if workspace is None or self._configs is None:
            return self._config
        return self._configs.shown(workspace.root_dir)

    def _in_force(self, entry: FleetEntry, workspace: Workspace | None) -> Agent:
        assert entry.agent is not None
        row = agent_payload(entry.agent, self._config_in(workspace), workspace.id if workspace else "")
        if entry.warnings or entry.agent.extension:
            warnings = tuple(_finding(item) for item in entry.warnings)
            row = msgspec.structs.replace(row, warnings=warnings, extension=entry.agent.extension)
        return row

    def _broken(self, item: NamedDiagnostic, workspace: Workspace | None) -> Agent:
        return broken_payload(
            item.name,
            item.path,
            item.kind or item.diagnostic.code,
            item.message,
            in_workspace=not item.path.startswith(f"{self._home.agents}/"),
            workspace_id=workspace.id if workspace else "",
        )

    async def get(self, name: str, workspace: Workspace | None) -> Agent:
        """Return one agent's payload; a broken one with its diagnostics.

        Raises:
            NotFound: no definition of that name.
        """
        wanted = name.strip()
        index = await self.views.confirm(workspace, await self.views.get(workspace), (wanted,))
        if index.get(wanted) is None:
            raise NotFound(
                f"agent {name!r} is not defined {_where(workspace)}: see `compozy agent why {wanted}`",
                code="agent_not_found",
            )
        return self.payload(index, wanted, workspace)

    async def explain(self, name: str, workspace: Workspace | None) -> Definitions:
        """Return every definition of a name, and why which one is in force."""
        wanted = name.strip()
        index = await self.views.confirm(workspace, await self.views.get(workspace), (wanted,))
        return await asyncio.to_thread(explain, wanted, index, workspace, self._home.agents)

    async def find(self, requested: str, workspace: Workspace | None) -> VisibleAgent:
        """Return the definition a session should use: the requested one or the default.

        Raises:
            InvalidRequest: no name, unknown name, or a definition that does not load.
        """
        name = resolve_agent_name(requested, workspace, self._config_in(workspace))
        builtin = builtin_agent(name)
        if builtin is not None:
            # Their names are reserved: nothing on disk can be meant (contract §9).
            return VisibleAgent(loaded=builtin, origin="global")
        index = await self.views.confirm(workspace, await self.views.get(workspace), (name,))
        entry = index.get(name)
        if entry is not None and entry.agent is not None:
            return _visible(entry.agent)
        found = index.discovery
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

    async def in_force(self, workspace: Workspace | None) -> tuple[VisibleAgent, ...]:
        """Return every definition that loads and is in force, by name."""
        found = (entry.agent for entry in (await self.views.get(workspace)).entries)
        return tuple(_visible(agent) for agent in found if agent is not None)

    async def select(self, task: str, workspace: Workspace | None, wishes: Wishes | None = None) -> Selection:
        """Choose an agent for a task by its declared capabilities and enabled skills.

        Raises:
            InvalidRequest: an empty task, a malformed id, or no default agent is named.
        """
        if not task.strip():
            raise InvalidRequest("task is required: say in a sentence what should be done")
        default = resolve_agent_name("", workspace, self._config_in(workspace))
        index = await self.views.get(workspace)
        return await asyncio.to_thread(self._select, task, index, default, workspace, wishes)

    def _select(
        self, task: str, index: FleetIndex, default: str, workspace: Workspace | None, wishes: Wishes | None
    ) -> Selection:
        def make() -> AgentSelector:
            usable = [row for row in self._all_rows(index, workspace) if row.definition_digest]
            return AgentSelector(usable, matching=self._matching())

        place = (workspace.root_dir, workspace.add_dirs) if workspace else None
        selector = self._selectors.get(place, index, make)
        if wishes and (wishes.required or wishes.preferred):
            roots = [self._home.root / "skills"]
            if workspace is not None:
                roots += [Path(root) / ".compozy" / "skills" for root in (workspace.root_dir, *workspace.add_dirs)]
            selector = selector.with_skills(enabled_skills(selector.agents, roots))
        return selector.select(task, default, wishes)

    def _matching(self) -> Callable[[Sequence[Document]], Matcher]:
        """Return how tasks are matched: by words, or by meaning too where the settings say so.

        Raises:
            Conflict: the settings want the extra `semantic`, which is not installed.
        """
        if not self._config_in(None).selection.semantic:
            return LexicalMatcher
        try:
            return by_meaning(self._home.root / "cache" / CACHE_NAME)
        except LocalError as error:
            raise Conflict(
                f"[selection] semantic is on: {error.message}, or turn it off", code=error.code, hint=error.hint
            ) from error


def _visible(agent: DiscoveredAgent) -> VisibleAgent:
    # What an extension brings is no more trusted than what a workspace brings (decisions D15).
    return VisibleAgent(loaded=agent.loaded, origin="workspace" if agent.extension else agent.origin)


def _finding(item: NamedDiagnostic) -> AgentDiagnostic:
    return AgentDiagnostic(path=item.path, error_kind=item.kind or item.diagnostic.code, message=item.message)


def _where(workspace: Workspace | None) -> str:
    return f"in workspace {workspace.name!r}" if workspace else "globally (--workspace names a workspace)"
