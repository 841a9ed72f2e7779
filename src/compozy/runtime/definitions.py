"""Which file is really running, and why the others are not: every definition of one name (decisions D7–D9; P23).

Explains a look that was taken anyway; decides nothing itself. Where nothing is found it says where it looked, what
could not be read, and which names are near.
"""

import difflib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from compozy.catalog.discovery import WORKSPACE_AGENTS, DiscoveredAgent, Discovery, NamedDiagnostic
from compozy.catalog.fleet_index import FleetIndex
from compozy.documents.names import is_reserved
from compozy.model.definition import AgentDefinition
from compozy.model.fleet import Definitions, DefinitionView, Difference
from compozy.model.workspace import Workspace

_RIGHTS = ("permissions", "tools", "toolsets", "deny_tools")
_NEAR = 3


def explain(name: str, index: FleetIndex, workspace: Workspace | None, home_agents: Path) -> Definitions:
    """Return what is known about a name. Reads the sizes of the files it names."""
    return _Explanation(name, index, workspace, home_agents).result()


class _Explanation:
    def __init__(self, name: str, index: FleetIndex, workspace: Workspace | None, home_agents: Path) -> None:
        self._name = name
        self._index = index
        self._found: Discovery = index.discovery
        self._home = home_agents
        roots = [workspace.root_dir, *workspace.add_dirs] if workspace else []
        self._places = {os.path.abspath(Path(root) / WORKSPACE_AGENTS): number for number, root in enumerate(roots)}
        entry = index.get(name)
        self._winner = entry.agent if entry else None

    def result(self) -> Definitions:
        winner = self._winner
        return Definitions(
            name=self._name,
            effective=self._view(winner, "effective", self._why_first(winner)) if winner else None,
            hidden=tuple(self._hidden()),
            sources=self._found.sources,
            looked=tuple(f"{source.path}/{self._name}/AGENT.md" for source in self._found.sources),
            reserved=is_reserved(self._name),
            nearest=() if winner else self._nearest(),
        )

    def _hidden(self) -> Iterable[DefinitionView]:
        for agent in self._found.shadowed:
            if agent.name == self._name:
                yield self._view(agent, "hidden", self._why_hidden(agent))
        for item in self._found.diagnostics:
            if item.diagnostic.severity == "error" and item.name.casefold() == self._name.casefold():
                yield self._broken(item)
        for agent in (*self._found.agents, *self._found.shadowed):
            if agent.loaded.path.parent.name == self._name and agent.name != self._name:
                rule = f"the folder is called {self._name!r}, the file declares name {agent.name!r}; the name counts"
                yield self._view(agent, "other_name", rule)

    def _why_first(self, winner: DiscoveredAgent) -> str:
        return f"first definition of this name that loads, found in {self._place(winner.root, winner.extension)}"

    def _why_hidden(self, agent: DiscoveredAgent) -> str:
        winner = self._winner
        if winner is not None and winner.root == agent.root:
            return "two folders of one place declare this name; the first folder in name order wins"
        first = self._place(winner.root, winner.extension) if winner else "another place"
        return f"{first} comes before {self._place(agent.root, agent.extension)}"

    def _broken(self, item: NamedDiagnostic) -> DefinitionView:
        is_taken = item.kind == "agent.name_reserved"
        path = Path(item.path)
        return DefinitionView(
            path=item.path,
            place=self._place(path.parent.parent, ""),
            origin="global" if path.parent.parent == self._home else "workspace",
            state="reserved" if is_taken else "invalid",
            rule=item.message if is_taken else f"does not load: {item.message}",
            size=_size(path),
        )

    def _view(
        self, agent: DiscoveredAgent, state: Literal["effective", "hidden", "other_name"], rule: str
    ) -> DefinitionView:
        loaded = agent.loaded
        compared = self._winner if state == "hidden" else None
        return DefinitionView(
            path=str(loaded.path),
            place=self._place(agent.root, agent.extension),
            origin=agent.origin,
            state=state,
            rule=rule,
            size=_size(loaded.path),
            prompt_bytes=len(loaded.definition.prompt.encode("utf-8", "surrogateescape")),
            definition_digest=loaded.definition_digest,
            extension=agent.extension,
            differs=_differences(compared.loaded.definition, loaded.definition) if compared else (),
        )

    def _place(self, root: Path, extension: str) -> str:
        if extension:
            return f"extension {extension}"
        number = self._places.get(str(root))
        if number is None:
            return "home" if root == self._home else "extension"
        return f"additional folder {number}" if number else "workspace"

    def _nearest(self) -> tuple[str, ...]:
        names = [entry.name for entry in self._index.entries]
        folded = {name.casefold(): name for name in names}
        close = difflib.get_close_matches(self._name.casefold(), folded, n=_NEAR)
        return tuple(folded[name] for name in close)


def _differences(effective: AgentDefinition, hidden: AgentDefinition) -> tuple[Difference, ...]:
    pairs = ((field, _text(getattr(effective, field)), _text(getattr(hidden, field))) for field in _RIGHTS)
    return tuple(Difference(field=field, effective=one, hidden=two) for field, one, two in pairs if one != two)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value or "")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
