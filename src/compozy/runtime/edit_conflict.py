"""What a refused edit tells its author: what they changed, what somebody else changed, and whether it touches (D4).

Pure: three definitions in, short facts out. The state the author saw may be unknown; then only differences are told.
"""

from collections.abc import Mapping

from compozy.documents.text import trim
from compozy.model.command_secrets import masked_command
from compozy.model.definition import AgentDefinition

FIELDS = (
    "provider",
    "command",
    "model",
    "reasoning_effort",
    "tools",
    "toolsets",
    "deny_tools",
    "permissions",
    "skills_disabled",
    "category_path",
    "prompt",
)
# Lists whose order says nothing (formats §11.1).
_SETS = frozenset({"tools", "toolsets", "deny_tools", "skills_disabled"})
_SHOWN = {"skills_disabled": "skills"}


def three_way(base: AgentDefinition | None, yours: AgentDefinition, theirs: AgentDefinition) -> dict[str, str]:
    """Return `details` of the 409: comma-separated field names, and `touches` yes, no or unknown.

    A change that somebody else made too, to the same value, is no change of yours any more.

    Args:
        base: the definition the author saw; None when nobody remembers it.
        yours: what the author wants.
        theirs: what is in force now.
    """
    if base is None:
        return {"differing_fields": _names(changed(theirs, yours)), "touches": "unknown"}
    other = changed(base, theirs)
    mine = [name for name in changed(base, yours) if _value(yours, name) != _value(theirs, name)]
    disputed = [name for name in mine if name in other]
    return {
        "your_changes": _names(mine),
        # The digest differs, so with equal payload fields it is what a payload does not show.
        "their_changes": _names(other) or "mcp_servers or hooks",
        "disputed_fields": _names(disputed),
        "touches": "yes" if disputed else "no",
    }


def sentence(details: Mapping[str, str]) -> str:
    """Return the same facts as part of a sentence."""
    if details["touches"] == "unknown":
        return f"what is in force differs from yours in {details['differing_fields'] or 'servers or hooks'}"
    yours = f"you change {details['your_changes'] or 'nothing that is not so already'}"
    theirs = f"somebody changed {details['their_changes']}"
    both = f"both change {details['disputed_fields']}" if details["touches"] == "yes" else "the changes do not touch"
    return f"{yours}, {theirs}; {both}"


def changed(old: AgentDefinition, new: AgentDefinition) -> list[str]:
    """Return the payload fields in which two definitions differ, as the digest sees them."""
    return [name for name in FIELDS if _value(old, name) != _value(new, name)]


def _value(definition: AgentDefinition, name: str) -> object:
    value = getattr(definition, name)
    if name in _SETS:
        return sorted({text for text in map(trim, value) if text})
    if isinstance(value, tuple):
        return [trim(text) for text in value]
    text = trim(value).replace("\r\n", "\n")
    # What was shown to the author was shown without secrets.
    return masked_command(text) if name == "command" else text


def _names(fields: list[str]) -> str:
    return ", ".join(_SHOWN.get(name, name) for name in fields)
