"""The text of one file with its line index, and the way back from normalised text to the file (decisions D5).

Parsers read `normal` (CRLF as LF); diagnostics and edits speak of `text`, exactly what the file holds, in code
points. Lines end at LF, as editors count them. Knows nothing of any format.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from compozy.model.diagnostic import Position


class InvalidUtf8(Exception):
    """The bytes are not UTF-8; `offset` is the position of the first bad byte."""

    def __init__(self, offset: int, line: int, column: int) -> None:
        super().__init__(f"invalid UTF-8 at byte {offset}")
        self.offset = offset
        self.line = line
        self.column = column


class SourceText:
    """The decoded text of a file.

    Attributes:
        text: what the file holds, a byte-order mark and CRLF included.
        normal: the same with every CRLF replaced by LF; the text all parsers read.
    """

    __slots__ = ("_crlf", "_lines", "normal", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.normal = text.replace("\r\n", "\n") if "\r\n" in text else text
        self._crlf: list[int] | None = None
        self._lines: list[int] | None = None

    @classmethod
    def decode(cls, data: bytes) -> "SourceText":
        """Decode UTF-8 bytes.

        Raises:
            InvalidUtf8: with the position of the first byte that is not UTF-8.
        """
        try:
            return cls(data.decode("utf-8"))
        except UnicodeDecodeError as error:
            before = data[: error.start]
            line_start = before.rfind(b"\n") + 1
            column = len(before[line_start:].decode("utf-8", "replace")) + 1
            raise InvalidUtf8(error.start, before.count(b"\n") + 1, column) from None

    def to_file(self, offset: int) -> int:
        """Map an offset in `normal` to the offset in `text`."""
        if len(self.normal) == len(self.text):
            return offset
        if self._crlf is None:
            self._crlf = []
            found, removed = self.text.find("\r\n"), 0
            while found >= 0:
                self._crlf.append(found - removed)
                removed += 1
                found = self.text.find("\r\n", found + 2)
        return offset + bisect_left(self._crlf, offset)

    def to_normal(self, offset: int) -> int:
        """Map an offset in `text` to the offset in `normal`."""
        return offset - self.text.count("\r\n", 0, offset)

    def line_starts(self) -> list[int]:
        """Offsets in `text` at which lines begin."""
        if self._lines is None:
            self._lines = [0]
            found = self.text.find("\n")
            while found >= 0:
                self._lines.append(found + 1)
                found = self.text.find("\n", found + 1)
        return self._lines

    def position(self, start: int, end: int | None = None) -> Position:
        """The place of `text[start:end]`; the length stops at the end of the line."""
        lines = self.line_starts()
        index = bisect_right(lines, start) - 1
        length = 0
        if end is not None and end > start:
            stop = self.text.find("\n", start, end)
            length = (stop if stop >= 0 else end) - start
            if stop > start and self.text[stop - 1] == "\r":
                length -= 1
        return Position(line=index + 1, column=start - lines[index] + 1, length=max(length, 0))

    def line(self, number: int) -> str:
        """The text of one line (from 1) without its line ending."""
        lines = self.line_starts()
        if not 1 <= number <= len(lines):
            return ""
        end = lines[number] if number < len(lines) else len(self.text)
        return self.text[lines[number - 1] : end].rstrip("\r\n")

    def offset(self, line: int, column: int) -> int:
        """The offset in `text` of a line and column, both from 1."""
        lines = self.line_starts()
        return min(lines[min(max(line, 1), len(lines)) - 1] + column - 1, len(self.text))


class MendedSource(SourceText):
    """A text with repairs applied, so that reading can go on and find what else is wrong.

    `normal` is the mended text; places and edits still speak of the file.
    """

    __slots__ = ("_base", "_edits")

    def __init__(self, base: SourceText, edits: Sequence[tuple[int, int, str]]) -> None:
        """Apply edits (start, end, replacement in `base.normal`; they must not overlap)."""
        self.text = base.text
        self._base = base
        self._edits = sorted(edits)
        self._crlf = None
        self._lines = None
        parts, at = [], 0
        for start, end, replacement in self._edits:
            parts += [base.normal[at:start], replacement]
            at = end
        self.normal = "".join([*parts, base.normal[at:]])

    def to_file(self, offset: int) -> int:
        """Map an offset in the mended text to the offset in the file."""
        shift = 0
        for start, end, replacement in self._edits:
            mended_start = start + shift
            if offset <= mended_start:
                break
            if offset < mended_start + len(replacement):
                return self._base.to_file(min(start + offset - mended_start, end))
            shift += len(replacement) - (end - start)
        return self._base.to_file(offset - shift)
