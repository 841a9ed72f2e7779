"""The registry: what all sources offer to a scope, joined into one snapshot (contract §6.1).

Two sources that give one id make it unusable for both, except that our own tools cannot be displaced. A snapshot is
kept as long as every source returns the same listing, so that asking again costs a dictionary look-up.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from compozy.model.tool import ReasonCode, ToolDescriptor
from compozy.tools.ids import NATIVE, SEPARATOR, is_wildcard, problem_of
from compozy.tools.search import ToolIndex
from compozy.tools.source import ToolEntry, ToolListing, ToolScope, ToolSource
from compozy.tools.toolsets import Toolsets

# One for each combination of listings in use: sessions of a few agents in a few workspaces.
_KEPT = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class RegisteredTool:
    """A tool and the source that runs it."""

    entry: ToolEntry
    source: ToolSource

    @property
    def descriptor(self) -> ToolDescriptor:
        return self.entry.descriptor

    @property
    def problems(self) -> tuple[ReasonCode, ...]:
        return self.entry.problems


class Snapshot:
    """Everything offered to a scope at one moment."""

    def __init__(self, listings: Sequence[tuple[ToolSource, ToolListing]]) -> None:
        self.listings = tuple(listing for _, listing in listings)
        self.notes: list[str] = [note for _, listing in listings for note in listing.notes]
        self.pending: dict[str, tuple[ReasonCode, ...]] = {}
        found: dict[str, RegisteredTool] = {}
        for source, listing in listings:
            self.pending.update(listing.pending)
            for entry in listing.entries:
                self._add(found, source, entry)
        self.tools: Mapping[str, RegisteredTool] = {tool_id: found[tool_id] for tool_id in sorted(found)}

    def _add(self, found: dict[str, RegisteredTool], source: ToolSource, entry: ToolEntry) -> None:
        tool = entry.descriptor
        reason = problem_of(tool.tool_id)
        is_ours = tool.source.kind == "builtin"
        if not reason and not is_ours and tool.tool_id.startswith(NATIVE + SEPARATOR):
            reason = "reserved_namespace"
        if reason:
            self.notes.append(f"{source.name}: {tool.tool_id!r} is left out: {reason}")
            return
        known = found.get(tool.tool_id)
        if known is None:
            found[tool.tool_id] = RegisteredTool(entry=entry, source=source)
            return
        problem: ReasonCode = "conflicted_sanitized_name" if known.source is source else "conflicted_id"
        self.notes.append(f"{source.name}: {tool.tool_id!r} is given twice: {problem}")
        if known.descriptor.source.kind != "builtin":
            clashing = replace(known.entry, problems=(problem, *known.problems))
            found[tool.tool_id] = replace(known, entry=clashing)

    @cached_property
    def toolsets(self) -> Toolsets:
        """The groups of this snapshot."""
        members: dict[str, set[str]] = {}
        for tool_id, tool in self.tools.items():
            for name in tool.descriptor.toolsets:
                members.setdefault(name, set()).add(tool_id)
        includes: dict[str, tuple[str, ...]] = {}
        for listing in self.listings:
            for name, groups in listing.toolsets.items():
                includes[name] = (*includes.get(name, ()), *groups)
        return Toolsets(members, includes)

    @cached_property
    def index(self) -> ToolIndex:
        """The search index, built when first asked for."""
        return ToolIndex([tool.descriptor for tool in self.tools.values()])

    def missing(self, tools: Sequence[str], toolsets: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return which required names cannot be projected, and which wildcards match nothing (decisions D18).

        An exact id below a prefix that is not known yet is not missing; ask again with everything settled.
        """
        lost: list[str] = []
        idle: list[str] = []
        for name in tools:
            if is_wildcard(name):
                if not any(tool_id.startswith(name[:-1]) for tool_id in self.tools) and not self._may_come(name[:-1]):
                    idle.append(name)
            elif name not in self.tools and not self._may_come(name):
                lost.append(name)
        lost.extend(name for name in toolsets if self.toolsets.get(name).status != "ok")
        return lost, idle

    def _may_come(self, name: str) -> bool:
        return any(
            name.startswith(prefix) or prefix.startswith(name)
            for prefix, problems in self.pending.items()
            if not problems
        )


class Registry:
    """All sources of one daemon."""

    def __init__(self, sources: Sequence[ToolSource] = ()) -> None:
        self._sources: list[ToolSource] = []
        self._listeners: list[Callable[[], None]] = []
        self._kept: OrderedDict[tuple[int, ...], Snapshot] = OrderedDict()
        for source in sources:
            self.add(source)

    def add(self, source: ToolSource) -> None:
        """Take another source; the first come first in conflicts."""
        self._sources.append(source)
        source.watch(self._changed)
        self._changed()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Tell `listener` whenever some scope's tools may have changed; return what ends it."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    async def snapshot(self, scope: ToolScope, *, settle: bool = False) -> Snapshot:
        """Return what the scope is offered; `settle` starts what is started lazily."""
        listings = [(source, await source.list(scope, settle=settle)) for source in self._sources]
        # A kept snapshot holds its listings, so that their identities cannot be used again.
        key = tuple(id(listing) for _, listing in listings)
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return known
        made = self._kept[key] = Snapshot(listings)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return made
