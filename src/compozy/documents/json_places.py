"""JSON with places, for texts the quick reader refused and for problems in their values (decisions D5, D10).

Goes on after what can be mended (comments, trailing or missing commas, a byte-order mark), so that one run shows all
of it. Knows no field.
"""

import json
import re
from bisect import bisect_left

from compozy.documents.limits import MAX_NESTING, MAX_PROBLEMS
from compozy.documents.placed import entry_at
from compozy.documents.problems import Fix, Path, Problem, Span
from compozy.documents.text import shown

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[^\s\[\]{},:\"]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_LITERALS: dict[str, object] = {"true": True, "false": False, "null": None}
_BOM = "\ufeff"


class _Node:
    """A value with its span; `members` of an object, `items` of a list."""

    __slots__ = ("end", "items", "members", "start", "value")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.value: object = None
        self.members: dict[str, tuple[Span, _Node]] = {}
        self.items: list[_Node] = []


class _Stop(Exception):
    """Reading cannot go on; the problem is already noted."""


class JsonPlaces:
    """One JSON text read with places; it is its own `Locator`.

    Attributes:
        value: the value as far as it could be read.
        problems: everything wrong with the syntax, in order; repeated members too.
        broken: whether reading had to stop before the end.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._newlines: list[int] = []
        self.problems: list[Problem] = []
        self.broken = False
        self._root = self._document()
        self.value: object = None if self._root is None else self._root.value

    def key_span(self, path: Path) -> Span | None:
        """The member name of the entry at `path`, quotes included; in a list, the element."""
        found = self._entry(path)
        if found is None:
            return None
        key, node = found
        return (node.start, node.end) if key is None else key

    def value_span(self, path: Path) -> Span | None:
        """The value at `path`."""
        found = self._entry(path)
        return None if found is None else (found[1].start, found[1].end)

    def edits(self, path: Path, fix: Fix) -> tuple[tuple[int, int, str], ...]:
        """The text edits of a fix."""
        found = self._entry(path)
        if found is None:
            return ()
        key, node = found
        if fix.kind == "rename_key" and key is not None:
            return ((*key, encode(fix.text)),)
        if fix.kind == "set_value":
            return ((node.start, node.end, encode(fix.text)),)
        if fix.kind == "set_literal":
            return ((node.start, node.end, fix.text),)
        if fix.kind == "set_list":
            return ((node.start, node.end, "[" + ", ".join(encode(item) for item in fix.items) + "]"),)
        if fix.kind == "drop" and key is not None:
            return self._drop(key[0], node.end)
        return ()

    def _drop(self, start: int, end: int) -> tuple[tuple[int, int, str], ...]:
        """Remove a member with one of the commas around it."""
        after = self._skip(end)
        if self._text[after : after + 1] == ",":
            return ((start, self._skip(after + 1), ""),)
        before = len(self._text[:start].rstrip(" \t\n\r"))
        if self._text[before - 1 : before] == ",":
            return ((before - 1, end, ""),)
        return ((start, end, ""),)

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _entry(self, path: Path) -> tuple[Span | None, _Node] | None:
        return None if self._root is None else entry_at(self._root, path)

    def _document(self) -> _Node | None:
        try:
            return self._whole()
        except _Stop:
            self.broken = True
            return None

    def _whole(self) -> _Node:
        if self._text.startswith(_BOM):
            fix = Fix(title="remove the byte-order mark", kind="edits", edits=((0, 1, ""),))
            self._problem("invalid character U+FEFF (byte-order mark) looking for beginning of value", (0, 1), fix)
            self._at = 1
        self._blank()
        if self._at == len(self._text):
            self._problem("unexpected EOF: the file is empty", (self._at, self._at))
            raise _Stop
        root = self._value()
        self._blank()
        if self._at < len(self._text):
            self._trailing()
        return root

    def _trailing(self) -> None:
        start = self._at
        if self._text[start] in '{["' or _NUMBER.match(self._text, start) or self._word() in _LITERALS:
            message = "unexpected trailing JSON value: the file must hold one value only"
            self.problems.append(Problem(code="json-trailing", message=message, span=(start, start + 1)))
            return
        self._problem(f"invalid character {self._here()} after top-level value", (start, start + 1))

    def _value(self) -> _Node:
        node = _Node(self._at)
        text = self._text
        character = text[self._at : self._at + 1]
        if character in ("{", "["):
            self._depth += 1
            if self._depth > MAX_NESTING:
                message = f"nested deeper than {MAX_NESTING} levels"
                span = (self._at, self._at + 1)
                self.problems.append(Problem(code="nesting-too-deep", message=message, span=span))
                raise _Stop
            (self._object if character == "{" else self._list)(node)
            self._depth -= 1
        elif character == '"':
            node.value = self._string()
        else:
            self._scalar(node)
        node.end = self._at
        return node

    def _scalar(self, node: _Node) -> None:
        number = _NUMBER.match(self._text, self._at)
        word = self._word()
        if number is not None and number.group() == word:
            node.value = 0.0
            self._at = number.end()
        elif word in _LITERALS:
            node.value = _LITERALS[word]
            self._at += len(word)
        else:
            self._unexpected("looking for beginning of value")

    def _word(self) -> str:
        match = _WORD.match(self._text, self._at)
        return match.group() if match else ""

    def _object(self, node: _Node) -> None:
        members: dict[str, object] = {}
        node.value = members
        self._at += 1
        while not self._closes("}", has_entries=bool(node.members)):
            if self._text[self._at] != '"':
                self._unexpected("looking for a member name in double quotes")
            start = self._at
            name = self._string()
            span = (start, self._at)
            self._blank()
            if self._text[self._at : self._at + 1] != ":":
                self._unexpected("after a member name; a colon belongs there")
            self._at += 1
            self._blank()
            child = self._value()
            if name in node.members:
                self._repeated(name, node.members[name], span, child)
            else:
                members[name] = child.value
                node.members[name] = (span, child)

    def _list(self, node: _Node) -> None:
        items: list[object] = []
        node.value = items
        self._at += 1
        while not self._closes("]", has_entries=bool(node.items)):
            child = self._value()
            items.append(child.value)
            node.items.append(child)

    def _closes(self, closing: str, *, has_entries: bool) -> bool:
        """Step over what separates entries; True when the container ends here."""
        self._blank()
        text = self._text
        comma = -1
        if has_entries and text[self._at : self._at + 1] == ",":
            comma = self._at
            self._at += 1
            self._blank()
        if self._at >= len(text):
            fix = Fix(title=f"add the missing {closing}", kind="edits", edits=((self._at, self._at, closing),))
            self._problem(f"unexpected EOF: {closing} is missing", (self._at, self._at), fix if comma < 0 else None)
            if comma >= 0:
                raise _Stop
            return True
        if text[self._at] == closing:
            if comma >= 0:
                fix = Fix(title="remove the trailing comma", kind="edits", edits=((comma, comma + 1, ""),))
                self._problem(f"invalid character '{closing}' after a comma", (comma, comma + 1), fix)
            self._at += 1
            return True
        if has_entries and comma < 0:
            if text[self._at] not in '"{[':
                self._unexpected(f"after an entry; a comma or {closing} belongs there")
            end = len(text[: self._at].rstrip())
            fix = Fix(title="add the missing comma", kind="edits", edits=((end, end, ","),))
            self._problem(f"invalid character {self._here()} after an entry; a comma is missing", (end, end), fix)
        return False

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
            text: str = json.loads(match.group())
            return text
        return self._broken_string()

    def _broken_string(self) -> str:
        """A string with raw control characters is mended; any other broken one ends the reading."""
        start = self._at
        line_end = self._text.find("\n", start)
        stop = line_end if line_end >= 0 else len(self._text)
        loose = re.compile(r'"(?:[^"\\\n]|\\.)*"').match(self._text, start, stop)
        if loose is None:
            closed = '"' in self._text[start + 1 :]
            reason = "a string must end on its line" if closed else "unexpected EOF: a string is not closed"
            self._problem(reason, (start, stop))
            raise _Stop
        bad = _CONTROL.search(loose.group())
        if bad is None:
            self._problem("invalid escape in a string", (start, loose.end()))
            raise _Stop
        at = start + bad.start()
        if len(_CONTROL.findall(loose.group())) > MAX_PROBLEMS:
            self._problem("invalid character in string literal: raw control characters", (at, at + 1))
            raise _Stop
        edits = tuple(
            (start + m.start(), start + m.end(), json.dumps(m.group())[1:-1])
            for m in _CONTROL.finditer(loose.group())
        )
        fix = Fix(title="escape the control character", kind="edits", edits=edits)
        self._problem("invalid character in string literal: a raw control character", (at, at + 1), fix)
        self._at = loose.end()
        mended = _CONTROL.sub(lambda m: json.dumps(m.group())[1:-1], loose.group())
        if not _STRING.fullmatch(mended):
            raise _Stop
        text: str = json.loads(mended)
        return text

    def _blank(self) -> None:
        """Skip white space; a comment is noted with its repair."""
        while True:
            match = _SPACE.match(self._text, self._at)
            if match is not None:
                self._at = match.end()
            comment = _COMMENT.match(self._text, self._at)
            if comment is None:
                return
            start, end = comment.span()
            line_start = self._text.rfind("\n", 0, start) + 1
            newline = self._text.find("\n", end)
            if not self._text[line_start:start].strip() and newline >= 0 and not self._text[end:newline].strip():
                edit = (line_start, newline + 1, "")
            else:
                edit = (len(self._text[:start].rstrip(" \t")), end, "")
            fix = Fix(title="remove the comment", kind="edits", edits=(edit,))
            self._problem("invalid character '/': JSON has no comments", comment.span(), fix)
            self._at = end

    def _repeated(self, name: str, first: tuple[Span, _Node], span: Span, child: _Node) -> None:
        if len(self.problems) > MAX_PROBLEMS:
            return
        lines = (self._line(first[0][0]), self._line(span[0]))
        message = f"duplicate member {shown(name)} (lines {lines[0]} and {lines[1]})"
        fix = None
        if repr(first[1].value) == repr(child.value):
            edits = self._drop(span[0], child.end)
            fix = Fix(title="remove the repetition", kind="edits", edits=edits)
        self.problems.append(Problem(code="duplicate-key", message=message, span=span, fix=fix))

    def _line(self, at: int) -> int:
        if not self._newlines:
            self._newlines = [match.start() for match in re.finditer("\n", self._text)]
        return bisect_left(self._newlines, at) + 1

    def _here(self) -> str:
        return repr(self._text[self._at]) if self._at < len(self._text) else "EOF"

    def _unexpected(self, where: str) -> None:
        if self._at >= len(self._text):
            self._problem(f"unexpected EOF {where}", (self._at, self._at))
        else:
            self._problem(f"invalid character {self._here()} {where}", (self._at, self._at + 1))
        raise _Stop

    def _problem(self, message: str, span: Span, fix: Fix | None = None) -> None:
        if len(self.problems) > MAX_PROBLEMS:
            # A text with so many faults is not JSON; reading it to the end helps nobody.
            raise _Stop
        self.problems.append(Problem(code="json-syntax", message=message, span=span, fix=fix))


def encode(text: str) -> str:
    """A JSON string literal."""
    return json.dumps(text, ensure_ascii=False)
