"""What went wrong in TOML that does not parse, and the edit that mends it (decisions D5)."""

import re

from compozy.documents.guesses import Guess
from compozy.documents.problems import Span
from compozy.documents.toml_places import TomlPlaces, quoted
from compozy.documents.toml_reader import TomlProblem

_TOML_LINE = re.compile(r"^\s*(?:[\w\"'.-]+\s*=|\[\[?[^\]\n]+\]?\]?\s*(?:#.*)?$)")
_YAML_LINE = re.compile(r"^\s*(?:- )?[\w\"'-]+:(?:\s|$)")
_ASSIGNMENT = re.compile(r"^(\s*[\w\"'.-]+\s*=\s*)(.*?)(\s*(?:\s#.*)?)$")
_COLON = re.compile(r"^(\s*[\w\"'.-]+)\s*:(\s*)(.*)$")
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})


def looks_like_toml(text: str) -> bool:
    """Whether more lines read like TOML than like YAML."""
    lines = text.split("\n", 500)[:500]
    toml = sum(1 for line in lines if _TOML_LINE.match(line))
    yaml = sum(1 for line in lines if _YAML_LINE.match(line))
    return toml > yaml


def guess_toml(text: str, problem: TomlProblem, *, first_line: int = 1) -> Guess | None:
    """The likely cause of a TOML error, with the edit when there is one; `first_line` is where the text begins."""
    at = problem.span[0]
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    words = problem.message
    if problem.code == "duplicate-key":
        return _repeated(text, first_line)
    if "string values must be quoted" in words or "invalid boolean" in words:
        return _unquoted(line, start)
    if words.startswith(("unclosed table", "unclosed array table")):
        return _unclosed_header(line, start)
    if "key with no value" in words:
        return _colon(line, start)
    if words.startswith(("invalid basic string", "invalid literal string")):
        return _unclosed_string(line, start, '"' if "basic" in words else "'")
    return None


def _one_line(cause: str, title: str, line: str, start: int, mended: str) -> Guess:
    """Replace a line's differing middle."""
    same = 0
    while same < min(len(line), len(mended)) and line[same] == mended[same]:
        same += 1
    tail = 0
    while tail < min(len(line), len(mended)) - same and line[-1 - tail] == mended[-1 - tail]:
        tail += 1
    edit = (start + same, start + len(line) - tail, mended[same : len(mended) - tail])
    span = (start + same, start + max(len(line) - tail, same))
    return Guess(cause=cause, title=title, line=mended, span=span, edits=(edit,))


def _unquoted(line: str, start: int) -> Guess | None:
    match = _ASSIGNMENT.match(line)
    if match is None:
        return None
    value = match[2]
    span = (start + match.end(1), start + match.end(2))
    if not value:
        cause = "the key has no value"
        return Guess(cause=cause, span=span)
    if value[0] in "[{":
        return None
    plain = value.translate(_CURLY)
    written = plain if plain != value and plain[0] in "\"'" and plain[-1] == plain[0] else quoted(value)
    mended = match[1] + written + match[3]
    guess = _one_line("a text value must be quoted", "quote the value", line, start, mended)
    return Guess(cause=guess.cause, title=guess.title, line=mended, span=span, edits=guess.edits)


def _unclosed_header(line: str, start: int) -> Guess | None:
    bare = line.partition("#")[0].rstrip()
    opened = 2 if bare.lstrip().startswith("[[") else 1
    closed = len(bare) - len(bare.rstrip("]"))
    if closed >= opened or not bare.strip("[] \t"):
        return None
    mended = bare + "]" * (opened - closed) + line[len(bare) :]
    return _one_line(
        "a table header must end in the brackets it begins with", "close the header", line, start, mended
    )


def _colon(line: str, start: int) -> Guess | None:
    match = _COLON.match(line)
    if match is None or not match[3]:
        return None
    value = match[3]
    written = value if value[0] in "\"'[{0123456789" or value in ("true", "false") else quoted(value)
    mended = f"{match[1]} = {written}"
    return _one_line("TOML assigns with `=`, not with `:`", "write an assignment", line, start, mended)


def _unclosed_string(line: str, start: int, quote: str) -> Guess | None:
    match = _ASSIGNMENT.match(line)
    if match is None or not match[2].startswith(quote) or match[2].startswith(quote * 3):
        return None
    if match[2].count(quote) != 1:
        return None
    mended = line.rstrip() + quote
    return _one_line("the string is not closed", "close the string", line, start, mended)


def _repeated(text: str, first_line: int) -> Guess | None:
    """Name both places of a key defined twice; when both say the same, the second can go."""
    places = TomlPlaces(text)
    if not places.repeated:
        return None
    first_key, key, first_value, value = places.repeated[0]
    lines = first_line + _line(text, first_key), first_line + _line(text, key)
    cause = f"the key {text[slice(*key)]} is defined on lines {lines[0]} and {lines[1]}"
    if text[slice(*first_value)] == text[slice(*value)] and (edits := places.drop(key, value)):
        return Guess(cause=cause, title="remove the repetition", span=key, edits=edits)
    return Guess(cause=cause, span=key)


def _line(text: str, span: Span) -> int:
    return text.count("\n", 0, span[0])
