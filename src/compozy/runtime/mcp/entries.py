"""From what a server says of its tools to entries of the registry: names, schemas and hints checked (contract §6.1).

Nothing a server says is believed: it arrives as plain JSON. A tool with an unusable schema stays visible with the
reason; what has no usable name is left out and noted. Names that become one id are found by the registry.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from compozy.model.tool import ReasonCode, Risk, ToolBackend, ToolOrigin
from compozy.tools.descriptors import new_descriptor
from compozy.tools.ids import mcp_tool_id, problem_of
from compozy.tools.schema import schema_problem
from compozy.tools.source import ToolEntry

_MOST_NAME = 256
_MOST_TEXT = 16 * 1024
_MOST_SCHEMA = 256 * 1024
_NO_SCHEMA: dict[str, object] = {"type": "object"}


@dataclass(frozen=True, kw_only=True)
class Offered:
    """What one server offers: entries in its order, and what was left out or is wrong, in words."""

    entries: tuple[ToolEntry, ...] = ()
    notes: tuple[str, ...] = ()


def offered(server: str, workspace_id: str, tools: Iterable[object]) -> Offered:
    """Check a server's list of tools. Validates schemas: call it in a thread."""
    entries: list[ToolEntry] = []
    notes: list[str] = []
    for number, raw in enumerate(tools, start=1):
        if not isinstance(raw, dict) or not isinstance(raw.get("name"), str) or not raw["name"]:
            notes.append(f"tool {number} has no name and is left out")
            continue
        name: str = raw["name"]
        problem = "id_too_long" if len(name) > _MOST_NAME else problem_of(mcp_tool_id(server, name))
        if problem:
            notes.append(f"tool {name[:80]!r} is left out: {problem}")
            continue
        entry, note = _entry(server, workspace_id, name, raw)
        entries.append(entry)
        if note:
            notes.append(note)
    return Offered(entries=tuple(entries), notes=(*notes, *_colliding(entries)))


def _entry(server: str, workspace_id: str, name: str, raw: Mapping[str, object]) -> tuple[ToolEntry, str]:
    schema, problem = _schema(raw.get("inputSchema"))
    hints = raw.get("annotations")
    known: Mapping[str, object] = hints if isinstance(hints, dict) else {}
    risk, is_read_only, is_open = _risk(known)
    output = raw.get("outputSchema")
    descriptor = new_descriptor(
        tool_id=mcp_tool_id(server, name),
        title=_text(raw.get("title")) or _text(known.get("title")),
        description=_text(raw.get("description")),
        input_schema=schema,
        output_schema=output if isinstance(output, dict) and not problem else None,
        source=ToolOrigin(
            kind="mcp", owner=server, raw_server_name=server, raw_tool_name=name, workspace_id=workspace_id
        ),
        backend=ToolBackend(kind="mcp", mcp_server=server, mcp_tool=name),
        risk=risk,
        open_world=is_open,
        tags=(server,),
    )
    descriptor = msgspec.structs.replace(descriptor, read_only=is_read_only)
    problems: tuple[ReasonCode, ...] = ("schema_invalid",) if problem else ()
    return ToolEntry(descriptor=descriptor, problems=problems), f"tool {name!r}: {problem}" if problem else ""


def _schema(raw: object) -> tuple[dict[str, object], str]:
    if not isinstance(raw, dict):
        return _NO_SCHEMA, "its input schema is no JSON object"
    size = len(msgspec.json.encode(raw))
    if size > _MOST_SCHEMA:
        return _NO_SCHEMA, f"its input schema has {size} bytes, more than {_MOST_SCHEMA}"
    problem = schema_problem(raw)
    return (_NO_SCHEMA, problem) if problem else (raw, "")


def _risk(hints: Mapping[str, object]) -> tuple[Risk, bool, bool]:
    """Return the risk, whether it only reads and whether it reaches outside; unsaid hints are MCP's defaults."""
    is_read_only = hints.get("readOnlyHint") is True
    is_open = hints.get("openWorldHint") is not False
    if is_read_only:
        return ("open_world" if is_open else "read"), True, is_open
    if hints.get("destructiveHint") is not False:
        return "destructive", False, is_open
    return ("open_world" if is_open else "mutating"), False, is_open


def _text(value: object) -> str:
    return value[:_MOST_TEXT] if isinstance(value, str) else ""


def _colliding(entries: Sequence[ToolEntry]) -> list[str]:
    names: dict[str, list[str]] = {}
    for entry in entries:
        names.setdefault(entry.descriptor.tool_id, []).append(entry.descriptor.source.raw_tool_name)
    return [
        f"tools {', '.join(map(repr, same[:4]))} become one id, {tool_id!r}: none of them can be called"
        for tool_id, same in names.items()
        if len(same) > 1
    ]
