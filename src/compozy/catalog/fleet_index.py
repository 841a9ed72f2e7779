"""One look at all roots, arranged for lists: a row per name, in name order, found by name, text and category.

Built once per change and then only read. A name whose winner does not load keeps one row, with every file of that
name that is broken; the definition that is used instead is in it too (formats §12, decisions D7–D9). Knows nothing
of sessions or of the API's shapes.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from compozy.catalog.discovery import DiscoveredAgent, Discovery, NamedDiagnostic

_RESERVED = "agent.name_reserved"
# How many answers to filters are kept until the next change.
_KEPT_FILTERS = 64
Key = tuple[str, str]


class FleetEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known about one name: the definition in force (None when nothing loads), findings about it."""

    name: str
    agent: DiscoveredAgent | None
    broken: tuple[NamedDiagnostic, ...] = ()
    warnings: tuple[NamedDiagnostic, ...] = ()

    @property
    def category(self) -> str:
        """The category path as the filter spells it."""
        return " / ".join(self.agent.loaded.definition.category_path) if self.agent else ""

    def folders(self) -> Iterable[Path]:
        """The agent folders this entry rests on."""
        if self.agent is not None:
            yield self.agent.loaded.path.parent
        for item in self.broken:
            yield Path(item.path).parent


def sort_key(name: str) -> Key:
    """Names in case-folded order; equal ones in their own order, so that the order is total."""
    return (name.casefold(), name)


class FleetIndex:
    """The rows of one discovery."""

    def __init__(self, discovery: Discovery) -> None:
        self.discovery = discovery
        self.entries = tuple(sorted(_entries(discovery), key=lambda entry: sort_key(entry.name)))
        self._keys = [sort_key(entry.name) for entry in self.entries]
        self._places = {entry.name: place for place, entry in enumerate(self.entries)}
        self._texts = [f"{entry.name}\0{entry.category}".casefold() for entry in self.entries]
        self._categories: dict[str, list[int]] = {}
        for place, entry in enumerate(self.entries):
            if entry.category:
                self._categories.setdefault(entry.category, []).append(place)
        self.categories = tuple(sorted(self._categories, key=sort_key))
        self._filtered: dict[Key | tuple[str, str, str], Sequence[int]] = {}

    def get(self, name: str) -> FleetEntry | None:
        """The row of a name."""
        place = self._places.get(name)
        return None if place is None else self.entries[place]

    def select(self, *, name: str = "", q: str = "", category: str = "") -> Sequence[int]:
        """The places of the rows that match: exact name, case-folded `q` in name or category, exact category."""
        wanted = (name, q, category)
        found = self._filtered.get(wanted)
        if found is None:
            if len(self._filtered) >= _KEPT_FILTERS:
                self._filtered.clear()
            found = self._filtered[wanted] = self._select(name, q, category)
        return found

    def _select(self, name: str, q: str, category: str) -> Sequence[int]:
        places: Sequence[int] = range(len(self.entries))
        if category:
            places = self._categories.get(category, [])
        if name:
            place = self._places.get(name)
            places = [] if place is None or place not in places else [place]
        if q:
            texts = self._texts
            places = [place for place in places if q in texts[place]]
        return places

    def place_after(self, name: str) -> int:
        """The first place behind a name, whether or not that name is still there."""
        return bisect_right(self._keys, sort_key(name))


def _entries(discovery: Discovery) -> Iterable[FleetEntry]:
    broken: dict[str, list[NamedDiagnostic]] = {}
    warnings: dict[str, list[NamedDiagnostic]] = {}
    for item in discovery.diagnostics:
        if item.kind == _RESERVED:
            continue
        if item.diagnostic.severity == "error":
            broken.setdefault(item.name, []).append(item)
        else:
            warnings.setdefault(item.agent or item.name, []).append(item)
    for agent in discovery.agents:
        yield FleetEntry(
            name=agent.name,
            agent=agent,
            broken=tuple(broken.pop(agent.name, ())),
            warnings=tuple(warnings.get(agent.name, ())),
        )
    for name, items in broken.items():
        yield FleetEntry(name=name, agent=None, broken=tuple(items))
