"""Seeded mutations of authored files: what editors, merges, tired people and hostile ones do to text."""

import random
from collections.abc import Iterator

_PIECES = (
    ": ", ":", " #", "#", "[", "]", "{", "}", "*", "*a", "&a ", "&a", "- ", "---", "---\n", "\n---\n", '"', "'",
    '"""', "'''", "\t", "\x00", "\x07", "\x7f", "\ufeff", "\x85", "\u2028", "\r", "\r\n", "\n", "<<: *a", "!tag ",
    "!!str ", "? ", "|", ">", "|-\n", "%YAML 1.2\n", "...\n", "= ", " = ", "[[", "]]", "\\", "\\u", "\\ud83d", ",",
    ",,", "null", "true", "~", "0x1F", "1e999", "99999999999999999999", ".inf", "é", "校", "🌊", "//", "/* x */",
    "name", "tools", "hooks", "mcp_servers", "[[[[[[[[", "{{{{{{{{", "- - - - ", "a.b.c.d = 1", "2031-05-06", "-",
    "_", "__",
)  # fmt: skip


def mutations(seeds: list[str], count: int, seed: int | str) -> Iterator[bytes]:
    """Yield `count` mutated files; equal arguments give equal files."""
    rng = random.Random(seed)
    for _ in range(count):
        text = rng.choice(seeds)
        for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
            text = _mutate(text, rng)
        data = text.encode("utf-8", "surrogatepass")
        if rng.random() < 0.02 and data:
            at = rng.randrange(len(data))
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        yield data


def _mutate(text: str, rng: random.Random) -> str:
    if not text:
        return rng.choice(_PIECES)
    kind = rng.randrange(9)
    at = rng.randrange(len(text))
    if kind == 0:
        return text[:at] + text[at + rng.randrange(1, 12) :]
    if kind in (1, 2):
        return text[:at] + rng.choice(_PIECES) + text[at:]
    if kind == 3:
        return text[:at] + rng.choice(_PIECES) + text[at + 1 :]
    if kind == 4:
        return text[:at]
    lines = text.split("\n")
    line = rng.randrange(len(lines))
    if kind == 5:
        lines.insert(rng.randrange(len(lines) + 1), lines[line])
    elif kind == 6:
        other = rng.randrange(len(lines))
        lines[line], lines[other] = lines[other], lines[line]
    elif kind == 7:
        lines[line] = " " * rng.randrange(5) + lines[line].lstrip(" ")
    else:
        del lines[line]
    return "\n".join(lines)
