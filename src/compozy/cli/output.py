"""Writing an answer in the format that was asked for (contract §4.3).

json prints the value itself, jsonl one object a line, toon the compact form, human a table: drawn with rich on a
terminal, plain aligned columns elsewhere. Everything a person reads has control characters taken out first, so
that text from an agent or a file cannot drive the terminal.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from compozy.cli import toon
from compozy.cli.invocation import Invocation

JsonObject = Mapping[str, object]

# C0 and C1 controls, and the characters that reorder text: none of them belongs into a line a person must trust.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


# A cell longer than this does not widen its column.
_WIDE = 60


class Column(NamedTuple):
    """A column of a human table and a field of a toon row: `field` of the record, or what `text` makes of it."""

    title: str
    field: str
    text: Callable[[JsonObject], str] | None = None

    def value(self, record: JsonObject) -> object:
        """Return the value as data."""
        return self.text(record) if self.text else record.get(self.field)

    def render(self, record: JsonObject) -> str:
        """Return the value as one safe line of text."""
        return safe_line(plain(self.value(record)))


def clean(text: str) -> str:
    """Take control and reordering characters out of text that a person will read; line breaks and tabs stay."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Fold line breaks and tabs into spaces."""
    return " ".join(text.split()) if ("\n" in text or "\t" in text) else text


def safe_line(text: str) -> str:
    """Return text of an agent or a file as one line that cannot drive the terminal."""
    return clean(one_line(text))


def few(items: Sequence[str], most: int = 2) -> str:
    """Join the first items by commas and count the rest: an agent may name every file of a batch."""
    rest = len(items) - most
    return ", ".join([*items[:most], *([f"{rest} more"] if rest > 0 else [])])


def plain(value: object) -> str:
    """Render a JSON value for a person: lists joined by commas, nothing for null."""
    if value is None:
        return ""
    if value is True or value is False:
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={plain(item)}" for key, item in value.items())
    return str(value)


def write(text: str) -> None:
    """Write to standard output as it is."""
    sys.stdout.write(text)


def write_json(value: object) -> None:
    """Write one value as indented JSON."""
    write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_json_line(value: object) -> None:
    """Write one value as one line of JSON, at once."""
    write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def note(invocation: Invocation, text: str) -> None:
    """Say something to a person on standard error; structured formats stay silent."""
    if invocation.is_human:
        sys.stdout.flush()
        sys.stderr.write(clean(text) + "\n")
        sys.stderr.flush()


def print_rows(
    invocation: Invocation,
    rows: Sequence[JsonObject],
    columns: Sequence[Column],
    *,
    name: str,
    toon_columns: Sequence[Column] = (),
    envelope: JsonObject | None = None,
    empty: str = "",
) -> None:
    """Print a list. `envelope` is what json prints instead of the bare list; `empty` is said when there is none."""
    if invocation.format == "json":
        write_json(list(rows) if envelope is None else envelope)
    elif invocation.format == "jsonl":
        for row in rows:
            write_json_line(row)
    elif invocation.format == "toon":
        source = _resolution_source(rows, envelope)
        chosen = toon_columns or columns
        cells = [{column.field: column.value(row) for column in chosen} for row in rows] if chosen else rows
        head = f"resolution_source: {source}\n" if source else ""
        write(head + toon.render_rows(name, cells, [column.field for column in chosen]))
    elif rows:
        write_table(invocation, [column.title for column in columns], [[c.render(r) for c in columns] for r in rows])
    elif empty:
        write(empty + "\n")


def print_object(
    invocation: Invocation,
    record: JsonObject,
    fields: Sequence[Column],
    *,
    name: str,
    toon_fields: Sequence[str] = (),
) -> None:
    """Print one object: whole in json and jsonl, the named fields for a person."""
    if invocation.format == "json":
        write_json(record)
    elif invocation.format == "jsonl":
        write_json_line(record)
    elif invocation.format == "toon":
        source = record.get("resolution_source")
        rest = {key: value for key, value in record.items() if key != "resolution_source"}
        head = f"resolution_source: {source}\n" if source else ""
        write(head + toon.render_object(name, rest, toon_fields))
    else:
        write_fields([(field.title, field.render(record)) for field in fields])


def _resolution_source(rows: Sequence[JsonObject], envelope: JsonObject | None) -> str:
    holder = envelope if envelope is not None else (rows[0] if rows else {})
    return str(holder.get("resolution_source") or "")


def write_fields(pairs: Sequence[tuple[str, str]]) -> None:
    """Write `title  value` lines for a person, leaving out what is empty."""
    shown = [(title, value) for title, value in pairs if value]
    width = max((len(title) for title, _ in shown), default=0)
    for title, value in shown:
        write(f"{title.ljust(width)}  {value}\n")


def write_table(invocation: Invocation, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table: with rich on a terminal, else columns padded with spaces."""
    if invocation.is_terminal:
        from compozy.cli.rich_table import draw  # noqa: PLC0415 - start-up cost

        draw(titles, rows, colour=invocation.has_colour)
        return
    widths = [_width([line[index] for line in (titles, *rows)]) for index in range(len(titles))]
    for line in (titles, *rows):
        write("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() + "\n")


def _width(cells: Sequence[str]) -> int:
    """Return the width of a column; one very long cell sticks out instead of stretching every row."""
    longest = max(map(len, cells))
    return longest if longest <= _WIDE else max((len(cell) for cell in cells if len(cell) <= _WIDE), default=_WIDE)
