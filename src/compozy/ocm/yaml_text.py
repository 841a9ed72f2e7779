"""YAML streams by the 1.2 core schema: values, problems of the text, and places (decisions O1, O2, O6, D11).

All documents of a stream are read; only the core schema's own tags count; `<<` and repeated keys are refused; a value
that YAML 1.1 would read differently is a warning with the spelling that both read alike.
"""

from collections import Counter

from yaml.error import YAMLError
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from compozy.documents.limits import MAX_EXPANDED_NODES, MAX_NESTING, MAX_PROBLEMS
from compozy.documents.problems import Path, Span
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
from compozy.model.diagnostic import Severity
from compozy.ocm.places import field_of
from compozy.ocm.problems import Problem, TextProblem
from compozy.ocm.writing import json_key
from compozy.ocm.yaml_core import LONGEST_WORD, NUMBER_START, meaning_in_yaml_11, number_of, resolve, spelled_for_both

_SCALAR_TAGS = {STANDARD_TAG + name: name for name in ("str", "int", "float", "bool", "null")}
_COLLECTION_TAGS = {STANDARD_TAG + "map": MappingNode, STANDARD_TAG + "seq": SequenceNode}
# Tags of YAML 1.1 whose content is an ordinary collection: read as that, with a warning.
_OLD_COLLECTION_TAGS = tuple(STANDARD_TAG + name for name in ("omap", "pairs", "set"))
# Keys can be of any length, and every problem below one names it.
_LONGEST_FIELD = 2_400
_SYNTAX_CODES = {"nesting-too-deep": "too-large", "too-many-aliases": "too-large"}


class YamlText:
    """The documents of one stream. `values[i]` is the i-th document, `problems` what is wrong with the text.

    It offers `Places` for each document: paths begin with the document's number.
    """

    def __init__(self, text: str) -> None:
        """Read a stream; never raises for what it holds."""
        self.values: list[object] = []
        self.problems: list[TextProblem] = []
        self.is_broken = False
        self._base = 1 if text.startswith("\ufeff") else 0
        text = text[self._base :]
        self._restore: dict[int, str] | None = None
        if TRAPS.search(text):
            text, self._restore = disguise(text)
        self.text = text
        self.roots: list[Node] = []
        self._noted: Counter[Severity] = Counter()
        self._pairs: dict[int, dict[str, tuple[Node, Node]]] = {}
        self._known: dict[int, object] = {}
        self._open: set[int] = set()
        self._document = 0
        try:
            self._read()
        except YamlProblem as problem:
            self._refuse(problem)

    def _read(self) -> None:
        check_depth(self.text, whole_stream=True)
        roots = self._compose()
        # An empty document after `---` is no document; a stream of nothing holds one null.
        self.roots = [root for root in roots if not _is_empty(root)] or roots[:1]
        may_repeat = "*" in self.text and ALIAS.search(self.text) is not None
        for index, root in enumerate(self.roots):
            self._document = index
            if may_repeat and expanded_size_bounded(root) > MAX_EXPANDED_NODES:
                raise YamlProblem("aliases repeat too much content", span_of(root), code="too-many-aliases")
            self.values.append(self._convert(root, ()))
        if not self.roots:
            self.values.append(None)

    def _compose(self) -> list[Node]:
        roots: list[Node] = []
        try:
            parser = Composer(self.text)
            while parser.check_node():
                node = parser.get_node()
                if node is not None:
                    roots.append(node)
        except YAMLError as error:
            raise fault(error, self.text) from None
        return roots

    def _refuse(self, problem: YamlProblem) -> None:
        self.is_broken = True
        self.values = []
        code = _SYNTAX_CODES.get(problem.code, "syntax")
        found = Problem(code=code, field="", message=f"not readable as YAML: {problem.message}")
        self.problems = [TextProblem(problem=found, document=-1, span=self._moved(problem.span))]

    def _moved(self, span: Span) -> Span:
        return span[0] + self._base, span[1] + self._base

    def _note(
        self,
        code: str,
        path: Path,
        message: str,
        node: Node,
        suggestion: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        # Counted apart: however many warnings there are, none may hide an error.
        if self._noted[severity] > MAX_PROBLEMS:
            return
        self._noted[severity] += 1
        field = field_of(path)[:_LONGEST_FIELD]
        problem = Problem(code=code, field=field, message=message, suggestion=suggestion, severity=severity)
        self.problems.append(
            TextProblem(problem=problem, document=self._document, span=self._moved(self._place(node)))
        )

    def _convert(self, node: Node, path: Path) -> object:
        """The value of a node; shared nodes (aliases) are converted once and share their value."""
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        identity = id(node)
        if identity in self._known:
            return self._known[identity]
        if identity in self._open:
            raise YamlProblem("an anchor contains itself", span_of(node))
        if len(self._open) >= MAX_NESTING:
            raise YamlProblem(TOO_DEEP, span_of(node), code="nesting-too-deep")
        self._open.add(identity)
        if node.tag and isinstance(node, CollectionNode):
            self._check_collection_tag(node, path)
        value: object
        if isinstance(node, SequenceNode):
            value = [self._child(child, path, i) for i, child in enumerate(node.value)]
        else:
            value = self._mapping(node, path)
        self._open.discard(identity)
        self._known[identity] = value
        return value

    def _child(self, node: Node, path: Path, step: str | int) -> object:
        # The path of a scalar is needed only when there is something to say about it: most values are plain words.
        if type(node) is ScalarNode and not node.tag and self._restore is None:
            text: str = node.value
            if node.style or (len(text) > LONGEST_WORD and text[0] not in NUMBER_START):
                return text
        return self._convert(node, (*path, step))

    def _mapping(self, node: Node, path: Path) -> dict[object, object]:
        result: dict[object, object] = {}
        # How keys that are no text are spelled in JSON: what is one key there cannot be two here.
        spelled: set[str] = set()
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise YamlProblem("a key must be plain text, not a list or mapping", span_of(key_node))
            if key_node.value == "<<" and not key_node.style and not key_node.tag:
                message = "merge keys (<<) are not part of YAML 1.2; write the fields out"
                self._note("merge-key", (*path, "<<"), message, key_node)
                continue
            key = self._scalar(key_node, path, is_key=True)
            name = key if isinstance(key, str) else json_key(key)
            if name in result or name in spelled:
                self._note("duplicate-key", (*path, name), self._repeated(node, key_node, name), key_node)
                continue
            if name is not key:
                spelled.add(name)
                # 1 and true are two keys of YAML and one of Python: the later keeps its spelling.
                key = name if key in result else key
            result[key] = self._child(value_node, path, name)
        return result

    def _repeated(self, node: Node, second: Node, name: str) -> str:
        first = self._named(node).get(name, (second, second))[0]
        lines = f"lines {first.start_mark.line + 1} and {second.start_mark.line + 1}"
        return f"the key {name[:80]!r} is written twice ({lines}); keep one"

    def _scalar(self, node: ScalarNode, path: Path, *, is_key: bool = False) -> str | bool | int | float | None:
        text: str = node.value
        if self._restore is not None:
            text = text.translate(self._restore)
        if node.tag and node.tag != "!":
            return self._tagged(node, text, path)
        if node.style or node.tag or (len(text) > LONGEST_WORD and text[0] not in NUMBER_START):
            return text
        value = resolve(text)
        other = meaning_in_yaml_11(text, value)
        if other:
            spelling = spelled_for_both(text, value)
            message = f"the unquoted {text[:60]} is {other} for YAML 1.1 tools: write {spelling[:80]}"
            place = (*path, text) if is_key else path
            self._note("yaml-1.1", place, message, node, spelling, Severity.WARNING)
        return value

    def _tagged(self, node: ScalarNode, text: str, path: Path) -> str | bool | int | float | None:
        name = _SCALAR_TAGS.get(node.tag)
        if name == "str":
            return text
        if name is None:
            self._note("tag", path, f"the tag {_tag_name(node.tag)} is not part of the core schema", node)
            return text
        value: object = resolve(text) if name in ("bool", "null") else number_of(text)
        if name == "float" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value) if abs(value) < 10**308 else float("inf")
        wanted = {"int": int, "float": float, "bool": bool, "null": type(None)}[name]
        if type(value) is not wanted:
            self._note("tag", path, f"{text[:60]!r} is no value for the tag !!{name}", node)
            return text
        assert value is None or isinstance(value, bool | int | float)
        return value

    def _check_collection_tag(self, node: CollectionNode, path: Path) -> None:
        if node.tag == "!" or isinstance(node, _COLLECTION_TAGS.get(node.tag, ())):
            return
        if node.tag in _OLD_COLLECTION_TAGS:
            message = f"the tag {_tag_name(node.tag)} of YAML 1.1 is ignored: its content is read as it stands"
            self._note("tag", path, message, node, severity=Severity.WARNING)
            return
        self._note("tag", path, f"the tag {_tag_name(node.tag)} is not part of the core schema", node)

    def _place(self, node: Node) -> Span:
        start, end = span_of(node)
        if isinstance(node, CollectionNode) and not node.flow_style:
            end = start + len(self.text[start:end].rstrip())
        return start, end

    def _entry(self, path: Path) -> tuple[Node | None, Node] | None:
        """The key node (None in a list) and value node at a path that begins with the document's number."""
        if not path or not isinstance(path[0], int) or path[0] >= len(self.roots):
            return None
        found: tuple[Node | None, Node] = (None, self.roots[path[0]])
        for step in path[1:]:
            node = found[1]
            if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
                found = (None, node.value[step])
                continue
            if not isinstance(node, MappingNode):
                return None
            pair = self._named(node).get(str(step))
            if pair is None:
                return None
            found = pair
        return found

    def _named(self, node: Node) -> dict[str, tuple[Node, Node]]:
        """The entries of a mapping by every spelling of their keys; made once, as many problems may lie in one."""
        known = self._pairs.get(id(node))
        if known is None:
            known = self._pairs[id(node)] = {}
            for key, value in node.value:
                if isinstance(key, ScalarNode):
                    text: str = key.value if self._restore is None else key.value.translate(self._restore)
                    known.setdefault(text, (key, value))
                    if not key.style:
                        meant = resolve(text)
                        known.setdefault(str(meant), (key, value))
                        known.setdefault(json_key(meant), (key, value))
        return known

    def key_span(self, path: Path) -> Span | None:
        """The key of the entry at `path`; in a list, the element."""
        entry = self._entry(path)
        return None if entry is None else self._moved(self._place(entry[0] or entry[1]))

    def value_span(self, path: Path) -> Span | None:
        """The value at `path`."""
        entry = self._entry(path)
        return None if entry is None else self._moved(self._place(entry[1]))


def expanded_size_bounded(root: Node) -> int:
    """Return the size with aliases written out; an anchor that contains itself counts as too large."""
    try:
        return expanded_size(root, {})
    except RecursionError:
        raise YamlProblem("an anchor contains itself", span_of(root)) from None


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.value and not node.style and not node.tag


def _tag_name(tag: str) -> str:
    return "!!" + tag.removeprefix(STANDARD_TAG) if tag.startswith(STANDARD_TAG) else tag[:80]
