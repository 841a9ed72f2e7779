"""Located values: what stands where in a file, for YAML, TOML and JSON alike (decisions D3).

A node knows the span of its own text and its decoded value, and nothing of grammars or fields. Offsets count
characters of the whole file, so that an edit never needs to know which part of the file was parsed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from compozy.model.diagnostic import TextEdit
from compozy.model.errors import InvalidRequest
from compozy.model.record import Record

Kind = Literal["scalar", "map", "seq"]


class CannotEdit(Exception):
    """The text cannot be changed in place; the message says why, for the note of the result."""


class EditRefused(InvalidRequest):
    """An edit that cannot be made without guessing; nothing was changed, the message says what to do."""

    default_code = "edit_refused"


class EditResult(Record, frozen=True, kw_only=True):
    """The text after an edit. `in_place` is False when the canonical form replaced it, and `note` says why."""

    text: str
    in_place: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One value. `end` is where its own content ends, before trailing blanks and comments.

    `flow` tells bracketed collections from indented ones; `style` is the quote or block character of a scalar;
    `fixed` says why the node must stay as it is (alias, anchor, tag), empty when it may be replaced.
    """

    kind: Kind
    start: int
    end: int
    flow: bool = True
    style: str = ""
    value: object = None
    pairs: tuple["Pair", ...] = ()
    items: tuple["Node", ...] = ()
    fixed: str = ""
    bare: bool = False
    """The value stands outside brackets (YAML): more text may go without quotes."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The spans of the members: items, or key to value."""
        if self.kind == "map":
            return tuple((pair.key.start, max(pair.value.end, pair.key.end)) for pair in self.pairs)
        return tuple((item.start, item.end) for item in self.items)


@dataclass(frozen=True, slots=True)
class Pair:
    """A key of a mapping with its value; `name` is the key's text."""

    name: str
    key: Node
    value: Node


def to_data(node: Node) -> object:
    """Return the plain value below a node: dict, list or scalar. A repeated key keeps its last value."""
    if node.kind == "map":
        return {pair.name: to_data(pair.value) for pair in node.pairs}
    if node.kind == "seq":
        return [to_data(item) for item in node.items]
    return node.value


def fingerprint(value: object) -> str:
    """Return a text that is equal exactly for equal plain values, whatever the order of their keys."""
    return json.dumps(value, sort_keys=True, default=lambda other: [type(other).__name__, str(other)])


def is_list(value: object) -> bool:
    """Tell whether a plain value is a list (text is none)."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def plain(value: object) -> object:
    """Return `value` with tuples as lists and any mapping as dict, so that equal values compare equal."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """Return the text with all edits applied; insertions at one place keep their order.

    Raises:
        CannotEdit: two edits overlap.
    """
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start < done:
            raise CannotEdit("two changes touch the same text")
        parts.append(text[done : edit.start])
        parts.append(edit.replacement)
        done = edit.end
    parts.append(text[done:])
    return "".join(parts)


def line_start(text: str, offset: int) -> int:
    """Return the offset of the first character of the line that holds `offset`."""
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """Return the offset behind the line break of the line that holds `offset`, or the end of the text."""
    found = text.find("\n", offset)
    return len(text) if found < 0 else found + 1


def line_break(text: str, offset: int) -> str:
    """Return the line break used around `offset`: that of its line, else of the line before, else LF."""
    end = line_end(text, offset)
    if end == line_start(text, offset) or text[end - 1] != "\n":
        end = line_start(text, offset)
    return "\r\n" if text[max(0, end - 2) : end] == "\r\n" else "\n"


def change_paths(
    data: Mapping[str, object], changes: Mapping[str | tuple[str | int, ...], object]
) -> dict[str, object]:
    """Return `data` with each path set, or removed where the new value is None.

    A path is a key, or a tuple of keys and list indexes. Mappings on the way are made when missing, and dropped
    when a removal empties them.

    Raises:
        CannotEdit: a path leads through a scalar or past a list's end.
    """
    result = plain(data)
    if not isinstance(result, dict):
        raise CannotEdit("the document is not a mapping")
    for path, value in changes.items():
        steps = (path,) if isinstance(path, str) else tuple(path)
        _set(result, steps, plain(value))
    return result


def _set(holder: object, steps: tuple[str | int, ...], value: object) -> None:
    head, rest = steps[0], steps[1:]
    if isinstance(holder, list) and isinstance(head, int) and 0 <= head < len(holder):
        if rest:
            _set(holder[head], rest, value)
        elif value is None:
            del holder[head]
        else:
            holder[head] = value
        return
    if not isinstance(holder, dict) or not isinstance(head, str):
        raise CannotEdit(f"{head!r} cannot be reached: what holds it is neither a mapping nor a long enough list")
    if not rest:
        if value is None:
            holder.pop(head, None)
        else:
            holder[head] = value
        return
    if value is None and head not in holder:
        return
    if holder.get(head) in (None, ""):
        holder[head] = {}
    _set(holder[head], rest, value)
    if value is None and holder[head] == {}:
        del holder[head]
