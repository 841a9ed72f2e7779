"""Small rules about text that several formats share: trimming, folding, nearest spelling (formats §1, §3.4).

Knows nothing of files or records.
"""

from collections.abc import Iterable, Mapping

# Unicode white space as the established parser trims it: without U+001C-001F, U+200B and U+FEFF (formats §1).
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
# Suggestions further away than this are guesses, not help (decisions D5).
_NEAREST_DISTANCE = 2
# No table of ours has so many fields: what has more keys is no table with a misspelt one.
_MANY_KEYS = 200


def trim(text: str) -> str:
    """Strip Unicode white space at both ends (formats §1); inner text stays."""
    return text.strip(WHITE_SPACE)


def fold(name: str) -> str:
    """Fold case the way field names are matched in TOML and JSON: one character to one character."""
    if name.isascii():
        return name.lower()
    return "".join(c.casefold() if len(c.casefold()) == 1 else c for c in name)


def nearest(word: str, candidates: Iterable[str]) -> str:
    """Return the candidate at edit distance 2 or less (swaps count one), or "" when none is that close."""
    best, best_distance = "", _NEAREST_DISTANCE + 1
    folded = fold(word)
    for candidate in candidates:
        # A two-letter word is two edits away from every other two-letter word: demand a shared majority.
        allowed = min(_NEAREST_DISTANCE, max(len(candidate), len(word)) - 1 >> 1)
        distance = _edit_distance(folded, fold(candidate), allowed)
        if distance <= allowed and distance < best_distance:
            best, best_distance = candidate, distance
    return best


def same_field(name: str, written: Mapping[str, object]) -> str | None:
    """The spelling among `written` that means the field `name`: equal, ignoring case, or else a near miss."""
    if name in written:
        return name
    if len(written) > _MANY_KEYS:
        return None
    folded = fold(name)
    return next((key for key in written if fold(key) == folded), None) or nearest(name, written) or None


def _edit_distance(left: str, right: str, limit: int) -> int:
    """Optimal string alignment distance, cut off above `limit`."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        current = [i]
        for j, b in enumerate(right, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return previous[-1]


def shown_path(path: str) -> str:
    """Quote a path for a message, whole."""
    return shown(path, len(path))


def shown(value: str, limit: int = 60) -> str:
    """Quote a value for a message, shortened when long."""
    if len(value) > limit:
        value = value[: limit - 1] + "…"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
