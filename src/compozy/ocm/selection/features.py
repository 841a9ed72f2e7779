"""Texts as rows of numbers, for the trained model: character groups in one block, words and pairs in another.

Each block has the length one, so that the product of two texts' blocks is their cosine. It knows nothing of
capabilities (issue 8; extra `compozy[train]`).
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

# Chosen on training rows of ToolE; see docs/selection.md.
_SHORTEST, _LONGEST = 2, 5
# Among many texts, what stands in a single one of them costs half the memory and decides nothing; nor do the
# character groups that a tenth of all texts have, which cost nearly all the time.
_MANY_TEXTS = 2_000
_COMMON = 0.1


class Block(NamedTuple):
    """The features of one text that are of one kind, by number, and how much each weighs."""

    numbers: NDArray[np.int64]
    values: NDArray[np.float32]


class Row(NamedTuple):
    """One text."""

    groups: Block
    words: Block


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
        groups = Counter(name for counts in counted for name in counts.groups)
        words = Counter(name for counts in counted for name in counts.words)
        if len(counted) >= _MANY_TEXTS:
            most = _COMMON * len(counted)
            groups = Counter({name: texts for name, texts in groups.items() if 2 <= texts <= most})
            words = Counter({name: texts for name, texts in words.items() if texts >= 2})
        kept = sorted([*groups.items(), *words.items()])
        return cls({name: math.log((1 + len(counted)) / (1 + texts)) + 1 for name, texts in kept})

    def __len__(self) -> int:
        return len(self._known)

    def row(self, counts: Counts) -> Row:
        """Return the row of a text: logarithm of the count times rarity, each block of length one."""
        return Row(self._block(counts.groups), self._block(counts.words))

    def _block(self, counts: Mapping[str, int]) -> Block:
        numbers, values = array("q"), array("f")
        for name, count in counts.items():
            known = self._known.get(name)
            if known is not None:
                numbers.append(known[0])
                values.append((1 + math.log(count)) * known[1])
        weighed = np.array(values, dtype=np.float32)
        length = float(np.sqrt(weighed @ weighed))
        return Block(np.array(numbers, dtype=np.int64), weighed / np.float32(length) if length else weighed)
