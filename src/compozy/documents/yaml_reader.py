"""YAML text to plain values, with a way back to every place (formats §3.3).

PyYAML's C parser composes nodes with marks; resolving scalars, merge keys, duplicates and limits are ours. Only the
first document counts. Knows no field: what a value should have been is decided by `decoding`.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from yaml._yaml import CParser
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, DocumentEndEvent
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from compozy.documents.limits import MAX_ALIASES, MAX_EXPANDED_NODES, MAX_NESTING, MAX_PROBLEMS
from compozy.documents.problems import Fix, Path, Problem, Span
from compozy.documents.text import same_field, shown
from compozy.documents.yaml_scalars import resolve_plain

# Characters libyaml takes for something else than text: it drops a first U+FEFF, breaks lines at U+0085 and
# U+2028/9, and refuses U+007F. They travel as private-use characters.
_TRAPS = re.compile("[\ufeff\x85\u2028\u2029\x7f]")
# What YAML calls not printable.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x80-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# More structure characters than this and the nesting is measured before the recursive composer sees the text.
_SAFE_DEPTH = MAX_NESTING - 4
_TOO_DEEP = f"nested deeper than {MAX_NESTING} levels"
_BLOCK_LEAD = re.compile(r"^[ \-?:]*", re.MULTILINE)
_DOCUMENT_END = re.compile(r"^\.\.\.\s", re.MULTILINE)
_ALIAS = re.compile(r"(?:^|[\s\[{,])\*[0-9A-Za-z_-]")
_STANDARD_TAG = "tag:yaml.org,2002:"
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
# Text that needs no quotes in block and flow style alike; everything else is quoted.
_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+*-]*")


class MergedMapping(dict[str, object]):
    """A mapping with `<<`: `overridden` are keys both merged and written here, an error in records only."""

    overridden: tuple[str, ...] = ()


class YamlProblem(Exception):
    """The text cannot be read as YAML; `span` counts from the start of the text given."""

    def __init__(
        self, message: str, span: Span, *, code: str = "frontmatter-decode", context: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.code = code
        self.context = context


class _Composer(CParser):
    """The C composer without tag resolution: plain scalars stay text."""

    def resolve(self, _kind: type, _value: object, _implicit: object) -> str:
        return ""

    def descend_resolver(self, _parent: object, _index: object) -> None:
        return None

    def ascend_resolver(self) -> None:
        return None


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
        if _TRAPS.search(text):
            text = self._disguise(text)
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
            if "*" in text and _ALIAS.search(text) and _expanded_size(self.root, {}) > MAX_EXPANDED_NODES:
                raise YamlProblem("aliases repeat too much content", _span(self.root), code="too-many-aliases")

    def _disguise(self, text: str) -> str:
        """Replace the trap characters by private-use ones that the text does not hold."""
        restore: dict[int, str] = {}
        spare = iter(range(0x10FF00, 0x10FFF0))
        table: dict[int, str] = {}
        for trap in "\ufeff\x85\u2028\u2029\x7f":
            mark = next(code for code in spare if chr(code) not in text)
            restore[mark] = trap
            table[ord(trap)] = chr(mark)
        self._restore = restore
        return text.translate(table)

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
            if node.tag == _STANDARD_TAG + "str":
                return text
            return resolve_plain(text)
        identity = id(node)
        if identity in self._values:
            return self._values[identity]
        if identity in self._open:
            raise YamlProblem("an anchor contains itself", _span(node))
        if len(self._open) >= MAX_NESTING:
            raise YamlProblem(_TOO_DEEP, _span(node), code="nesting-too-deep")
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
                    "a key must be plain text, not a list or mapping", _span(key_node), code="type-mismatch"
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
                    raise YamlProblem("`<<` merges mappings only", _span(source), code="type-mismatch")
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
        start, end = _span(node)
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


def _expanded_size(node: Node, known: dict[int, int]) -> int:
    """How many nodes a tree has once every alias is written out."""
    if isinstance(node, ScalarNode):
        return 1
    identity = id(node)
    if identity not in known:
        size = 1
        for child in node.value:
            parts = child if isinstance(child, tuple) else (child,)
            size += sum(_expanded_size(part, known) for part in parts)
        known[identity] = size
    return known[identity]


def _is_merge(key: Node) -> bool:
    return isinstance(key, ScalarNode) and key.value == "<<" and not key.style


def _span(node: Node) -> Span:
    start: int = node.start_mark.index
    end: int = node.end_mark.index
    return start, max(start, end)


def _compose(text: str) -> Node | None:
    """Compose the first document.

    Raises:
        YamlProblem: at the parser's own place.
    """
    if "%" in text:
        _refuse_directive(text)
    _check_depth(text)
    try:
        parser = _Composer(text)
        root: Node | None = parser.get_node() if parser.check_node() else None
        if isinstance(root, CollectionNode):
            _refuse_rest(parser, text)
        return root
    except ReaderError as error:
        # The error counts bytes, or not at all; the character itself is easy to find.
        found = CONTROL.search(text)
        if found is None:
            raise YamlProblem(str(error.reason), (0, 0)) from None
        raise YamlProblem(f"control character U+{ord(found.group()):04X} is not allowed", found.span()) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = mark.index if mark is not None else 0
        context = error.context_mark.index if error.context_mark is not None else None
        words = " ".join(part for part in (error.context, error.problem) if part)
        if "nesting depth" in words:
            # libyaml's own limit is far above ours, but it scans ahead.
            raise YamlProblem(_TOO_DEEP, (at, at), code="nesting-too-deep") from None
        raise YamlProblem(words, (at, at), context=context) from None
    except YAMLError as error:
        raise YamlProblem(str(error), (0, 0)) from None


def _refuse_rest(parser: _Composer, text: str) -> None:
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


def _check_depth(text: str) -> None:
    """Refuse deep nesting and alias floods before the recursive composer sees them (decisions D11)."""
    if text.count("*") > MAX_ALIASES and len(_ALIAS.findall(text)) > MAX_ALIASES:
        _count_aliases(text)
    brackets = text.count("[") + text.count("{")
    lead = max(len(match) for match in _BLOCK_LEAD.findall(text)) if brackets < _SAFE_DEPTH else 0
    if brackets + lead < _SAFE_DEPTH:
        return
    depth = 0
    for kind, index in _events(text):
        if kind == "open":
            depth += 1
            if depth > MAX_NESTING:
                raise YamlProblem(_TOO_DEEP, (index, index + 1), code="nesting-too-deep")
        elif kind == "close":
            depth -= 1


def _count_aliases(text: str) -> None:
    count = 0
    for kind, index in _events(text):
        count += kind == "alias"
        if count > MAX_ALIASES:
            raise YamlProblem(f"more than {MAX_ALIASES} aliases", (index, index + 1), code="too-many-aliases")


def _events(text: str) -> Iterator[tuple[str, int]]:
    """The parse events of the first document, without recursion; ends quietly where the text is broken."""
    parser = CParser(text)
    try:
        while parser.check_event():
            event = parser.get_event()
            if event is None or event.start_mark is None:
                return
            index = event.start_mark.index
            if isinstance(event, CollectionStartEvent):
                yield "open", index
            elif isinstance(event, CollectionEndEvent):
                yield "close", index
            elif isinstance(event, AliasEvent):
                yield "alias", index
            elif isinstance(event, DocumentEndEvent):
                return
    except YAMLError:
        return


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
