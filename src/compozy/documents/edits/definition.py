"""Make an AGENT.md say what a payload says, and keep every byte that did not have to change (decisions D3).

A full replacement of the payload's fields: absent means cleared. Servers and hooks stay as the file has them, since a
payload has none. Locks, digests and writing are the caller's.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from compozy.documents.agent_header import read_header
from compozy.documents.canonical import NoDigest, render
from compozy.documents.edits.header import edit_frontmatter, replace_body
from compozy.documents.edits.nodes import EditRefused, EditResult
from compozy.documents.source import SourceText
from compozy.documents.text import trim
from compozy.model.definition import AgentDefinition

_TEXTS = ("name", "provider", "command", "model", "reasoning_effort", "permissions")
# Lists whose order says nothing: the digest sorts them (formats §11.1).
_SETS = ("tools", "toolsets", "deny_tools", "skills_disabled")


def edit_definition(text: str, wanted: AgentDefinition) -> EditResult:
    """Return AGENT.md's text with the fields and the prompt of `wanted`.

    Raises:
        EditRefused: the present text does not load, or what is wanted would not.
    """
    outcome = read_header(SourceText(text), "AGENT.md")
    old = outcome.definition
    if old is None:
        raise EditRefused(
            f"AGENT.md does not load: {outcome.errors[0].message}; run `compozy agent check --fix` first"
        )
    new = replace(wanted, mcp_servers=old.mcp_servers, hooks=old.hooks, capabilities=old.capabilities)

    def canonical() -> str:
        try:
            return render(new)
        except NoDigest as error:
            raise EditRefused(error.message) from error

    result = edit_frontmatter(text, _changes(old, new), canonical=canonical)
    if result.in_place:
        result = EditResult(text=replace_body(result.text, new.prompt))
        if not _says(result.text, new):
            result = EditResult(
                text=canonical(),
                in_place=False,
                note="written in the canonical form: the edit would read differently",
            )
    if not _says(result.text, new):
        raise EditRefused("the definition would not load after the edit; check its values")
    return result


def _changes(old: AgentDefinition, new: AgentDefinition) -> dict[str | tuple[str | int, ...], object]:
    changes: dict[str | tuple[str | int, ...], object] = {}
    for name in _TEXTS:
        if trim(getattr(new, name)) != getattr(old, name):
            changes[name] = trim(getattr(new, name))
    for name in _SETS:
        values = _distinct(getattr(new, name))
        if sorted(values) != sorted(getattr(old, name)):
            changes[("skills", "disabled") if name == "skills_disabled" else name] = values
    category = [trim(part) for part in new.category_path]
    if category != list(old.category_path):
        changes["category_path"] = category
    return changes


def _distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(text for text in map(trim, values) if text))


def _says(text: str, wanted: AgentDefinition) -> bool:
    """Whether the text loads and says what is wanted, the order of sets aside."""
    found = read_header(SourceText(text), "AGENT.md").definition
    return found is not None and not _changes(found, wanted) and _prompt(found) == _prompt(wanted)


def _prompt(definition: AgentDefinition) -> str:
    return trim(definition.prompt).replace("\r\n", "\n")
