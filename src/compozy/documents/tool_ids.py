"""Tool and toolset ids and the one wildcard form (formats §6). Knows no tool."""

from compozy.documents.problems import Path, Problem
from compozy.documents.text import shown

# In UTF-8 bytes: what MCP clients and providers accept as a tool name.
MAX_ID_BYTES = 64
_SEPARATOR = "__"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_INNER = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


def id_problem(text: str) -> str:
    """The reason code of an id that breaks the grammar, in the order of checks; "" when it is well formed."""
    if not text:
        return "id_empty"
    if len(text.encode("utf-8", "surrogatepass")) > MAX_ID_BYTES:
        return "id_too_long"
    if "___" in text:
        return "reserved_conflict"
    for segment in text.split(_SEPARATOR):
        if not segment:
            return "id_empty_segment"
        if segment[0] == "_" or segment[-1] == "_":
            return "reserved_conflict"
        if segment[0] not in _LETTERS or not _INNER.issuperset(segment):
            return "id_invalid_format"
    return ""


_TOOL_CODES = {
    "id_empty": "tool-required",
    "id_too_long": "tool-id-too-long",
    "reserved_conflict": "tool-id-reserved",
    "id_empty_segment": "tool-id-empty-segment",
    "id_invalid_format": "tool-id-format",
}
_REASONS = {
    "id_empty": "it is empty",
    "id_too_long": f"it is longer than {MAX_ID_BYTES} bytes",
    "reserved_conflict": 'three underscores in a row, and "_" at the start or end of a segment, are reserved',
    "id_empty_segment": 'there is nothing before or after a "__"',
    "id_invalid_format": 'each segment starts with a-z and holds a-z, 0-9 and "_" only',
}


def tool_problem(entry: str, path: Path, where: str) -> Problem | None:
    """Check one entry of `tools` or `deny_tools`."""
    if not entry:
        return Problem(code="tool-required", message=f"{where} is required; remove the blank entry", path=path)
    candidate = entry
    if "*" in entry:
        prefix = entry[:-1]
        if not entry.endswith("*") or "*" in prefix or not prefix.endswith("_"):
            message = (
                f'{where}: {shown(entry)} must be an exact tool id or a namespace-prefix wildcard: one "*" at the '
                'very end, after "_"'
            )
            return Problem(code="tool-wildcard-invalid", message=message, path=path)
        candidate = prefix + "x"
    reason = id_problem(candidate)
    if reason:
        message = f"{where}: {shown(candidate)} is not a tool id ({reason}): {_REASONS[reason]}"
        return Problem(code=_TOOL_CODES[reason], message=message, path=path)
    if _SEPARATOR not in candidate:
        message = (
            f'{where}: {shown(candidate)} must include canonical namespace separator "__", '
            f'as in "compozy__{candidate}"'
        )
        return Problem(code="tool-id-separator", message=message, path=path)
    return None


def toolset_problem(entry: str, path: Path, where: str) -> Problem | None:
    """Check one entry of `toolsets`: an exact id, no wildcard."""
    if not entry:
        return Problem(code="toolset-required", message=f"{where} is required; remove the blank entry", path=path)
    reason = id_problem(entry)
    if reason:
        code = {"id_empty": "toolset-required"}.get(reason, "toolset-id-format")
        message = f"{where}: {shown(entry)} is not a toolset id ({reason}): {_REASONS[reason]}"
        return Problem(code=code, message=message, path=path)
    if _SEPARATOR not in entry:
        message = f'{where}: {shown(entry)} must include canonical namespace separator "__"'
        return Problem(code="toolset-id-separator", message=message, path=path)
    return None
