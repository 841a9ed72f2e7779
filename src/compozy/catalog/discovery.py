"""Which definition is in force: roots in order, first declared name wins, nothing empties the list (formats §12).

An unreadable place or a broken definition is a diagnostic of its own, and everything else still loads (decisions
D7, D8). Reading one agent folder belongs to `documents`.
"""

import gc
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from compozy.catalog.reading import AgentReader
from compozy.documents.agents import AGENT_FILE, AgentReport, LoadedAgent
from compozy.documents.files import FileProblem, open_folder
from compozy.documents.names import is_reserved
from compozy.documents.problems import diagnostic, first_error
from compozy.documents.text import shown
from compozy.model.agent import Origin, SourceState
from compozy.model.diagnostic import Diagnostic

WORKSPACE_AGENTS = Path(".compozy") / "agents"


class DiscoveredAgent(msgspec.Struct, frozen=True, kw_only=True):
    """A definition that loads: `root` is the agents folder it lies in."""

    loaded: LoadedAgent
    name: str
    origin: Origin
    root: Path
    extension: str = ""
    """The extension that brings it, "" for all others."""


class ExtensionAgents(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of agents that an enabled extension brings (decisions D13)."""

    extension: str
    folder: Path


class NamedDiagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """A finding about one agent folder; `name` is the folder's, or the declared name when that is reserved.

    `diagnostic` is the first problem in check order, `all` everything found in that folder.
    """

    name: str
    diagnostic: Diagnostic
    all: tuple[Diagnostic, ...] = ()
    agent: str = ""
    """The declared name, where the definition loads."""

    @property
    def path(self) -> str:
        """The AGENT.md the row is about."""
        return self.diagnostic.path

    @property
    def kind(self) -> str:
        """The `error_kind` of the API."""
        return self.diagnostic.kind

    @property
    def message(self) -> str:
        """The message of the first problem."""
        return self.diagnostic.message


class Discovery(msgspec.Struct, frozen=True, kw_only=True):
    """One look at all roots.

    `agents` are in force, in root order and folder order; `shadowed` lost to an earlier definition of their name.
    """

    agents: tuple[DiscoveredAgent, ...]
    diagnostics: tuple[NamedDiagnostic, ...]
    sources: tuple[SourceState, ...]
    shadowed: tuple[DiscoveredAgent, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every place could be read."""
        return all(source.state != "unreadable" for source in self.sources)

    def agent(self, name: str) -> DiscoveredAgent | None:
        """The definition in force of a name."""
        return next((agent for agent in self.agents if agent.name == name), None)


# A stub that hides a real definition has less than this share of its prompt (reports P24).
_SMALL_SHARE = 10
_SMALL_PROMPT = 400


def discover(
    *,
    workspace: Path | None,
    additional: Sequence[Path] = (),
    home_agents: Path | None,
    extensions: Sequence[ExtensionAgents] = (),
    reader: AgentReader | None = None,
) -> Discovery:
    """Look at the workspace, the additional roots in order, the home's agents folder, and what extensions bring.

    `reader` keeps what it read, so that a second look reads only what changed.
    """
    search = _Search(reader or AgentReader())
    with _without_cycle_collection():
        for root in (workspace, *additional):
            if root is not None:
                search.scan(root / WORKSPACE_AGENTS, "workspace")
        if home_agents is not None:
            search.scan(home_agents, "global")
        for brought in extensions:
            search.scan(brought.folder, "global", extension=brought.extension)
    return search.result()


def is_unchanged(discovery: Discovery, reader: AgentReader) -> bool:
    """Whether a look at the same roots with the same reader would find the same; cheaper than that look."""
    with _without_cycle_collection():
        return all(_is_source_unchanged(source, reader) for source in discovery.sources)


def _is_source_unchanged(source: SourceState, reader: AgentReader) -> bool:
    if source.state == "unreadable":
        return False
    path = Path(source.path)
    try:
        handle = open_folder(path, "agents directory")
    except FileProblem as problem:
        return problem.code == "not-found" and source.state == "missing"
    try:
        return source.state == "ok" and reader.is_unchanged(handle, path)
    except OSError:
        return False
    finally:
        os.close(handle)


@contextmanager
def _without_cycle_collection() -> Iterator[None]:
    """Records make no cycles, and looking for some takes a quarter of the time of a first look."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Search:
    """The state of one look."""

    def __init__(self, reader: AgentReader) -> None:
        self._reader = reader
        self._agents: dict[str, DiscoveredAgent] = {}
        self._shadowed: list[DiscoveredAgent] = []
        self._diagnostics: list[NamedDiagnostic] = []
        self._sources: list[SourceState] = []
        self._seen: set[str] = set()
        self._extension = ""

    def result(self) -> Discovery:
        return Discovery(
            agents=tuple(self._agents.values()),
            diagnostics=tuple(self._diagnostics),
            sources=tuple(self._sources),
            shadowed=tuple(self._shadowed),
        )

    def scan(self, folder: Path, origin: Origin, *, extension: str = "") -> None:
        self._extension = extension
        path = os.path.abspath(folder)
        if path in self._seen:
            return
        self._seen.add(path)
        try:
            handle = open_folder(Path(path), "agents directory")
        except FileProblem as problem:
            if problem.code == "not-found":
                self._sources.append(SourceState(path=path, state="missing"))
            else:
                self._sources.append(SourceState(path=path, state="unreadable", message=problem.message))
            return
        try:
            names = sorted(os.listdir(handle), key=os.fsencode)  # noqa: PTH208 - an open handle, not a path
        except OSError as error:
            reason = (error.strerror or "cannot be listed").lower()
            message = f"agents directory: could not read {path}: {reason}"
            self._sources.append(SourceState(path=path, state="unreadable", message=message))
        else:
            self._sources.append(SourceState(path=path, state="ok"))
            root = Path(path)
            for name in names:
                self._entry(handle, root, name, origin)
            self._reader.forget_missing(root, names)
        finally:
            os.close(handle)

    def _entry(self, handle: int, root: Path, name: str, origin: Origin) -> None:
        if is_reserved(name):
            self._reserved_folder(handle, root, name)
            return
        report = self._reader.read(handle, root, name)
        if report is None:
            return
        if report.loaded is None:
            self._failed(name, root / name / AGENT_FILE, report)
            return
        found = DiscoveredAgent(
            loaded=report.loaded, name=report.loaded.name, origin=origin, root=root, extension=self._extension
        )
        self._loaded(found, name)

    def _reserved_folder(self, handle: int, root: Path, name: str) -> None:
        try:
            mode = os.stat(f"{name}/{AGENT_FILE}", dir_fd=handle, follow_symlinks=False).st_mode
        except OSError:
            return
        if not stat.S_ISDIR(mode):
            self._reserved(name, root / name / AGENT_FILE)

    def _reserved(self, name: str, path: Path) -> None:
        message = f"agent name is reserved: {shown(name)}; rename the agent"
        self._diagnostics.append(
            NamedDiagnostic(name=name, diagnostic=diagnostic("name-reserved", message, str(path)))
        )

    def _failed(self, name: str, path: Path, report: AgentReport) -> None:
        first = first_error(report.diagnostics)
        assert first is not None
        # The row names the agent's own file whatever file holds the problem; the full list keeps their places.
        row = msgspec.structs.replace(first, path=str(path))
        self._diagnostics.append(NamedDiagnostic(name=name, diagnostic=row, all=report.diagnostics))

    def _loaded(self, found: DiscoveredAgent, folder: str) -> None:
        if is_reserved(found.name):
            self._reserved(found.name, found.loaded.path)
            return
        winner = self._agents.get(found.name)
        if winner is None:
            self._agents[found.name] = found
            return
        self._shadowed.append(found)
        if winner.root == found.root:
            message = (
                f"name {shown(found.name)} is already taken in this folder by {winner.loaded.path}, which wins; "
                "rename one of them"
            )
            row = diagnostic("discovery-same-name", message, str(found.loaded.path))
            self._diagnostics.append(NamedDiagnostic(name=folder, diagnostic=row, agent=found.name))
        elif _is_stub_over(winner.loaded, found.loaded):
            row = _small_shadow(winner.loaded, found)
            folder = winner.loaded.path.parent.name
            self._diagnostics.append(NamedDiagnostic(name=folder, diagnostic=row, agent=found.name))


def _is_stub_over(winner: LoadedAgent, loser: LoadedAgent) -> bool:
    small, large = len(winner.definition.prompt), len(loser.definition.prompt)
    return small < _SMALL_PROMPT and small * _SMALL_SHARE < large


def _small_shadow(winner: LoadedAgent, loser: DiscoveredAgent) -> Diagnostic:
    sizes = (len(loser.loaded.definition.prompt.encode()), len(winner.definition.prompt.encode()))
    message = (
        f"{shown(winner.name)} shadows {loser.origin} {loser.loaded.path} ({sizes[0]:,} → {sizes[1]:,} bytes of "
        "prompt); remove it if the other one is meant"
    )
    return diagnostic("discovery-small-shadow", message, str(winner.path))
