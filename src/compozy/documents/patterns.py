"""Glob patterns of hook matchers: well-formedness and matching (formats §8.4).

`*` and `?` stop at `/`; `[...]` and `[^...]` are classes; a backslash takes the next character as it is.
"""

SPECIAL = frozenset("*?[]")


def pattern_problem(pattern: str) -> str:
    """Why a pattern is malformed, or ""; text without one of `* ? [ ]` is never a pattern."""
    if SPECIAL.isdisjoint(pattern):
        return ""
    try:
        _match(pattern, None)
    except _BadPattern as error:
        return str(error)
    return ""


def matches(pattern: str, text: str) -> bool:
    """Whether `text` fits: empty or `*` fits all, text without special characters only itself."""
    if pattern in ("", "*"):
        return True
    if SPECIAL.isdisjoint(pattern):
        return pattern == text
    try:
        return _match(pattern, text)
    except _BadPattern:
        return False


class _BadPattern(ValueError):
    pass


_Ranges = tuple[tuple[str, str], ...]
_Token = tuple[str, str, _Ranges, bool]


def _tokens(pattern: str) -> list[_Token]:
    """Split into tokens: star, any, literal, class (ranges and whether it is negated)."""
    tokens: list[_Token] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        i += 1
        if c == "*":
            tokens.append(("star", "", (), False))
        elif c == "?":
            tokens.append(("any", "", (), False))
        elif c == "[":
            i, ranges, negated = _read_class(pattern, i)
            tokens.append(("class", "", ranges, negated))
        elif c == "\\":
            if i == len(pattern):
                raise _BadPattern("a backslash stands at the end")
            tokens.append(("literal", pattern[i], (), False))
            i += 1
        else:
            tokens.append(("literal", c, (), False))
    return tokens


def _read_class(pattern: str, i: int) -> tuple[int, _Ranges, bool]:
    negated = pattern[i : i + 1] == "^"
    i += negated
    ranges: list[tuple[str, str]] = []
    while True:
        if i < len(pattern) and pattern[i] == "]" and ranges:
            return i + 1, tuple(ranges), negated
        low, i = _class_character(pattern, i)
        high = low
        if pattern[i : i + 1] == "-":
            high, i = _class_character(pattern, i + 1)
        ranges.append((low, high))


def _class_character(pattern: str, i: int) -> tuple[str, int]:
    if i >= len(pattern):
        raise _BadPattern("a class is not closed by ]")
    c = pattern[i]
    if c in "-]":
        raise _BadPattern("a class is empty or has an open range")
    if c == "\\":
        i += 1
        if i >= len(pattern):
            raise _BadPattern("a backslash stands at the end")
        c = pattern[i]
    if i + 1 >= len(pattern):
        raise _BadPattern("a class is not closed by ]")
    return c, i + 1


def _match(pattern: str, text: str | None) -> bool:
    tokens = _tokens(pattern)
    if text is None:
        return False
    reached = {0}
    for token in tokens:
        if token[0] == "star":
            reached = _spread(reached, text)
        else:
            reached = {at + 1 for at in reached if at < len(text) and _fits(token, text[at])}
        if not reached:
            return False
    return len(text) in reached


def _spread(starts: set[int], text: str) -> set[int]:
    """Everywhere a star can end: at its start and after any run of characters without a slash."""
    ends: set[int] = set()
    for start in sorted(starts):
        if start in ends:
            continue
        slash = text.find("/", start)
        ends.update(range(start, (slash if slash >= 0 else len(text)) + 1))
    return ends


def _fits(token: _Token, character: str) -> bool:
    kind, literal, ranges, negated = token
    if kind == "literal":
        return literal == character
    if kind == "any":
        return character != "/"
    return any(low <= character <= high for low, high in ranges) != negated
