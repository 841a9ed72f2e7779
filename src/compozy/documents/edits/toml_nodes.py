"""Locate the statements and tables of a TOML document that is known to parse (decisions D3).

The syntax was already judged by the TOML library; this scanner only says where things stand (TOML 1.1 included).
Values are nodes like those of YAML's brackets, so one splicer serves both.
"""

from dataclasses import dataclass, field

import rtoml

from compozy.documents.edits.nodes import CannotEdit, Node, Pair, line_start

TomlPath = tuple[str | int, ...]
_BARE_END = frozenset(" \t=.]}\r\n,#")
_VALUE_END = frozenset(",]}\r\n#")
_QUOTES = ('"""', "'''", '"', "'")


@dataclass(frozen=True, slots=True)
class Statement:
    """One `key = value`: `path` from the root, `key` the span of the written (maybe dotted) key."""

    path: TomlPath
    key: Node
    value: Node


@dataclass(slots=True)
class Section:
    """The statements below one header; the first section is the part before any header."""

    path: TomlPath
    start: int
    header_end: int
    is_array: bool = False
    statements: list[Statement] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The end of its last statement or header, without the line break."""
        return self.statements[-1].value.end if self.statements else self.header_end


def locate_toml(text: str, start: int, end: int) -> list[Section]:
    """Return the sections of text[start:end], which must be valid TOML.

    Raises:
        CannotEdit: the scanner does not understand the text.
    """
    return _Scanner(text, start, end).sections()


class _Scanner:
    def __init__(self, text: str, start: int, end: int) -> None:
        self._text = text
        self._at = start
        self._end = end
        self._arrays: dict[TomlPath, int] = {}

    def sections(self) -> list[Section]:
        found = [Section(path=(), start=self._at, header_end=self._at)]
        self._skip(newlines=True)
        while self._at < self._end:
            if self._text[self._at] == "[":
                found.append(self._header())
            else:
                found[-1].statements.append(self._statement(found[-1].path))
            self._skip(newlines=True)
        return found

    def _peek(self) -> str:
        if self._at >= self._end:
            raise CannotEdit("the TOML ends early")
        return self._text[self._at]

    def _expect(self, token: str) -> None:
        if not self._text.startswith(token, self._at, self._end):
            raise CannotEdit(f"the TOML has no {token!r} where one is needed")
        self._at += len(token)

    def _skip(self, *, newlines: bool) -> None:
        blanks = " \t\r\n" if newlines else " \t"
        while self._at < self._end:
            if self._text[self._at] in blanks:
                self._at += 1
            elif newlines and self._text[self._at] == "#":
                found = self._text.find("\n", self._at, self._end)
                self._at = self._end if found < 0 else found
            else:
                return

    def _header(self) -> Section:
        start = self._at
        is_array = self._text.startswith("[[", start)
        self._expect("[[" if is_array else "[")
        self._skip(newlines=False)
        names = [name for name, _, _ in self._keys()]
        self._expect("]]" if is_array else "]")
        path: TomlPath = ()
        for position, name in enumerate(names):
            path = (*path, name)
            if is_array and position == len(names) - 1:
                self._arrays[path] = self._arrays.get(path, -1) + 1
            if path in self._arrays:
                path = (*path, self._arrays[path])
        return Section(path=path, start=line_start(self._text, start), header_end=self._at, is_array=is_array)

    def _keys(self) -> list[tuple[str, int, int]]:
        keys = [self._key()]
        while self._at < self._end and self._text[self._at] == ".":
            self._at += 1
            self._skip(newlines=False)
            keys.append(self._key())
        return keys

    def _key(self) -> tuple[str, int, int]:
        start = self._at
        if self._peek() in "\"'":
            end = self._string_end(self._peek())
            self._at = end
            name = str(_decode(self._text[start:end]))
        else:
            while self._at < self._end and self._text[self._at] not in _BARE_END:
                self._at += 1
            name = self._text[start : self._at]
        end = self._at
        if start == end:
            raise CannotEdit("the TOML has an empty key")
        self._skip(newlines=False)
        return name, start, end

    def _statement(self, table: TomlPath) -> Statement:
        keys = self._keys()
        self._expect("=")
        self._skip(newlines=False)
        key = Node(kind="scalar", start=keys[0][1], end=keys[-1][2])
        return Statement(path=(*table, *(name for name, _, _ in keys)), key=key, value=self._value())

    def _string_end(self, quote: str) -> int:
        at = self._at + len(quote)
        while at < self._end:
            if self._text[at] == "\\" and quote.startswith('"'):
                at += 2
            elif self._text.startswith(quote, at):
                at += len(quote)
                # Up to two more quotes belong to the text of a multi-line string.
                extra = 0
                while len(quote) == 3 and extra < 2 and self._text.startswith(quote[0], at):
                    at, extra = at + 1, extra + 1
                return at
            else:
                at += 1
        raise CannotEdit("a TOML string does not end")

    def _value(self) -> Node:
        start = self._at
        char = self._peek()
        if char == "[":
            return self._array()
        if char == "{":
            return self._inline_table()
        style = next((quote for quote in _QUOTES if self._text.startswith(quote, start)), "")
        if style:
            self._at = self._string_end(style)
        else:
            while self._at < self._end and self._text[self._at] not in _VALUE_END:
                self._at += 1
            while self._text[self._at - 1] in " \t":
                self._at -= 1
        value = _decode(self._text[start : self._at])
        return Node(kind="scalar", start=start, end=self._at, style=style, value=value)

    def _array(self) -> Node:
        start = self._at
        self._expect("[")
        items: list[Node] = []
        self._skip(newlines=True)
        while self._peek() != "]":
            items.append(self._value())
            self._skip(newlines=True)
            if self._peek() == ",":
                self._at += 1
                self._skip(newlines=True)
        self._at += 1
        return Node(kind="seq", start=start, end=self._at, items=tuple(items))

    def _inline_table(self) -> Node:
        start = self._at
        self._expect("{")
        pairs: list[Pair] = []
        fixed = ""
        self._skip(newlines=True)
        while self._peek() != "}":
            keys = self._keys()
            if len(keys) > 1:
                fixed = "an inline table holds a dotted key"
            self._skip(newlines=True)
            self._expect("=")
            self._skip(newlines=True)
            key = Node(kind="scalar", start=keys[0][1], end=keys[-1][2], value=keys[0][0])
            pairs.append(Pair(name=keys[0][0], key=key, value=self._value()))
            self._skip(newlines=True)
            if self._peek() == ",":
                self._at += 1
                self._skip(newlines=True)
        self._at += 1
        return Node(kind="map", start=start, end=self._at, pairs=tuple(pairs), fixed=fixed)


def _decode(text: str) -> object:
    try:
        return rtoml.loads("v = " + text)["v"]
    except rtoml.TomlParsingError as error:
        raise CannotEdit("a TOML value was not understood") from error
