"""Generated workspaces with needles in them: realistic enough filler, and one place that must be found."""

import random
from pathlib import Path
from typing import NamedTuple

_SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "qui",
    "ro",
    "su",
    "ta",
    "ve",
    "wi",
    "xo",
    "zu",
]
_FILLER = [
    "value",
    "index",
    "total",
    "handle",
    "buffer",
    "parse",
    "render",
    "widget",
    "order",
    "stream",
    "token",
    "cursor",
    "window",
    "layout",
    "state",
]


class Needle(NamedTuple):
    """Where it was planted: the words of the task, the file and the line (from 1)."""

    words: str
    path: str
    line: int


def made_up_word(random_: random.Random) -> str:
    """Return a word that no filler contains."""
    return "".join(random_.choice(_SYLLABLES) for _ in range(4)) + "x"


def plant(root: Path, seed: int | str, *, files: int = 12) -> Needle:
    """Fill `root` with source-like files and plant one line that two made-up words share."""
    random_ = random.Random(seed)
    first, second = made_up_word(random_), made_up_word(random_)
    paths = []
    for number in range(files):
        folder = random_.choice(["src", "src/core", "lib", "docs", "app/web"])
        paths.append(f"{folder}/{random_.choice(_FILLER)}_{number}.{random_.choice(['py', 'ts', 'go', 'md'])}")
    holder = random_.choice(paths)
    line = 0
    for path in paths:
        lines = [
            f"    {random_.choice(_FILLER)} = {random_.choice(_FILLER)}({random_.randrange(999)})"
            for _ in range(random_.randrange(5, 60))
        ]
        if path != holder and random_.random() < 0.5:
            lines[random_.randrange(len(lines))] = f"    # {first} is told of elsewhere"
        if path == holder:
            line = random_.randrange(1, len(lines) + 1)
            lines[line - 1] = random_.choice(
                [
                    f"    {first}_{second}(value)",
                    f"    {first}{second.capitalize()} = 3",
                    f"    # the {second} of a {first}",
                ]
            )
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Needle(f"{first} {second}", holder, line)
