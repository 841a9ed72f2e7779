"""The compact `toon` text form of an answer (contract §4.3): field names once, then one line of values a row.

`name{a,b}:` with one indented line for an object, `name[N]{a,b}:` with N lines for a list, `name[N]: x,y` for a list
of plain values. A field that is itself an object or a list stands in a block of its own below the line of its owner,
one step further in; in rows an empty one is left out. A value is quoted as JSON text when it could be misread: when
empty, padded, holding a comma, quote, backslash, control character or line break, or when it looks like a number,
`true`, `false` or `null`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

_PLAIN = re.compile(r'[^,"\\\x00-\x1f\x7f]+')
_LOOKS_LIKE_DATA = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null")


def cell(value: object) -> str:
    """Render one plain value."""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value == value.strip() and not _LOOKS_LIKE_DATA.fullmatch(value):
            return value
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def render_object(name: str, record: Mapping[str, object], fields: Sequence[str] = ()) -> str:
    """Render one object with the given fields, all of its own when none are given."""
    return _text(_object(name, record, tuple(fields) or tuple(record)))


def render_rows(name: str, records: Sequence[Mapping[str, object]], fields: Iterable[str] = ()) -> str:
    """Render a list of objects, each with the given fields, or with all that any of them has."""
    return _text(_rows(name, records, tuple(fields) or _all_fields(records)))


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _block(name: str, value: object) -> Iterator[str]:
    """Yield the lines of a field that is an object or a list."""
    if isinstance(value, Mapping):
        yield from _object(name, value, tuple(value))
    elif isinstance(value, (list, tuple)):
        mappings = [item for item in value if isinstance(item, Mapping)]
        if mappings and len(mappings) == len(value):
            yield from _rows(name, mappings, _all_fields(mappings))
        elif any(_is_nested(item) for item in value):
            yield f"{name}[{len(value)}]:"
            yield from _inside(line for item in value for line in _block("", item))
        else:
            yield f"{name}[{len(value)}]: {','.join(map(cell, value))}".rstrip()
    else:
        yield f"{name}: {cell(value)}" if name else cell(value)


def _object(name: str, record: Mapping[str, object], fields: Sequence[str]) -> Iterator[str]:
    plain = [field for field in fields if not _is_nested(record.get(field))]
    yield f"{name}{{{','.join(plain)}}}:" if plain or not fields else f"{name}:"
    if plain:
        yield "  " + _line(plain, record)
    for field in fields:
        if field not in plain:
            yield from _inside(_block(field, record[field]))


def _rows(name: str, records: Sequence[Mapping[str, object]], fields: Sequence[str]) -> Iterator[str]:
    plain = [field for field in fields if not any(_is_nested(record.get(field)) for record in records)]
    yield f"{name}[{len(records)}]{{{','.join(plain)}}}:"
    for record in records:
        yield "  " + (_line(plain, record) if plain else "-")
        for field in fields:
            if field not in plain and record.get(field) not in (None, [], (), {}):
                yield from _inside(_inside(_block(field, record[field])))


def _inside(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _is_nested(value: object) -> bool:
    return isinstance(value, (Mapping, list, tuple))


def _all_fields(records: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for record in records for key in record))


def _line(fields: Sequence[str], record: Mapping[str, object]) -> str:
    return ",".join(cell(record.get(field)) for field in fields)
