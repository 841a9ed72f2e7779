"""Which words mean nearly the same, and how common a word is: "buy" is near to "purchase", and rarer than "good".

English, from a table made once of the vocabulary and vectors of all-MiniLM-L6-v2 (scripts/build_related_words.py;
Apache-2.0, see NOTICE). It is read when first asked for and knows nothing of documents.
"""

import gzip
import math
import sys
from array import array
from functools import cache
from pathlib import Path

# Chosen on ToolE's training rows; see docs/selection.md. A cosine up to the first says nothing, and the nearest word
# of another stem counts at most as much as the second says.
_NOTHING, _NEAREST = 0.25, 0.75
# How rare a word is grows with its place in the order of use; the first few hundred hardly differ.
_COMMON = 150
# The table writes cosines in hundredths.
_STEPS = 100


class RelatedWords:
    """The table in memory (about 3 MiB).

    Args:
        data: lines of stems, the most used first; an empty line; how many related stems each has, as 16-bit numbers;
            their places, as 16-bit numbers; their cosines in hundredths, as bytes. All numbers little-endian.
    """

    def __init__(self, data: bytes) -> None:
        lines, _, rest = data.partition(b"\n\n")
        self.stems = lines.decode("ascii").split("\n")
        self._places = {root: place for place, root in enumerate(self.stems)}
        count = len(self.stems)
        lengths = _numbers(rest[: 2 * count])
        self._starts = array("I", [0])
        for length in lengths:
            self._starts.append(self._starts[-1] + length)
        total = self._starts[-1]
        self._related = _numbers(rest[2 * count : 2 * (count + total)])
        self._cosines = rest[2 * (count + total) :]
        self._rarest = math.log(1 + 2 * count / _COMMON)

    def rarity(self, root: str) -> float:
        """Return how rare a stem is in English, from 0; one that is not in the table is the rarest."""
        place = self._places.get(root)
        return self._rarest if place is None else math.log(1 + place / _COMMON)

    def place(self, root: str) -> int | None:
        """Return the number of a stem, None where the table has none."""
        return self._places.get(root)

    def near(self, root: str) -> list[tuple[str, float]]:
        """Return the stems that mean nearly the same, each with how much it counts beside the stem itself."""
        return [(self.stems[place], strength) for place, strength in self.near_places(root)]

    def near_places(self, root: str) -> list[tuple[int, float]]:
        """Return the same with their numbers: for many stems that is quicker."""
        place = self._places.get(root)
        if place is None:
            return []
        start, end = self._starts[place], self._starts[place + 1]
        strengths = map(_STRENGTHS.__getitem__, self._cosines[start:end])
        return list(zip(self._related[start:end], strengths, strict=True))


_STRENGTHS = tuple(max(0.0, (step / _STEPS - _NOTHING) / (1 - _NOTHING)) * _NEAREST for step in range(_STEPS + 1))


def _numbers(data: bytes) -> "array[int]":
    found = array("H", data)
    if sys.byteorder == "big":
        found.byteswap()
    return found


@cache
def related_words() -> RelatedWords:
    """Return the table that comes with the package."""
    return RelatedWords(gzip.decompress(Path(__file__).with_name("related_words.gz").read_bytes()))
