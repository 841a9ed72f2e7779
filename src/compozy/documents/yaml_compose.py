"""Composing YAML text to nodes with marks, safely: limits first, faults with their place (decisions D11).

Shared by every YAML reader of ours; what a scalar means is decided by them. Knows no schema and no field.
"""

import re
from collections.abc import Iterator

from yaml._yaml import CParser
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, DocumentEndEvent
from yaml.nodes import Node, ScalarNode
from yaml.reader import ReaderError

from compozy.documents.limits import MAX_ALIASES, MAX_NESTING
from compozy.documents.problems import Span

STANDARD_TAG = "tag:yaml.org,2002:"
# Characters libyaml takes for something else than text: it drops a first U+FEFF, breaks lines at U+0085 and
# U+2028/9, and refuses U+007F. They travel as private-use characters.
TRAPS = re.compile("[\ufeff\x85\u2028\u2029\x7f]")
# What YAML calls not printable.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x80-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# More structure characters than this and the nesting is measured before the recursive composer sees the text.
_SAFE_DEPTH = MAX_NESTING - 4
TOO_DEEP = f"nested deeper than {MAX_NESTING} levels"
_BLOCK_LEAD = re.compile(r"^[ \-?:]*", re.MULTILINE)
# What a node takes in memory anyway; one long text repeated a thousand times is a bomb too.
_TEXT_OF_A_NODE = 32
ALIAS = re.compile(r"(?:^|[\s\[{,])\*[0-9A-Za-z_-]")


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


class Composer(CParser):
    """The C composer without tag resolution: plain scalars stay text."""

    def resolve(self, _kind: type, _value: object, _implicit: object) -> str:
        return ""

    def descend_resolver(self, _parent: object, _index: object) -> None:
        return None

    def ascend_resolver(self) -> None:
        return None


def disguise(text: str) -> tuple[str, dict[int, str]]:
    """Replace the trap characters by private-use ones that the text does not hold; the table turns them back."""
    restore: dict[int, str] = {}
    spare = iter(range(0x10FF00, 0x10FFF0))
    table: dict[int, str] = {}
    for trap in "\ufeff\x85\u2028\u2029\x7f":
        mark = next(code for code in spare if chr(code) not in text)
        restore[mark] = trap
        table[ord(trap)] = chr(mark)
    return text.translate(table), restore


def fault(error: YAMLError, text: str) -> YamlProblem:
    """Say what the parser refused, with its place."""
    if isinstance(error, ReaderError):
        # The error counts bytes, or not at all; the character itself is easy to find.
        found = CONTROL.search(text)
        if found is None:
            return YamlProblem(str(error.reason), (0, 0))
        return YamlProblem(f"control character U+{ord(found.group()):04X} is not allowed", found.span())
    if not isinstance(error, MarkedYAMLError):
        return YamlProblem(str(error), (0, 0))
    mark = error.problem_mark or error.context_mark
    at = mark.index if mark is not None else 0
    context = error.context_mark.index if error.context_mark is not None else None
    words = " ".join(part for part in (error.context, error.problem) if part)
    if "nesting depth" in words:
        # libyaml's own limit is far above ours, but it scans ahead.
        return YamlProblem(TOO_DEEP, (at, at), code="nesting-too-deep")
    return YamlProblem(words, (at, at), context=context)


def span_of(node: Node) -> Span:
    start: int = node.start_mark.index
    end: int = node.end_mark.index
    return start, max(start, end)


def expanded_size(node: Node, known: dict[int, int]) -> int:
    """How many nodes a tree has once every alias is written out; long texts count as several."""
    if isinstance(node, ScalarNode):
        return 1 + len(node.value) // _TEXT_OF_A_NODE
    identity = id(node)
    if identity not in known:
        size = 1
        for child in node.value:
            parts = child if isinstance(child, tuple) else (child,)
            size += sum(expanded_size(part, known) for part in parts)
        known[identity] = size
    return known[identity]


def check_depth(text: str, *, whole_stream: bool = False) -> None:
    """Refuse deep nesting and alias floods before the recursive composer sees them (decisions D11)."""
    if text.count("*") > MAX_ALIASES and len(ALIAS.findall(text)) > MAX_ALIASES:
        _count_aliases(text, whole_stream)
    brackets = text.count("[") + text.count("{")
    lead = max(len(match) for match in _BLOCK_LEAD.findall(text)) if brackets < _SAFE_DEPTH else 0
    if brackets + lead < _SAFE_DEPTH:
        return
    depth = 0
    for kind, index in _events(text, whole_stream):
        if kind == "open":
            depth += 1
            if depth > MAX_NESTING:
                raise YamlProblem(TOO_DEEP, (index, index + 1), code="nesting-too-deep")
        elif kind == "close":
            depth -= 1


def _count_aliases(text: str, whole_stream: bool) -> None:
    count = 0
    for kind, index in _events(text, whole_stream):
        count += kind == "alias"
        if count > MAX_ALIASES:
            raise YamlProblem(f"more than {MAX_ALIASES} aliases", (index, index + 1), code="too-many-aliases")


def _events(text: str, whole_stream: bool) -> Iterator[tuple[str, int]]:
    """The parse events of the first document or the stream, without recursion; ends quietly at broken text."""
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
            elif isinstance(event, DocumentEndEvent) and not whole_stream:
                return
    except YAMLError:
        return
