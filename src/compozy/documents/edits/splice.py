"""Make a located tree equal to plain data with the fewest changed characters (decisions D3).

Knows members, brackets and commas; leaves quoting to a dialect and indented (block) collections to `yaml_block`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Protocol

from compozy.documents.edits.nodes import (
    CannotEdit,
    Node,
    Pair,
    fingerprint,
    line_break,
    line_end,
    line_start,
    to_data,
)
from compozy.documents.text import fold
from compozy.model.diagnostic import TextEdit


class Dialect(Protocol):
    """How one language writes values inside brackets."""

    comments: bool
    """Whether `#` starts a comment between members."""

    def render(self, value: object, like: Node | None, indent: str, line_break: str) -> str:
        """Return the text of a value inside brackets; `like` is the node it replaces, `indent` that of its line."""

    def render_key(self, name: str, like: Pair | None) -> str:
        """Return a key with its separator, spaced like the member `like`."""

    def data(self, value: object) -> object:
        """Return the value as this language would read it back."""


@dataclass
class MemberChanges:
    """What happens to the members of one collection: which leave, and which arrive behind which index (-1: first)."""

    removed: set[int] = field(default_factory=set)
    arrived: dict[int, list[tuple[str, object]]] = field(default_factory=dict)

    def arrive(self, after: int, name: str, value: object) -> None:
        self.arrived.setdefault(after, []).append((name, value))

    def __bool__(self) -> bool:
        return bool(self.removed or self.arrived)


BlockEditor = Callable[["Splicer", Node, MemberChanges], None]


class Splicer:
    """Collects the edits that turn one tree into other data."""

    def __init__(
        self, text: str, dialect: Dialect, *, order: Sequence[str] = (), block: BlockEditor | None = None
    ) -> None:
        self.text = text
        self.dialect = dialect
        self._order = {name: index for index, name in enumerate(order)}
        self.edits: list[TextEdit] = []
        self._block = block

    def cut(self, start: int, end: int, replacement: str = "") -> None:
        """Replace [start, end)."""
        self.edits.append(TextEdit(start=start, end=end, replacement=replacement))

    def update(self, node: Node, value: object) -> None:
        """Add the edits that make `node` read as `value`.

        Raises:
            CannotEdit: an anchor, alias or tag is in the way.
        """
        if fingerprint(to_data(node)) == fingerprint(value):
            return
        if node.fixed:
            raise CannotEdit(node.fixed)
        if self._starts_afresh(node, value):
            self.replace(node, value)
        elif node.kind == "map" and isinstance(value, Mapping):
            self._members(node, self._map_changes(node, value))
        elif node.kind == "seq" and isinstance(value, list):
            self._members(node, self._seq_changes(node, value))
        else:
            self.replace(node, value)

    def _starts_afresh(self, node: Node, value: object) -> bool:
        """Tell whether no member of a bracketed collection stays, so that it is written anew."""
        if node.kind == "scalar" or not node.flow:
            return False
        if node.kind == "map" and isinstance(value, Mapping):
            return not any(pair.name in value for pair in node.pairs)
        return not node.items or not value

    def replace(self, node: Node, value: object) -> None:
        """Put the text of `value` where `node` stands."""
        refuse_fixed(node)
        inside = self.text[node.start : node.end]
        if node.kind != "scalar" and self.dialect.comments and "#" in inside and "\n" in inside:
            raise CannotEdit("a list that is written anew may hold a comment")
        if not node.flow and node.kind != "scalar":
            raise CannotEdit("an indented block changes its kind")
        before = self.text[line_start(self.text, node.start) : node.start]
        indent = before[: len(before) - len(before.lstrip(" \t"))]
        text = self.dialect.render(value, node, indent, line_break(self.text, node.start))
        if node.start == node.end and self.text[node.start - 1 : node.start] == ":":
            text = " " + text
        self.cut(node.start, node.end, text)

    def _map_changes(self, node: Node, value: Mapping[str, object]) -> MemberChanges:
        changes = MemberChanges()
        names = [pair.name for pair in node.pairs]
        for index, pair in enumerate(node.pairs):
            if pair.name not in value:
                refuse_fixed(pair.value)
                changes.removed.add(index)
            else:
                self.update(pair.value, value[pair.name])
        for name, item in value.items():
            if name not in names:
                changes.arrive(self._predecessor(names, name), name, item)
        return changes

    def _predecessor(self, names: Sequence[str], name: str) -> int:
        """Return the index of the last key that the usual order puts before `name`."""
        if name not in self._order:
            return len(names) - 1
        before = [index for index, other in enumerate(names) if self.rank(other) < self.rank(name)]
        return before[-1] if before else -1

    def rank(self, name: str) -> int:
        """Return where the usual order puts a key; unknown ones come last."""
        return self._order.get(name, self._order.get(fold(name), len(self._order)))

    def _seq_changes(self, node: Node, value: list[object]) -> MemberChanges:
        changes = MemberChanges()
        old = [fingerprint(to_data(item)) for item in node.items]
        matcher = SequenceMatcher(None, old, [fingerprint(item) for item in value], autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag == "equal":
                continue
            shared = min(i2 - i1, j2 - j1)
            for step in range(shared):
                self.update(node.items[i1 + step], value[j1 + step])
            for index in range(i1 + shared, i2):
                refuse_fixed(node.items[index])
                changes.removed.add(index)
            for index in range(j1 + shared, j2):
                changes.arrive(i1 + shared - 1, "", value[index])
        return changes

    def _members(self, node: Node, changes: MemberChanges) -> None:
        if not changes:
            return
        if node.flow:
            FlowMembers(self, node).change(changes)
        elif self._block is not None:
            self._block(self, node, changes)
        else:
            raise CannotEdit("an indented block cannot be changed here")


def refuse_fixed(node: Node) -> None:
    """Raise CannotEdit when the node, or anything in it, must stay as it is."""
    if node.fixed:
        raise CannotEdit(node.fixed)
    for child in (*node.items, *(pair.value for pair in node.pairs)):
        refuse_fixed(child)


class FlowMembers:
    """Adds and removes members between brackets, keeping the layout: one line, or one member a line."""

    def __init__(self, splicer: Splicer, node: Node) -> None:
        self._splicer = splicer
        self._text = splicer.text
        self._node = node
        self._spans = node.spans
        self._commas = [self._comma_after(index) for index in range(len(self._spans))]

    def _comma_after(self, index: int) -> int:
        """Return the offset of the comma behind a member, or -1."""
        limit = self._spans[index + 1][0] if index + 1 < len(self._spans) else self._node.end - 1
        offset = self._spans[index][1]
        while offset < limit:
            if self._text[offset] == ",":
                return offset
            if self._text[offset] == "#" and self._splicer.dialect.comments:
                offset = line_end(self._text, offset)
            else:
                offset += 1
        return -1

    def _owns_its_line(self, index: int) -> bool:
        start, end = self._spans[index]
        before = self._text[line_start(self._text, start) : start]
        tail_from = self._commas[index] + 1 if self._commas[index] >= 0 else end
        if self._commas[index] >= 0 and "\n" in self._text[end : self._commas[index]]:
            return False
        after = self._text[tail_from : line_end(self._text, tail_from)].strip()
        return not before.strip() and (not after or (self._splicer.dialect.comments and after.startswith("#")))

    def change(self, changes: MemberChanges) -> None:
        kept = [index for index in range(len(self._spans)) if index not in changes.removed]
        for index in sorted(changes.removed):
            self._remove(index, is_tail=not kept or index > kept[-1])
        for after in sorted(changes.arrived):
            self._insert(after, changes.arrived[after], kept)
        last_arrives = bool(kept) and any(after >= kept[-1] for after in changes.arrived)
        may_trail = (
            bool(kept)
            and self._splicer.dialect.comments
            and self._node.kind == "seq"
            and self._owns_its_line(kept[-1])
        )
        if kept and kept[-1] != len(self._spans) - 1 and self._commas[-1] < 0 and not last_arrives and not may_trail:
            comma = self._commas[kept[-1]]
            self._splicer.cut(comma, comma + 1)

    def _remove(self, index: int, *, is_tail: bool) -> None:
        start, end = self._spans[index]
        comma = self._commas[index]
        stop = comma + 1 if comma >= 0 else end
        if self._owns_its_line(index):
            self._splicer.cut(line_start(self._text, start), line_end(self._text, stop))
            return
        between = self._text[end:comma] if comma >= 0 else ""
        if between.strip():
            raise CannotEdit("a comment stands between a value and its comma")
        # Behind the last one that stays, the blanks in front go; elsewhere those behind. Never both: they are shared.
        if is_tail:
            while index and self._text[start - 1] in " \t" and start - 1 > self._commas[index - 1]:
                start -= 1
        else:
            while self._text[stop : stop + 1] in (" ", "\t"):
                stop += 1
        self._splicer.cut(start, stop)

    def _insert(self, after: int, members: list[tuple[str, object]], kept: list[int]) -> None:
        anchors = [index for index in kept if index <= after]
        if not anchors:
            self._insert_before(kept[0], members)
            return
        self._insert_after(anchors[-1], members, is_last=anchors[-1] == kept[-1])

    def _rendered(self, members: list[tuple[str, object]], like: int, indent: str) -> list[str]:
        dialect, newline = self._splicer.dialect, line_break(self._text, self._spans[like][0])
        if self._node.kind == "map":
            sample = self._node.pairs[like]
            return [
                dialect.render_key(name, sample) + dialect.render(value, None, indent, newline)
                for name, value in members
            ]
        return [dialect.render(value, self._node.items[like], indent, newline) for _, value in members]

    def _insert_before(self, index: int, members: list[tuple[str, object]]) -> None:
        start = self._spans[index][0]
        begin = line_start(self._text, start)
        if self._owns_its_line(index):
            indent = self._text[begin:start]
            lines = [
                f"{indent}{one},{line_break(self._text, start)}" for one in self._rendered(members, index, indent)
            ]
            self._splicer.cut(begin, begin, "".join(lines))
        else:
            self._splicer.cut(start, start, "".join(f"{one}, " for one in self._rendered(members, index, "")))

    def _insert_after(self, index: int, members: list[tuple[str, object]], *, is_last: bool) -> None:
        start, end = self._spans[index]
        comma = self._commas[index]
        trailing = self._commas[-1] >= 0
        if self._owns_its_line(index):
            indent = self._text[line_start(self._text, start) : start]
            texts = self._rendered(members, index, indent)
            if comma < 0:
                self._splicer.cut(end, end, ",")
            below = line_end(self._text, comma if comma >= 0 else end)
            newline = line_break(self._text, end)
            marks = [","] * len(texts)
            if is_last and not trailing:
                marks[-1] = ""
            rows = (f"{indent}{one}{mark}{newline}" for one, mark in zip(texts, marks, strict=True))
            self._splicer.cut(below, below, "".join(rows))
            return
        texts = self._rendered(members, index, "")
        if comma >= 0 and not (is_last and not trailing):
            self._splicer.cut(comma + 1, comma + 1, "".join(f" {one}," for one in texts))
        else:
            self._splicer.cut(end, end, "".join(f", {one}" for one in texts))
            if comma >= 0:
                self._splicer.cut(comma, comma + 1)
