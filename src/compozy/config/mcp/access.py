"""Which MCP servers an agent is given at all: its own deny and allow lists, before anything is started (P37, P70).

`deny_tools` with ``mcp__*`` keeps every server away, ``mcp__NAME__*`` one. An agent that lists tools gets only the
servers that one of its tools could come from. Single tools of a server are for the policy of tools.
"""

import re

from compozy.model.definition import AgentDefinition
from compozy.model.mcp import ServerState

PREFIX = "mcp__"
_OTHER = re.compile(r"[^a-z0-9]+")


def canonical_name(name: str) -> str:
    """Return a server's name as it stands in tool ids: lower case, everything else one ``_`` (contract §6.1)."""
    text = _OTHER.sub("_", name.lower()).strip("_")
    # A segment of an id starts with a letter. The rule is that of `compozy.tools.ids`, which lies a layer above.
    return text if text[:1].isalpha() else f"x{text}"


def tools_of(name: str) -> str:
    """Return the pattern that covers every tool of a server."""
    return f"{PREFIX}{canonical_name(name)}__*"


def access(definition: AgentDefinition | None, name: str) -> tuple[ServerState, str]:
    """Return whether an agent is given a server, and in words why not."""
    if definition is None:
        return "in_force", ""
    prefix = tools_of(name)[:-1]
    for pattern in definition.deny_tools:
        if pattern.endswith("*") and prefix.startswith(pattern[:-1]):
            return "denied", f"deny_tools of agent {definition.name!r} has {pattern!r}"
    if not definition.tools and not definition.toolsets:
        return "in_force", ""
    if any(_reaches(pattern, prefix) for pattern in definition.tools):
        return "in_force", ""
    return "not_allowed", f"tools of agent {definition.name!r} has no tool of it: add {prefix + '*'!r}"


def _reaches(pattern: str, prefix: str) -> bool:
    if not pattern.endswith("*"):
        return pattern.startswith(prefix)
    return pattern[:-1].startswith(prefix) or prefix.startswith(pattern[:-1])
