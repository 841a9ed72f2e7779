"""A TOML file as values plus the line of every key, for messages that name a place.

`read_toml` refuses what is no TOML, with its line. The key finder reads headers and keys only; where a key
cannot be placed (inside an inline table) the line of its nearest written parent is used.
"""

import re
from pathlib import Path

from compozy.config.errors import ConfigError
from compozy.documents.toml_reader import TomlProblem
from compozy.documents.toml_reader import read_toml as parse_toml

KeyPath = tuple[str | int, ...]

# A hand-written configuration is never this long; the bound keeps a mistaken path from filling the memory.
MAX_BYTES = 4 << 20
_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_DOTTED})[ \t]*\]")
_ASSIGNMENT = re.compile(rf"[ \t]*({_DOTTED})[ \t]*=")
_PART = re.compile(_KEY)


class TomlSource:
    """One file: its `path`, its parsed `table`, and where its keys stand."""

    def __init__(self, path: Path, table: dict[str, object], text: str) -> None:
        self.path = path
        self.table = table
        self.text = text
        self._lines: dict[KeyPath, int] | None = None

    def place(self, key: KeyPath) -> str:
        """Return ``file:line`` for a key path, with the line of the nearest parent that is written."""
        if self._lines is None:
            self._lines = _key_lines(self.text)
        for end in range(len(key), 0, -1):
            line = self._lines.get(key[:end])
            if line is not None:
                return f"{self.path}:{line}"
        return str(self.path)


def read_toml(path: Path) -> TomlSource | None:
    """Read a TOML file; None when there is none.

    Raises:
        ConfigError: the file cannot be read, is too large, is not UTF-8, or is no TOML.
    """
    try:
        with path.open("rb") as handle:
            data = handle.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"cannot read {str(path)!r}: {error.strerror}; check its owner and mode") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{str(path)!r} is larger than 4 MiB, which no configuration is; check the path")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(path)!r} is not UTF-8 (byte {error.start}); save it as UTF-8") from error
    try:
        table = parse_toml(text)
    except TomlProblem as problem:
        line = text.count("\n", 0, problem.span[0]) + 1
        raise ConfigError(f"{path}:{line}: invalid TOML: {problem.message}; mend the file and try again") from problem
    return TomlSource(path, table, text)


def _key_lines(text: str) -> dict[KeyPath, int]:
    """Find the line of each header and each assignment."""
    lines: dict[KeyPath, int] = {}
    prefix: KeyPath = ()
    counts: dict[KeyPath, int] = {}
    number, offset = 0, 0
    rows = text.split("\n")
    while offset < len(rows):
        row, number = rows[offset], offset + 1
        header = _HEADER.match(row)
        assignment = None if header else _ASSIGNMENT.match(row)
        if header:
            prefix = _resolve(_parts(header[2]), counts, is_array=header[1] == "[[")
            _remember(lines, prefix, number)
        elif assignment:
            _remember(lines, prefix + _parts(assignment[1]), number)
            offset += _continuation(rows, offset, assignment.end())
        offset += 1
    return lines


def _remember(lines: dict[KeyPath, int], key: KeyPath, number: int) -> None:
    for end in range(1, len(key) + 1):
        lines.setdefault(key[:end], number)


def _parts(dotted: str) -> KeyPath:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _resolve(parts: KeyPath, counts: dict[KeyPath, int], *, is_array: bool) -> KeyPath:
    """Insert the index of each array of tables on the way to this header."""
    path: KeyPath = ()
    for index, part in enumerate(parts):
        path = (*path, part)
        last = index == len(parts) - 1
        if last and is_array:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _continuation(rows: list[str], start: int, column: int) -> int:
    """Return how many further lines the value that starts here covers: multi-line strings and arrays."""
    depth, quote, used = 0, "", 0
    line, position = rows[start], column
    while True:
        while position < len(line):
            rest = line[position:]
            if quote:
                step = 2 if quote[0] == '"' and rest.startswith("\\") else 1
                if rest.startswith(quote):
                    step, quote = len(quote), ""
            elif rest.startswith(('"""', "'''")):
                quote, step = rest[:3], 3
            elif rest[0] in "\"'":
                quote, step = rest[0], 1
            elif rest[0] == "#":
                break
            else:
                depth += (rest[0] in "[{") - (rest[0] in "]}")
                step = 1
            position += step
        if len(quote) == 1:
            quote = ""
        if (not quote and depth <= 0) or start + used + 1 >= len(rows):
            return used
        used += 1
        line, position = rows[start + used], 0
