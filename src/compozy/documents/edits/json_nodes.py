"""Locate the values of a JSON text that is known to parse, and write values the way the file does (decisions D3)."""

import json
import re

from compozy.documents.edits.nodes import CannotEdit, Node, Pair, plain
from compozy.documents.limits import MAX_NESTING

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def locate_json(text: str) -> Node:
    """Return the root value of a JSON text; a byte-order mark in front is skipped.

    Raises:
        CannotEdit: the text is no JSON, is nested too deeply, or holds more than one value.
    """
    scanner = _Scanner(text)
    scanner.at = 1 if text.startswith("\ufeff") else 0
    root = scanner.value(0)
    scanner.blanks()
    if scanner.at != len(text):
        raise CannotEdit("text follows the JSON value")
    return root


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def blanks(self) -> None:
        match = _BLANKS.match(self._text, self.at)
        self.at = match.end() if match else self.at

    def value(self, depth: int) -> Node:
        if depth > MAX_NESTING:
            raise CannotEdit("the JSON is nested too deeply")
        self.blanks()
        start = self.at
        char = self._text[start : start + 1]
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._array(depth)
        if char == '"':
            return self._string()
        match = _SCALAR.match(self._text, start)
        if not match:
            raise CannotEdit("the JSON does not parse")
        self.at = match.end()
        return Node(kind="scalar", start=start, end=self.at, value=json.loads(match.group()))

    def _string(self) -> Node:
        start = self.at
        if self._text[start : start + 1] != '"':
            raise CannotEdit("the JSON does not parse")
        try:
            value, self.at = _DECODER.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            raise CannotEdit("the JSON does not parse") from error
        return Node(kind="scalar", start=start, end=self.at, style='"', value=value)

    def _next(self, closing: str, *, first: bool) -> bool:
        """Step to the next member; False when the closing bracket was taken."""
        self.blanks()
        char = self._text[self.at : self.at + 1]
        if char == closing:
            self.at += 1
            return False
        if not first:
            if char != ",":
                raise CannotEdit("the JSON does not parse")
            self.at += 1
            self.blanks()
        return True

    def _object(self, depth: int) -> Node:
        start = self.at
        self.at += 1
        pairs: list[Pair] = []
        while self._next("}", first=not pairs):
            key = self._string()
            self.blanks()
            if self._text[self.at : self.at + 1] != ":":
                raise CannotEdit("the JSON does not parse")
            self.at += 1
            pairs.append(Pair(name=str(key.value), key=key, value=self.value(depth + 1)))
        return Node(kind="map", start=start, end=self.at, pairs=tuple(pairs))

    def _array(self, depth: int) -> Node:
        start = self.at
        self.at += 1
        items: list[Node] = []
        while self._next("]", first=not items):
            items.append(self.value(depth + 1))
        return Node(kind="seq", start=start, end=self.at, items=tuple(items))


class JsonDialect:
    """JSON values: indented like the rest of the file, or on one line where the file is."""

    comments = False

    def __init__(self, text: str) -> None:
        indented = re.search(r"\n([ \t]+)[^\s]", text)
        self._unit = indented.group(1) if indented else ""
        self._colon = ":" if re.search(r'":[^\s]', text) and not re.search(r'":\s', text) else ": "
        self._comma = "," if self._colon == ":" else ", "

    def render(self, value: object, like: Node | None, indent: str, line_break: str) -> str:
        value = plain(value)
        if not self._unit or not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=False, separators=(self._comma, self._colon))
        if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
            return json.dumps(value, ensure_ascii=False, separators=(", ", self._colon))
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit, separators=(",", self._colon)).split("\n")
        return line_break.join([lines[0], *(indent + line for line in lines[1:])])

    def render_key(self, name: str, like: Pair | None) -> str:
        return json.dumps(name, ensure_ascii=False) + self._colon

    def data(self, value: object) -> object:
        return plain(value)
