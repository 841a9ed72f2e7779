"""Toolsets: named groups that tools say they belong to, and groups that include groups (contract §6.2)."""

from collections.abc import Iterable, Mapping
from typing import Literal

from compozy.model.tool import ReasonCode, Toolset


class Toolsets:
    """The groups of one snapshot."""

    def __init__(self, members: Mapping[str, Iterable[str]], includes: Mapping[str, Iterable[str]]) -> None:
        """Join what tools say of themselves (`members` by group) and which groups include which."""
        self._members = {name: tuple(sorted(tools)) for name, tools in members.items()}
        self._includes = {name: tuple(groups) for name, groups in includes.items()}
        self.names = tuple(sorted({*self._members, *self._includes}))

    def get(self, name: str) -> Toolset:
        """Return a group with everything it comes to; one that does not exist says so."""
        if name not in self._members and name not in self._includes:
            return Toolset(id=name, status="unknown", reason_codes=("toolset_unknown",))
        found: set[str] = set()
        unknown, cyclic = self._collect(name, (), found)
        status: Literal["ok", "unknown", "cycle"] = "cycle" if cyclic else "unknown" if unknown else "ok"
        reasons: tuple[ReasonCode, ...] = ()
        if status != "ok":
            reasons = ("toolset_cycle",) if cyclic else ("toolset_unknown",)
        return Toolset(
            id=name,
            status=status,
            tools=self._members.get(name, ()),
            toolsets=self._includes.get(name, ()),
            expanded_tools=tuple(sorted(found)),
            reason_codes=reasons,
        )

    def expand(self, names: Iterable[str]) -> frozenset[str]:
        """Return the tools that groups come to; unknown ones come to nothing."""
        return frozenset(tool for name in names for tool in self.get(name).expanded_tools)

    def _collect(self, name: str, above: tuple[str, ...], found: set[str]) -> tuple[bool, bool]:
        """Add a group's tools to `found`; return whether an unknown group and whether a cycle was met."""
        if name in above:
            return False, True
        if name not in self._members and name not in self._includes:
            return True, False
        found.update(self._members.get(name, ()))
        unknown = cyclic = False
        for inner in self._includes.get(name, ()):
            inner_unknown, inner_cyclic = self._collect(inner, (*above, name), found)
            unknown, cyclic = unknown or inner_unknown, cyclic or inner_cyclic
        return unknown, cyclic
