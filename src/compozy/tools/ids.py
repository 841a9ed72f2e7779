"""Tool ids: their grammar, names of others made canonical, and patterns compiled to match quickly (contract §6.1).

The grammar itself is `documents/tool_ids.py`, which the definitions use too.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from compozy.documents.tool_ids import MAX_ID_BYTES, id_problem

NATIVE = "compozy"
MCP = "mcp"
SEPARATOR = "__"
_OTHER = re.compile(r"[^a-z0-9]+")
_NOTHING = "x"


def canonical(name: str) -> str:
    """Return an external name as one segment of an id: lower case, every other run of characters an underscore.

    A name that starts with a digit, or has no letter at all, gets an "x" in front, so that it stays a legal segment.
    """
    text = _OTHER.sub("_", name.lower()).strip("_")
    return text if text and text[0].isalpha() else f"{_NOTHING}{text}"


def mcp_tool_id(server: str, tool: str) -> str:
    """Return the id of a tool of a configured MCP server; it may be too long: check it with `problem_of`."""
    return SEPARATOR.join((MCP, canonical(server), canonical(tool)))


def mcp_prefix(server: str) -> str:
    """Return what the ids of a server's tools start with."""
    return SEPARATOR.join((MCP, canonical(server), ""))


def native_id(name: str) -> str:
    """Return the id of a tool or toolset of our own."""
    return f"{NATIVE}{SEPARATOR}{name}"


def problem_of(tool_id: str) -> str:
    """Return the reason code of an id that breaks the grammar, "" for a good one."""
    return id_problem(tool_id) or ("" if SEPARATOR in tool_id else "id_invalid_format")


def is_wildcard(entry: str) -> bool:
    """Whether an entry of `tools` or `deny_tools` names a prefix."""
    return entry.endswith("*")


@dataclass(frozen=True, slots=True)
class Patterns:
    """Entries of an allow or deny list, ready to match."""

    exact: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> "Patterns":
        """Compile entries: exact ids, and prefixes that end in "*"."""
        known = tuple(entries)
        return cls(
            exact=frozenset(entry for entry in known if not is_wildcard(entry)),
            prefixes=tuple(entry[:-1] for entry in known if is_wildcard(entry)),
        )

    def __bool__(self) -> bool:
        return bool(self.exact or self.prefixes)

    def matches(self, tool_id: str) -> bool:
        """Whether an entry names the tool."""
        return tool_id in self.exact or tool_id.startswith(self.prefixes)

    def entry_for(self, tool_id: str) -> str:
        """Return the entry that names the tool, "" when none does."""
        if tool_id in self.exact:
            return tool_id
        return next((f"{prefix}*" for prefix in self.prefixes if tool_id.startswith(prefix)), "")


__all__ = [
    "MAX_ID_BYTES",
    "MCP",
    "NATIVE",
    "SEPARATOR",
    "Patterns",
    "canonical",
    "is_wildcard",
    "mcp_prefix",
    "mcp_tool_id",
    "native_id",
    "problem_of",
]
