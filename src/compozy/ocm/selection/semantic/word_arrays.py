"""The words of documents as arrays: the scores of `compozy.lexical.index` for all documents at once.

The same formulas and parameters, for a catalogue of hundreds with thousands of example texts: what takes Python's
loops two milliseconds there takes numpy half of one, and no posting is left out. It knows nothing of meaning.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compozy.lexical.index import FLOOR, GROUP_POWER, HINT, K1, WORDS_SHARE, B, word_rarity
from compozy.lexical.related import related_words
from compozy.lexical.words import grams, stem

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]


class WordScores(NamedTuple):
    """By document: BM25, the cosine of character groups, and the share of the task's telling words that it has."""

    words: Floats
    groups: Floats
    coverage: Floats


class WordArrays:
    """The words of a fixed list of documents."""

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        counts = [Counter(words) for words in documents]
        self._size = len(counts)
        self._judged = max(self._size, FLOOR)
        self._english = related_words()
        numbers: dict[str, int] = {}
        pairs = [
            (numbers.setdefault(word, len(numbers)), place, count)
            for place, found in enumerate(counts)
            for word, count in found.items()
        ]
        held = np.array(pairs, dtype=np.intp).reshape(-1, 3)
        self._held_words, self._held_places = held[:, 0].copy(), held[:, 1].copy()
        self._held_counts = held[:, 2].astype(np.float64)
        self._vocabulary = len(numbers)
        self._weigh_stems(counts)
        self._weigh_groups(list(numbers))

    def _weigh_stems(self, counts: Sequence[Counter[str]]) -> None:
        lengths = np.array([found.total() for found in counts], dtype=np.float64)
        average = lengths.mean() if lengths.any() else 1.0
        saturation = K1 * (1 - B + B * lengths / average)
        joined: dict[str, Counter[int]] = {}
        for place, found in enumerate(counts):
            for word, count in found.items():
                joined.setdefault(stem(word), Counter())[place] += count
        self._stems: dict[str, tuple[float, Numbers, Floats]] = {}
        for root, places in joined.items():
            where = np.fromiter(places.keys(), dtype=np.intp)
            often = np.fromiter(places.values(), dtype=np.float64)
            rarity = self._rarity(root, len(places))
            self._stems[root] = (rarity, where, rarity * (K1 + 1) * often / (often + saturation[where]))

    def _weigh_groups(self, vocabulary: Sequence[str]) -> None:
        self._groups: dict[str, int] = {}
        pairs = [
            (self._groups.setdefault(group, len(self._groups)), word, count)
            for word, text in enumerate(vocabulary)
            for group, count in Counter(grams(text)).items()
        ]
        found = np.array(pairs, dtype=np.intp).reshape(-1, 3)
        found = found[np.argsort(found[:, 0], kind="stable")]
        groups, self._group_words = found[:, 0], found[:, 1].copy()
        self._group_ends = np.cumsum(np.bincount(groups, minlength=len(self._groups))).tolist()
        spread = np.bincount(self._held_words, minlength=self._vocabulary)
        # Words are taken to fall independently, as in the index.
        with np.errstate(divide="ignore"):
            absent = np.log1p(-spread / max(self._size, 1))
        share = 1 - np.exp(np.bincount(groups, weights=absent[self._group_words], minlength=len(self._groups)))
        rarity = self._group_rarity(share)
        self._group_rarities = rarity.tolist()
        own = np.bincount(self._group_words, weights=(found[:, 2] * rarity[groups]) ** 2, minlength=self._vocabulary)
        added = own[self._held_words] * self._held_counts**2
        squares = np.bincount(self._held_places, weights=added, minlength=self._size)
        self._scale = np.where(squares > 0, 1 / np.sqrt(np.maximum(squares, 1e-12)), 0.0)

    def _rarity(self, root: str, spread: int) -> float:
        return word_rarity(self._english.rarity(root), self._judged, spread)

    def _group_rarity(self, share: Floats) -> Floats:
        raised: Floats = (np.log((1 + self._judged) / (1 + self._size * share)) + 1) ** GROUP_POWER
        return raised

    def score(self, words: Sequence[str], hints: Sequence[str] = ()) -> WordScores:
        """Score every document for the words of a task and what its values hint at."""
        said, coverage = np.zeros(self._size), np.zeros(self._size)
        total = 0.0
        near: dict[str, float] = {}
        stems = dict.fromkeys(map(stem, words))
        for root in stems:
            for other, strength in self._english.near(root):
                near[other] = near.get(other, 0.0) + strength
            found = self._stems.get(root)
            if found is None:
                total += self._rarity(root, 0)
                continue
            rarity, places, values = found
            total += rarity
            said[places] += values
            coverage[places] += rarity
        for hint in hints:
            if hint not in stems and hint in self._stems:
                near[hint] = near.get(hint, 0.0) + HINT
                rarity, places, _ = self._stems[hint]
                coverage[places] += rarity
        for root, strength in near.items():
            if root in self._stems:
                _, places, values = self._stems[root]
                said[places] += values * strength
        return WordScores(
            said, self._score_groups(words), np.minimum(coverage / total, 1.0) if total else np.sign(coverage)
        )

    def _score_groups(self, words: Sequence[str]) -> Floats:
        rarest = float(self._group_rarity(np.zeros(1))[0])
        square, values, parts, lengths = 0.0, [], [], []
        for group, count in Counter(group for word in words for group in grams(word)).items():
            number = self._groups.get(group)
            rarity = rarest if number is None else self._group_rarities[number]
            square += (count * rarity) ** 2
            if number is not None:
                start, end = self._group_ends[number - 1] if number else 0, self._group_ends[number]
                values.append(count * rarity * rarity)
                parts.append(self._group_words[start:end])
                lengths.append(end - start)
        if not parts:
            return np.zeros(self._size)
        resembling = np.bincount(
            np.concatenate(parts), weights=np.repeat(values, lengths), minlength=self._vocabulary
        )
        added = resembling[self._held_words] * self._held_counts
        found = np.bincount(self._held_places, weights=added, minlength=self._size)
        return np.asarray(found * self._scale / np.sqrt(square), dtype=np.float64)


def combine(scores: WordScores, admitted: NDArray[np.bool_]) -> Floats:
    """Scale both parts to their best among the admitted and add them: 0 to 1."""
    best_word = scores.words.max(initial=0.0, where=admitted)
    best_group = scores.groups.max(initial=0.0, where=admitted)
    total = scores.words * (WORDS_SHARE / best_word if best_word else 0.0)
    total += scores.groups * ((1 - WORDS_SHARE) / best_group if best_group else 0.0)
    return total
