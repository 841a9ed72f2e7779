"""Where everything lies in a TOML text: a light scanner beside rtoml, which gives no places (decisions D5).

Asked only when there is something to report. It trusts that the text parses, stops quietly where it does not, and
notes keys defined twice on its way. Knows no field.
"""

import re

from compozy.documents.limits import MAX_NESTING
from compozy.documents.placed import entry_at
from compozy.documents.problems import Fix, Path, Span

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_INLINE_BLANK = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^\\]|\\.)*?"""+', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''.*?'''+", re.DOTALL)
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}[^\s,\]}#]*")
_WORD = re.compile(r"[^\s,\]}#]+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))")
_SHORT = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class _Node:
    """A value or table: members with the spans of their keys, items of an array; `open` ones may still grow."""

    __slots__ = ("end", "is_list", "items", "members", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.is_list = False
        self.members: dict[str, tuple[Span, _Node]] = {}
        self.items: list[_Node] = []


class _Lost(Exception):
    """The scanner met text it does not understand."""


class TomlPlaces:
    """Places of keys and values in a TOML text; it is a `Locator`.

    Spans count from `base` characters before the text. `repeated` lists keys defined twice: first and second span of
    the key, and the spans of both values.
    """

    def __init__(self, text: str, *, base: int = 0) -> None:
        self._text = text
        self._base = base
        self._at = 1 if text.startswith("\ufeff") else 0
        self._depth = 0
        self._root = _Node(self._at, self._at)
        self.repeated: list[tuple[Span, Span, Span, Span]] = []
        try:
            self._document()
        except _Lost:
            pass

    def key_span(self, path: Path) -> Span | None:
        """The key of the entry at `path`; in an array, the element or its table header."""
        found = self._entry(path)
        if found is None:
            return None
        key, node = found
        return self._shift(key or (node.start, node.end))

    def value_span(self, path: Path) -> Span | None:
        """The value at `path`; of a table with a header, the header."""
        found = self._entry(path)
        return None if found is None else self._shift((found[1].start, found[1].end))

    def edits(self, path: Path, fix: Fix) -> tuple[tuple[int, int, str], ...]:
        """The text edits of a fix."""
        found = self._entry(path)
        if found is None:
            return ()
        key, node = found
        start, end = self._shift((node.start, node.end))
        if fix.kind == "rename_key" and key is not None:
            return ((*self._shift(key), fix.text if _BARE_KEY.fullmatch(fix.text) else quoted(fix.text)),)
        if fix.kind == "set_value":
            return ((start, end, quoted(fix.text)),)
        if fix.kind == "set_literal":
            return ((start, end, fix.text),)
        if fix.kind == "set_list":
            return ((start, end, "[" + ", ".join(quoted(item) for item in fix.items) + "]"),)
        if fix.kind == "drop" and key is not None:
            return self.drop(key, (node.start, node.end))
        return ()

    def drop(self, key: Span, value: Span) -> tuple[tuple[int, int, str], ...]:
        """The edit that removes an assignment which has its lines for itself."""
        line_start = self._text.rfind("\n", 0, key[0]) + 1
        line_end = self._text.find("\n", value[1])
        line_end = len(self._text) if line_end < 0 else line_end + 1
        rest = self._text[value[1] : line_end].strip()
        if self._text[line_start : key[0]].strip() or (rest and not rest.startswith("#")):
            return ()
        return ((line_start + self._base, line_end + self._base, ""),)

    def _shift(self, span: Span) -> Span:
        return span[0] + self._base, span[1] + self._base

    def _entry(self, path: Path) -> tuple[Span | None, _Node] | None:
        return entry_at(self._root, path)

    def _document(self) -> None:
        table = self._root
        while True:
            self._skip(_BLANK)
            if self._at >= len(self._text):
                return
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._assignment(table)

    def _header(self) -> _Node:
        start = self._at
        double = self._text.startswith("[[", start)
        self._at += 2 if double else 1
        keys = self._keys()
        self._expect("]]" if double else "]")
        span = (start, self._at)
        parent = self._descend(self._root, keys[:-1])
        name, key = keys[-1]
        existing = parent.members.get(name)
        if not double:
            if existing is None:
                parent.members[name] = (key, _Node(*span))
            return self._inner(parent.members[name][1])
        if existing is None:
            array = _Node(*span)
            array.is_list = True
            parent.members[name] = (key, array)
        array = parent.members[name][1]
        element = _Node(*span)
        array.items.append(element)
        return element

    def _inner(self, node: _Node) -> _Node:
        """A header that names an array means its last element."""
        return node.items[-1] if node.is_list and node.items else node

    def _descend(self, node: _Node, keys: list[tuple[str, Span]]) -> _Node:
        for name, key in keys:
            if name not in node.members:
                node.members[name] = (key, _Node(*key))
            node = self._inner(node.members[name][1])
        return node

    def _assignment(self, table: _Node) -> None:
        keys = self._keys()
        self._expect("=")
        self._skip(_INLINE_BLANK)
        value = self._value()
        parent = self._descend(table, keys[:-1])
        name, key = keys[-1]
        first = parent.members.get(name)
        if first is None:
            parent.members[name] = (key, value)
        else:
            node = first[1]
            self.repeated.append((first[0], key, (node.start, node.end), (value.start, value.end)))

    def _keys(self) -> list[tuple[str, Span]]:
        keys = [self._key()]
        while True:
            self._skip(_INLINE_BLANK)
            if self._text[self._at : self._at + 1] != ".":
                return keys
            self._at += 1
            keys.append(self._key())

    def _key(self) -> tuple[str, Span]:
        self._skip(_INLINE_BLANK)
        start = self._at
        for pattern in (_BARE_KEY, _BASIC, _LITERAL):
            match = pattern.match(self._text, start)
            if match is not None:
                self._at = match.end()
                word = match.group()
                if pattern is _BASIC:
                    word = _unescape(word[1:-1])
                elif pattern is _LITERAL:
                    word = word[1:-1]
                return word, (start, self._at)
        raise _Lost

    def _value(self) -> _Node:
        start = self._at
        character = self._text[start : start + 1]
        if character in ("[", "{"):
            self._depth += 1
            if self._depth > MAX_NESTING:
                raise _Lost
            node = self._array() if character == "[" else self._inline_table()
            self._depth -= 1
            return node
        patterns = (_LONG_BASIC, _LONG_LITERAL, _BASIC, _LITERAL, _DATE_TIME, _WORD)
        for pattern in patterns:
            match = pattern.match(self._text, start)
            if match is not None:
                self._at = match.end()
                return _Node(start, self._at)
        raise _Lost

    def _array(self) -> _Node:
        node = _Node(self._at, self._at)
        node.is_list = True
        self._at += 1
        while True:
            self._skip(_BLANK)
            if self._text[self._at : self._at + 1] == "]":
                break
            node.items.append(self._value())
            self._skip(_BLANK)
            if self._text[self._at : self._at + 1] == ",":
                self._at += 1
        self._at += 1
        node.end = self._at
        return node

    def _inline_table(self) -> _Node:
        node = _Node(self._at, self._at)
        self._at += 1
        while True:
            self._skip(_BLANK)
            if self._text[self._at : self._at + 1] == "}":
                break
            self._assignment(node)
            self._skip(_BLANK)
            if self._text[self._at : self._at + 1] == ",":
                self._at += 1
        self._at += 1
        node.end = self._at
        return node

    def _expect(self, words: str) -> None:
        self._skip(_INLINE_BLANK)
        if not self._text.startswith(words, self._at):
            raise _Lost
        self._at += len(words)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        if match is not None:
            self._at = match.end()


def quoted(text: str) -> str:
    """A TOML basic string on one line."""
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08X}") for c in text) + '"'


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: _SHORT.get(m[4], m[4]) if m[4] else chr(int(m[1] or m[2] or m[3], 16)), text)
