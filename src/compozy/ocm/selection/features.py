"""Texts as rows of numbers, for the trained model: character groups in one block, words and pairs in another.

Each block has the length one, so that neither drowns the other. It knows nothing of capabilities (issue 8; extra
`compozy[train]`).
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compozy.lexical.words import all_words, stem

# Chosen on a held-out part of ToolE's training rows; see docs/selection.md.
_SHORTEST, _LONGEST = 2, 5
# Among many texts, what stands in a single one of them costs half the memory and decides nothing.
_MANY_TEXTS = 2_000


class Row(NamedTuple):
    """The features of one text, by number, and how much each weighs."""

    numbers: NDArray[np.int64]
    values: NDArray[np.float32]


class Counts(NamedTuple):
    """How often each feature occurs in a text, by block."""

    groups: Counter[str]
    words: Counter[str]


def count_features(text: str) -> Counts:
    """Count character groups inside words; and stems with their pairs, of neighbours and with one word between."""
    words = all_words(text)
    roots = [stem(word) for word in words]
    groups: Counter[str] = Counter()
    for word in words:
        groups.update(_groups(word))
    pairs = (f"p:{first} {second}" for first, second in pairwise(roots))
    wide = (f"s:{first} {second}" for first, second in zip(roots, roots[2:], strict=False))
    return Counts(groups, Counter(chain((f"w:{root}" for root in roots), pairs, wide)))


def _groups(word: str) -> Iterable[str]:
    padded = f" {word} "
    for size in range(_SHORTEST, _LONGEST + 1):
        if len(padded) <= size:
            yield padded
            return
        for start in range(len(padded) - size + 1):
            yield padded[start : start + size]


class Vocabulary:
    """The features that rows are made of, each with its rarity; what is not among them does not count."""

    def __init__(self, rarities: Mapping[str, float]) -> None:
        self.rarities = dict(rarities)
        self._known = {name: (number, rarity) for number, (name, rarity) in enumerate(rarities.items())}

    @classmethod
    def of(cls, counted: Sequence[Counts]) -> "Vocabulary":
        """Return the features of these texts."""
        spread = Counter(name for counts in counted for block in counts for name in block)
        least = 2 if len(counted) >= _MANY_TEXTS else 1
        kept = sorted(name for name, texts in spread.items() if texts >= least)
        return cls({name: math.log((1 + len(counted)) / (1 + spread[name])) + 1 for name in kept})

    def __len__(self) -> int:
        return len(self._known)

    def row(self, counts: Counts) -> Row:
        """Return the row of a text: logarithm of the count times rarity, each block of length one."""
        numbers, blocks = array("q"), []
        for block in counts:
            values = array("f")
            for name, count in block.items():
                known = self._known.get(name)
                if known is not None:
                    numbers.append(known[0])
                    values.append((1 + math.log(count)) * known[1])
            weighed = np.array(values, dtype=np.float32)
            length = float(np.sqrt(weighed @ weighed))
            blocks.append(weighed / np.float32(length) if length else weighed)
        return Row(np.array(numbers, dtype=np.int64), np.concatenate(blocks))
