"""The compact `toon` text form of an answer (contract §4.3): field names once, then one line of values a row.

`name{a,b}:` with one indented line for an object, `name[N]{a,b}:` with N lines for a list. A value is quoted as
JSON text when it could be misread: when empty, padded, holding a comma, quote, backslash, control character or
line break, or when it looks like a number, `true`, `false` or `null`. Nested values are JSON in one cell.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

_PLAIN = re.compile(r'[^,"\\\x00-\x1f\x7f]+')
_LOOKS_LIKE_DATA = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null")


def cell(value: object) -> str:
    """Render one value."""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value == value.strip() and not _LOOKS_LIKE_DATA.fullmatch(value):
            return value
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(json.dumps(value, ensure_ascii=False, separators=(",", ":")), ensure_ascii=False)
    return json.dumps(value)


def _line(fields: Sequence[str], record: Mapping[str, object]) -> str:
    return "  " + ",".join(cell(record.get(field)) for field in fields)


def render_object(name: str, record: Mapping[str, object], fields: Sequence[str] = ()) -> str:
    """Render one object with the given fields, all of its own when none are given."""
    chosen = tuple(fields) or tuple(record)
    return f"{name}{{{','.join(chosen)}}}:\n{_line(chosen, record)}\n"


def render_rows(name: str, records: Sequence[Mapping[str, object]], fields: Iterable[str]) -> str:
    """Render a list of objects, each with the given fields."""
    chosen = tuple(fields)
    head = f"{name}[{len(records)}]{{{','.join(chosen)}}}:\n"
    return head + "".join(_line(chosen, record) + "\n" for record in records)
