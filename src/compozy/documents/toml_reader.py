"""TOML text to plain values (formats §3.4); places come from `toml_places`, asked only when something is wrong.

rtoml reads TOML 1.1 and reports where it stumbles. Knows no field.
"""

import re

import rtoml

from compozy.documents.limits import MAX_NESTING
from compozy.documents.problems import Span

_TOO_DEEP = f"nested deeper than {MAX_NESTING} levels"
_PLACE = re.compile(r"^(?P<words>.*?)(?: at line (?P<line>\d+) column (?P<column>\d+))?$", re.DOTALL)


class TomlProblem(Exception):
    """The text cannot be read as TOML; `span` counts from the start of the text given."""

    def __init__(self, message: str, span: Span, *, code: str = "toml-syntax") -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.code = code


def read_toml(text: str) -> dict[str, object]:
    """Read a TOML document; a byte-order mark is skipped.

    Raises:
        TomlProblem: `duplicate-key` for a key defined twice, else `toml-syntax`.
    """
    try:
        value: dict[str, object] = rtoml.loads(text)
    except rtoml.TomlParsingError as error:
        raise _problem(str(error), text) from None
    except RecursionError:
        raise TomlProblem(_TOO_DEEP, (0, 0), code="nesting-too-deep") from None
    if text.count("[") + text.count("{") + text.count(".") >= MAX_NESTING and _depth(value) > MAX_NESTING:
        raise TomlProblem(_TOO_DEEP, (0, 0), code="nesting-too-deep")
    return value


def _depth(value: object) -> int:
    """How deep a value nests, counted without recursion."""
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return depth


def _problem(words: str, text: str) -> TomlProblem:
    match = _PLACE.match(words)
    message = words
    at = 0
    if match and match["line"]:
        message = match["words"]
        at = offset_of(text, int(match["line"]), int(match["column"]))
    code = "toml-syntax"
    if "recursion limit" in message:
        return TomlProblem(_TOO_DEEP, (at, at), code="nesting-too-deep")
    if "duplicate key" in message:
        code = "duplicate-key"
        message = "the key has already been defined"
    return TomlProblem(message, (at, at), code=code)


def offset_of(text: str, line: int, column: int) -> int:
    """The offset of a line and column (both from 1) in `text`."""
    at = 0
    for _ in range(line - 1):
        found = text.find("\n", at)
        if found < 0:
            break
        at = found + 1
    return min(at + column - 1, len(text))
