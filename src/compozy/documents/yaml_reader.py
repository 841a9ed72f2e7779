"""YAML text to plain values, with a way back to every place (formats §3.3).

PyYAML's C parser composes nodes with marks; resolving scalars, merge keys, duplicates and limits are ours. Only the
first document counts. Knows no field: what a value should have been is decided by `decoding`.
"""

import re
from bisect import bisect_left

from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from compozy.documents.limits import MAX_EXPANDED_NODES, MAX_NESTING, MAX_PROBLEMS
from compozy.documents.problems import Fix, Path, Problem, Span
from compozy.documents.text import same_field, shown
from compozy.documents.yaml_compose import (
    ALIAS,
    STANDARD_TAG,
    TOO_DEEP,
    TRAPS,
    Composer,
    YamlProblem,
    check_depth,
    disguise,
    expanded_size,
    fault,
    span_of,
)
from compozy.documents.yaml_scalars import resolve_plain

_DOCUMENT_END = re.compile(r"^\.\.\.\s", re.MULTILINE)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
# Text that needs no quotes in block and flow style alike; everything else is quoted.
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+*-]*")


class MergedMapping(dict[str, object]):
    """A mapping with `<<`: `overridden` are keys both merged and written here, an error in records only."""

    overridden: tuple[str, ...] = ()


class _Entries:
    """The entries of one mapping by key, and the mappings it merges."""

    def __init__(self) -> None:
        self.own: dict[str, tuple[Node, Node]] = {}
        self.merged: list[Node] = []


class YamlDocument:
    """The first document of a text: `value` in plain Python, `duplicates` found on the way.

    It is its own `Locator`: spans count from the start of the file's normalised text.
    """

    def __init__(self, text: str, *, base: int = 0, first_line: int = 1) -> None:
        """Read `text`, which begins `base` characters into the file, in line `first_line`.

        Raises:
            YamlProblem: not YAML, or above a limit.
        """
        self._base = base
        self._first_line = first_line
        self._restore: dict[int, str] | None = None
        if TRAPS.search(text):
            text, self._restore = disguise(text)
        self.text = text
        self.duplicates: list[Problem] = []
        self.root = _compose(text)
        self._values: dict[int, object] = {}
        self._newlines: list[int] = []
        self._entries: dict[int, _Entries] = {}
        self._open: set[int] = set()
        self.value: object = None
        if self.root is not None:
            self.value = self._convert(self.root, ())
            if "*" in text and ALIAS.search(text) and expanded_size(self.root, {}) > MAX_EXPANDED_NODES:
                raise YamlProblem("aliases repeat too much content", span_of(self.root), code="too-many-aliases")

    def _convert(self, node: Node, path: Path) -> object:
        """The value of a node; shared nodes (aliases) are converted once and share their value."""
        if isinstance(node, ScalarNode):
            text: str = node.value
            if self._restore is not None:
                text = text.translate(self._restore)
            if node.style:
                return text
            if "\t" in text:
                text = text.replace("\t", "")
            if node.tag == STANDARD_TAG + "str":
                return text
            return resolve_plain(text)
        identity = id(node)
        if identity in self._values:
            return self._values[identity]
        if identity in self._open:
            raise YamlProblem("an anchor contains itself", span_of(node))
        if len(self._open) >= MAX_NESTING:
            raise YamlProblem(TOO_DEEP, span_of(node), code="nesting-too-deep")
        self._open.add(identity)
        value: object
        if isinstance(node, SequenceNode):
            value = [self._convert(child, (*path, i)) for i, child in enumerate(node.value)]
        else:
            assert isinstance(node, MappingNode)
            value = self._convert_mapping(node, path)
        self._open.discard(identity)
        self._values[identity] = value
        return value

    def _convert_mapping(self, node: MappingNode, path: Path) -> dict[str, object]:
        merges = [pair for pair in node.value if _is_merge(pair[0])]
        result: dict[str, object] = MergedMapping() if merges else {}
        seen: dict[str, Node] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise YamlProblem(
                    "a key must be plain text, not a list or mapping", span_of(key_node), code="type-mismatch"
                )
            if merges and _is_merge(key_node):
                continue
            key: str = key_node.value
            if self._restore is not None:
                key = key.translate(self._restore)
            if key in seen:
                if len(self.duplicates) <= MAX_PROBLEMS:
                    problem = self._duplicate(key, seen[key], key_node, (*path, key))
                    if self._convert(value_node, (*path, key)) == result[key]:
                        edits = self._drop(key_node, value_node)
                        problem.fix = Fix(title="remove the repetition", kind="edits", edits=edits) if edits else None
                    self.duplicates.append(problem)
                continue
            seen[key] = key_node
            result[key] = self._convert(value_node, (*path, key))
        if merges and isinstance(result, MergedMapping):
            self._merge(result, merges, path)
        return result

    def _merge(self, result: MergedMapping, merges: list[tuple[Node, Node]], path: Path) -> None:
        overridden = []
        for _, source in merges:
            parts = source.value if isinstance(source, SequenceNode) else [source]
            for part in parts:
                merged = self._convert(part, (*path, "<<"))
                if not isinstance(merged, dict):
                    raise YamlProblem("`<<` merges mappings only", span_of(source), code="type-mismatch")
                for key, value in merged.items():
                    if key in result:
                        overridden.append(key)
                    else:
                        result[key] = value
        result.overridden = tuple(dict.fromkeys(overridden))

    def _duplicate(self, key: str, first: Node, second: Node, path: Path) -> Problem:
        lines = f"lines {self._line(first)} and {self._line(second)}"
        return Problem(
            code="duplicate-key",
            message=f"mapping key {shown(key)} already defined ({lines})",
            path=path,
            part="key",
            span=self._place(second),
        )

    def _line(self, node: Node) -> int:
        if not self._newlines:
            self._newlines = [match.start() for match in re.finditer("\n", self.text)]
        return self._first_line + bisect_left(self._newlines, node.start_mark.index)

    def _place(self, node: Node) -> Span:
        start, end = span_of(node)
        if isinstance(node, CollectionNode):
            is_block = not node.flow_style
        else:
            is_block = isinstance(node, ScalarNode) and node.style in ("|", ">")
        if is_block:
            # The parser ends a block at the next token; the span ends where its own text does.
            end = start + len(self.text[start:end].rstrip())
        return start + self._base, end + self._base

    def _entry(self, path: Path) -> tuple[Node | None, Node] | None:
        """The key node (None in a list) and value node of the entry at `path`."""
        if self.root is None:
            return None
        found: tuple[Node | None, Node] = (None, self.root)
        for step in path:
            entry = self._child(found[1], step)
            if entry is None:
                return None
            found = entry
        return found

    def _child(self, node: Node, step: str | int) -> tuple[Node | None, Node] | None:
        """The entry of a mapping or list; merged mappings are looked into last."""
        if isinstance(node, SequenceNode):
            if isinstance(step, int) and step < len(node.value):
                return None, node.value[step]
            return None
        if not isinstance(node, MappingNode) or not isinstance(step, str):
            return None
        entries = self._entries_of(node)
        if step in entries.own:
            return entries.own[step]
        for part in entries.merged:
            if (entry := self._child(part, step)) is not None:
                return entry
        name = same_field(step, entries.own)
        return None if name is None else entries.own[name]

    def _entries_of(self, node: MappingNode) -> "_Entries":
        found = self._entries.get(id(node))
        if found is None:
            found = self._entries[id(node)] = _Entries()
            for key, value in node.value:
                if _is_merge(key):
                    found.merged += value.value if isinstance(value, SequenceNode) else [value]
                elif isinstance(key, ScalarNode):
                    text = key.value if self._restore is None else key.value.translate(self._restore)
                    found.own.setdefault(text, (key, value))
        return found

    def key_span(self, path: Path) -> Span | None:
        """The key of the entry at `path`; in a list, the element."""
        entry = self._entry(path)
        return None if entry is None else self._place(entry[0] or entry[1])

    def value_span(self, path: Path) -> Span | None:
        """The value at `path`."""
        entry = self._entry(path)
        return None if entry is None else self._place(entry[1])

    def edits(self, path: Path, fix: Fix) -> tuple[tuple[int, int, str], ...]:
        """The edits of a fix; none for content behind an alias, which several places share."""
        entry = self._entry(path)
        if entry is None:
            return ()
        key, value = entry
        if fix.kind == "rename_key" and key is not None:
            return ((*self._place(key), spelled(fix.text)),)
        if fix.kind == "set_value":
            return ((*self._place(value), spelled(fix.text)),)
        if fix.kind == "set_literal":
            return ((*self._place(value), fix.text),)
        if fix.kind == "set_list":
            return ((*self._place(value), "[" + ", ".join(spelled(item) for item in fix.items) + "]"),)
        if fix.kind == "drop" and key is not None:
            return self._drop(key, value)
        return ()

    def _drop(self, key: Node, value: Node) -> tuple[tuple[int, int, str], ...]:
        """Remove an entry that has its lines for itself."""
        start = key.start_mark.index
        line_start = self.text.rfind("\n", 0, start) + 1
        end = self._place(value)[1] - self._base
        line_end = self.text.find("\n", max(end - 1, start))
        if self.text[line_start:start].strip() or line_end < 0:
            return ()
        rest = self.text[end:line_end].strip()
        if rest and not rest.startswith("#"):
            return ()
        return ((line_start + self._base, line_end + 1 + self._base, ""),)


def _is_merge(key: Node) -> bool:
    return isinstance(key, ScalarNode) and key.value == "<<" and not key.style


def _compose(text: str) -> Node | None:
    """Compose the first document.

    Raises:
        YamlProblem: at the parser's own place.
    """
    if "%" in text:
        _refuse_directive(text)
    check_depth(text)
    try:
        parser = Composer(text)
        root: Node | None = parser.get_node() if parser.check_node() else None
        if isinstance(root, CollectionNode):
            _refuse_rest(parser, text)
        return root
    except YAMLError as error:
        raise fault(error, text) from None


def _refuse_rest(parser: Composer, text: str) -> None:
    """A further document may follow and is ignored, faults included; text that belongs to none is an error.

    Raises:
        MarkedYAMLError: at such text.
    """
    try:
        parser.check_node()
    except MarkedYAMLError as error:
        at = error.problem_mark.index if error.problem_mark is not None else 0
        if "<document start>" in str(error.problem) and not _DOCUMENT_END.search(text, 0, at):
            raise
    except YAMLError:
        return


def _refuse_directive(text: str) -> None:
    at = 0
    for line in text.split("\n"):
        if line.startswith("%"):
            raise YamlProblem("a directive is not allowed in a header", (at, at + len(line)))
        if line.strip() and not line.lstrip().startswith("#"):
            return
        at += len(line) + 1


def quoted(text: str) -> str:
    """A YAML spelling of `text` that reads back as the same string whatever it holds."""
    if "'" not in text and text.isprintable() and ('"' in text or "\\" in text):
        return f"'{text}'"
    escaped = "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08X}") for c in text)
    return f'"{escaped}"'


def spelled(text: str) -> str:
    """`text` as a plain scalar when that reads back as the same string, else quoted."""
    if _PLAIN.fullmatch(text) and resolve_plain(text) == text:
        return text
    return quoted(text)
