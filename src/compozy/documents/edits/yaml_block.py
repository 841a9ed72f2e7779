"""Add and remove members of indented YAML collections, whole lines at a time (decisions D3).

A member that shares its line with the dash of an outer list is refused rather than guessed at.
"""

from compozy.documents.edits.nodes import CannotEdit, Node, line_break, line_end, line_start
from compozy.documents.edits.splice import MemberChanges, Splicer
from compozy.documents.edits.yaml_text import entry_lines, item_lines


def change_block(splicer: Splicer, node: Node, changes: MemberChanges) -> None:
    """Add the edits for the members that leave and arrive.

    Raises:
        CannotEdit: a member does not own its lines.
    """
    starts = _member_starts(splicer.text, node)
    ends = [end for _, end in node.spans]
    if len(changes.removed) == len(starts):
        raise CannotEdit("every member of an indented block leaves")
    for index in sorted(changes.removed):
        begin = line_start(splicer.text, starts[index])
        if splicer.text[begin : starts[index]].strip():
            raise CannotEdit("the value shares its line with another")
        splicer.cut(begin, line_end(splicer.text, ends[index]))
    indent = " " * (starts[0] - line_start(splicer.text, starts[0]))
    for after, members in sorted(changes.arrived.items()):
        lines: list[str] = []
        for name, value in members:
            lines.extend(entry_lines(name, value, indent) if node.kind == "map" else item_lines(value, indent))
        _insert_lines(splicer, starts, ends, after, lines)


def _insert_lines(splicer: Splicer, starts: list[int], ends: list[int], after: int, lines: list[str]) -> None:
    text = splicer.text
    if after >= 0:
        newline = line_break(text, ends[after])
        place = line_end(text, ends[after])
        block = "".join(line + newline for line in lines)
        if place == ends[after] or text[place - 1] != "\n":
            block = newline + block[: -len(newline)]
    else:
        place = line_start(text, starts[0])
        if text[place : starts[0]].strip():
            raise CannotEdit("the value shares its line with another")
        newline = line_break(text, starts[0])
        block = "".join(line + newline for line in lines)
    splicer.cut(place, place, block)


def _member_starts(text: str, node: Node) -> list[int]:
    """Return where each member's line begins to be its own: the key, or the dash of the item."""
    if node.kind == "map":
        for pair in node.pairs:
            if text[line_start(text, pair.key.start) : pair.key.start].strip(" -") == "?":
                raise CannotEdit("a key is written with a question mark")
        return [pair.key.start for pair in node.pairs]
    column = node.start - line_start(text, node.start)
    starts = [node.start]
    for previous, item in zip(node.items, node.items[1:], strict=False):
        starts.append(_next_dash(text, previous.end, item.start, column))
    return starts


def _next_dash(text: str, begin: int, limit: int, column: int) -> int:
    place = line_end(text, begin)
    while place <= limit and place < len(text):
        if text[place : place + column].strip() == "" and text[place + column : place + column + 1] == "-":
            return place + column
        place = line_end(text, place)
    raise CannotEdit("the dash of a list item was not found")
