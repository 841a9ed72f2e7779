"""Locate the values of a YAML mapping: the C parser's marks turned into nodes (decisions D3, design §2).

Marks of indented collections reach to the next token; nodes end with their own content. What cannot be cut out
safely (aliases, anchors, tags, merge keys) is marked `fixed` with the reason.
"""

import re
from collections.abc import Callable

import yaml

from compozy.documents.edits.nodes import CannotEdit, Node, Pair
from compozy.documents.limits import MAX_NESTING

# Line breaks that YAML 1.1 parsers count and editors do not: offsets of lines would be ambiguous.
_ODD_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_ANCHOR = re.compile(r"&[^\s,\[\]{}]+[ \t]+(?=[^\s&!#])")

ScalarText = Callable[[str], str]


def locate_yaml(text: str, start: int, end: int, scalar_value: ScalarText) -> Node | None:
    """Return the root mapping of text[start:end] with offsets in `text`, or None when the part is empty.

    Raises:
        CannotEdit: the part is no YAML mapping, or is too deep or too odd to be edited by lines.
    """
    part = text[start:end]
    if _ODD_BREAKS.search(part):
        raise CannotEdit("the header holds unusual line breaks")
    try:
        loader = yaml.CSafeLoader(part)
        # Only the first document counts (formats §3.3).
        root = loader.get_node() if loader.check_node() else None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise CannotEdit(f"the YAML does not parse: {_first_line(error)}") from error
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        raise CannotEdit("the header is not a mapping")
    return _Builder(text, start, scalar_value).build(root)


def _first_line(error: Exception) -> str:
    problem = getattr(error, "problem", None)
    return str(problem or error).splitlines()[0]


class _Builder:
    def __init__(self, text: str, offset: int, scalar_value: ScalarText) -> None:
        self._text = text
        self._offset = offset
        self._scalar_value = scalar_value
        self._visits: dict[int, int] = {}

    def build(self, root: yaml.Node) -> Node:
        self._count(root, 0)
        return self._node(root, inside_brackets=False)

    def _count(self, node: yaml.Node, depth: int) -> None:
        """Count how often each node is reached: more than once means an alias."""
        if depth > MAX_NESTING:
            raise CannotEdit("the header is nested too deeply")
        seen = self._visits[id(node)] = self._visits.get(id(node), 0) + 1
        if seen > 1:
            return
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                self._count(key, depth + 1)
                self._count(value, depth + 1)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self._count(item, depth + 1)

    def _fixed(self, node: yaml.Node) -> str:
        if self._visits[id(node)] > 1:
            return "an alias shares the value"
        first = self._text[self._start(node) : self._start(node) + 1]
        return "an anchor or tag belongs to the value" if first in ("&", "!") else ""

    def _start(self, node: yaml.Node) -> int:
        """Return where the value's own text begins: behind an anchor that nothing refers to."""
        start = self._offset + int(node.start_mark.index)
        anchor = _ANCHOR.match(self._text, start)
        return anchor.end() if anchor and self._visits[id(node)] == 1 else start

    def _node(self, node: yaml.Node, *, inside_brackets: bool) -> Node:
        start = self._start(node)
        end = self._offset + node.end_mark.index
        fixed = self._fixed(node)
        if self._visits[id(node)] > 1 and not isinstance(node, yaml.ScalarNode):
            # Descending through aliases could take for ever; the value must stay whole anyway.
            return Node(kind="scalar", start=start, end=end, fixed=fixed, value="")
        if isinstance(node, yaml.ScalarNode):
            style = node.style or ""
            value = self._scalar_value(node.value) if not style else node.value
            if style in ("|", ">"):
                end = self._block_scalar_end(start, end)
            return Node(kind="scalar", start=start, end=end, style=style, value=value, fixed=fixed,
                        bare=not inside_brackets)  # fmt: skip
        assert isinstance(node, yaml.CollectionNode)
        flow = bool(node.flow_style)
        inner = inside_brackets or flow
        if isinstance(node, yaml.MappingNode):
            pairs = tuple(
                Pair(
                    name=key.value if isinstance(key, yaml.ScalarNode) else "",
                    key=self._node(key, inside_brackets=inner),
                    value=self._node(value, inside_brackets=inner),
                )
                for key, value in node.value
            )
            if len({pair.name for pair in pairs}) != len(pairs):
                raise CannotEdit("a key is written twice")
            if any(pair.name == "<<" for pair in pairs):
                fixed = fixed or "a merge key brings part of the value"
            last = max((max(pair.key.end, pair.value.end) for pair in pairs), default=end)
            return Node(kind="map", start=start, end=end if flow else last, flow=flow, pairs=pairs, fixed=fixed)
        items = tuple(self._node(item, inside_brackets=inner) for item in node.value)
        last = max((item.end for item in items), default=end)
        return Node(kind="seq", start=start, end=end if flow else last, flow=flow, items=items, fixed=fixed)

    def _block_scalar_end(self, start: int, end: int) -> int:
        """Return the end of a block scalar's last line, without the line break; `+` keeps its blank lines."""
        header = self._text[start : self._text.find("\n", start) if "\n" in self._text[start:] else None]
        content = self._text[start:end]
        if "+" in header.split("#")[0]:
            return start + len(content.rstrip("\r\n")) if not content.endswith("\n") else end - 1
        return start + len(content.rstrip())
