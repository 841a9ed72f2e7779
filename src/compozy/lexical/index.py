"""The lexical index: BM25 over stems and the cosine of character groups, each scaled to its best, then summed.

A document is a list of words; a field that counts more repeats its words. A stem also finds those that mean nearly
the same, for less. Character groups are compared word by word: a query first finds the words of the vocabulary that
resemble its own, then their documents. The work of one query is bounded: the most telling words come first, and the
rest is left out once enough postings were read.
It knows nothing of targets.
"""

import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from compozy.lexical.related import related_words
from compozy.lexical.words import grams, stem

# Chosen on ToolE's training rows; see docs/selection.md.
K1 = 1.6
B = 0.75
WORDS_SHARE = 0.65
# How much of a stem's rarity is that in English; the rest is that among the documents.
ENGLISH_SHARE = 0.6
GROUP_POWER = 1.5
# How rare a word is in a catalogue of three says little: a smaller one is judged as if it had this many documents.
FLOOR = 100
# How much a word that a value of the task hints at counts beside one that is said.
HINT = 0.2
# Postings one query may read in each of the two parts. Up to this size all that matter fit; in a larger catalogue the
# most telling words alone name the candidates, and a quarter of the work keeps a query within its two milliseconds.
SMALL, WORK_SMALL, WORK_LARGE = 2_000, 6_000, 1_200
# Words of the vocabulary that a query may look at for each of those postings, to find which resemble its own.
WORDS_A_POSTING = 2.5

# Words whose related ones are kept ready: what people ask for in a row has much in common.
_KEPT = 6_000


class Query(NamedTuple):
    """A task ready for scoring: its stems, its character groups and how often each occurs, hints (see `values`)."""

    stems: tuple[str, ...]
    groups: tuple[tuple[str, int], ...]
    hints: tuple[str, ...] = ()


class Scores(NamedTuple):
    """Documents with a score above zero by words and by character groups; `length` is the query's own length."""

    words: dict[int, float]
    groups: dict[int, float]
    length: float


class _Postings(NamedTuple):
    """A stem's number, its documents and what it adds to the score of each."""

    number: int
    places: "array[int]"
    values: "array[float]"


def read_query(found: Sequence[str], hints: Sequence[str] = ()) -> Query:
    """Turn the words of a task into a query; a word said twice counts once among the stems."""
    groups = Counter(group for word in found for group in grams(word))
    stems = dict.fromkeys(stem(word) for word in found)
    return Query(tuple(stems), tuple(groups.items()), tuple(hint for hint in hints if hint not in stems))


def word_rarity(english: float, size: int, spread: int) -> float:
    """Return how telling a stem is that `spread` of `size` documents have and that is so rare in English."""
    here = math.log(1 + (size - spread + 0.5) / (spread + 0.5))
    return (1 - ENGLISH_SHARE) * here + ENGLISH_SHARE * english


class LexicalIndex:
    """Postings of a fixed list of documents."""

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        # Word -> its documents, one entry for each time it occurs there.
        occurrences: dict[str, list[int]] = {}
        lengths: list[int] = []
        for number, words in enumerate(documents):
            lengths.append(len(words))
            for word in words:
                places = occurrences.get(word)
                if places is None:
                    occurrences[word] = [number]
                else:
                    places.append(number)
        self.size = len(lengths)
        self._judged = max(self.size, FLOOR)
        self._english = related_words()
        self._kept: dict[str, list[tuple[int, float]]] = {}
        self._work = WORK_SMALL if self.size <= SMALL else WORK_LARGE
        self._weigh_stems(occurrences, lengths)
        self._weigh_groups(occurrences)

    def _weigh_stems(self, occurrences: dict[str, list[int]], lengths: Sequence[int]) -> None:
        average = sum(lengths) / len(lengths) if lengths else 0.0
        saturation = [K1 * (1 - B + B * length / average) if average else K1 for length in lengths]
        joined: dict[str, list[int]] = {}
        for word, places in occurrences.items():
            joined.setdefault(stem(word), []).extend(places)
        self._stems: dict[str, _Postings] = {}
        self._held = [_pack((), len(joined)) for _ in lengths]
        for number, (root, places) in enumerate(joined.items()):
            counts = sorted(Counter(places).items())
            rarity = self._rarity(root, len(counts)) * (K1 + 1)
            values = array("d", [rarity * n / (n + saturation[place]) for place, n in counts])
            self._stems[root] = _Postings(number, _pack([place for place, _ in counts], self.size), values)
            for place, _ in counts:
                self._held[place].append(number)
        self._numbered = list(self._stems.values())
        # Of English stems, by their place in the table.
        self._of_place = {
            known: number
            for number, root in enumerate(self._stems)
            if (known := self._english.place(root)) is not None
        }

    def _weigh_groups(self, occurrences: dict[str, list[int]]) -> None:
        holders: dict[str, list[int]] = {}
        self._words: list[array[int]] = []
        for number, (word, places) in enumerate(occurrences.items()):
            self._words.append(_pack(places, self.size))
            for group in set(grams(word)):
                holders.setdefault(group, []).append(number)
        spread = [len(set(places)) for places in occurrences.values()]
        self._groups: dict[str, tuple[float, array[int]]] = {}
        for group, held in holders.items():
            # Words are taken to fall independently: near enough, and no document has to be looked at.
            absent = math.prod(1 - spread[number] / self.size for number in held)
            rarity = self._group_rarity(1 - absent)
            self._groups[group] = (rarity, _pack(held, len(occurrences)))
        squares = [0.0] * self.size
        for word, places in occurrences.items():
            own = sum((count * self._groups[group][0]) ** 2 for group, count in Counter(grams(word)).items())
            previous, run = -1, 1
            # The n-th repetition adds 2n - 1, so that a count of n adds n squared in all.
            for place in places:
                run = run + 2 if place == previous else 1
                previous = place
                squares[place] += own * run
        self._scale = array("d", [1 / math.sqrt(square) if square else 0.0 for square in squares])

    def _rarity(self, root: str, spread: int) -> float:
        return word_rarity(self._english.rarity(root), self._judged, spread)

    def _group_rarity(self, share: float) -> float:
        return float((math.log((1 + self._judged) / (1 + self.size * share)) + 1) ** GROUP_POWER)

    def rarity(self, root: str) -> float:
        """Return how telling a stem is; one that no document has is the most telling of all."""
        own = self._stems.get(root)
        return self._rarity(root, len(own.places) if own is not None else 0)

    def coverage(self, query: Query) -> dict[int, float]:
        """Return the share of the query's telling stems that each document has; related ones count in part.

        A hint that a document has adds to its share, up to 1; one that it lacks takes nothing away.
        """
        shares: dict[int, float] = {}
        total = 0.0
        for root in query.stems:
            rarity = self.rarity(root)
            total += rarity
            found: dict[int, float] = {}
            # The nearest last, so that it stays where several are found.
            for number, strength in reversed(self._near(root)):
                found.update(dict.fromkeys(self._numbered[number].places, strength))
            if root in self._stems:
                found.update(dict.fromkeys(self._stems[root].places, 1.0))
            for place, strength in found.items():
                shares[place] = shares.get(place, 0.0) + rarity * strength
        for hint in query.hints:
            rarity = self.rarity(hint)
            for place in self._stems[hint].places if hint in self._stems else ():
                shares[place] = shares.get(place, 0.0) + rarity
        return {place: min(share / total, 1.0) if total else 1.0 for place, share in shares.items()}

    def covers(self, document: int, roots: Sequence[str]) -> list[float]:
        """How far a document has each of the stems: 1, or what the nearest related one that it has counts, or 0."""
        held = frozenset(self._held[document])
        shares = []
        for root in roots:
            own = self._stems.get(root)
            if own is not None and own.number in held:
                shares.append(1.0)
            else:
                # The nearest stand first.
                shares.append(next((strength for number, strength in self._near(root) if number in held), 0.0))
        return shares

    def _near(self, root: str) -> list[tuple[int, float]]:
        """Return the related stems that any document has, by number, with how much each counts; the nearest first."""
        found = self._kept.get(root)
        if found is None:
            found = [
                (number, value)
                for place, value in self._english.near_places(root)
                if (number := self._of_place.get(place)) is not None
            ]
            found.sort(key=itemgetter(1), reverse=True)
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[root] = found
        return found

    def score(self, query: Query) -> Scores:
        """Score the documents that share anything with the query."""
        found, length = self._score_groups(query)
        return Scores(self._score_stems(query), found, length)

    def _score_stems(self, query: Query) -> dict[int, float]:
        scores: dict[int, float] = {}
        work = 0
        for (_, places, values), weight in self._asked(query):
            work += len(places)
            if work > self._work and scores:
                break
            for place, value in zip(places, values, strict=True):
                if place in scores:
                    scores[place] += value * weight
                else:
                    scores[place] = value * weight
        return scores

    def _asked(self, query: Query) -> Iterator[tuple[_Postings, float]]:
        """Yield postings of the query's stems, the rarest first; then of related ones and hints, nearest first."""
        own = [(self._stems[root], 1.0) for root in query.stems if root in self._stems]
        yield from sorted(own, key=_spread)
        near: dict[int, float] = {}
        for root in query.stems:
            for number, strength in self._near(root):
                near[number] = near.get(number, 0.0) + strength
        for hint in query.hints:
            if hint in self._stems:
                number = self._stems[hint].number
                near[number] = near.get(number, 0.0) + HINT
        for number, strength in sorted(near.items(), key=itemgetter(1), reverse=True):
            yield self._numbered[number], strength

    def _score_groups(self, query: Query) -> tuple[dict[int, float], float]:
        resembling, length = self._resembling(query)
        scores: dict[int, float] = {}
        work = 0
        for word, value in _descending(resembling):
            places = self._words[word]
            work += len(places)
            if work > self._work and scores:
                break
            for place in places:
                if place in scores:
                    scores[place] += value
                else:
                    scores[place] = value
        scale = self._scale
        return {place: value * scale[place] for place, value in scores.items()}, length

    def _resembling(self, query: Query) -> tuple[dict[int, float], float]:
        """Return the words of the vocabulary that share a character group, each with what its occurrence adds."""
        rarest = self._group_rarity(0.0)
        known: list[tuple[float, int, array[int]]] = []
        square = 0.0
        for group, count in query.groups:
            rarity, words = self._groups.get(group, (rarest, None))
            square += (count * rarity) ** 2
            if words is not None:
                known.append((rarity, count, words))
        # The rarest first: what thousands of words share says least of each.
        known.sort(key=itemgetter(0), reverse=True)
        found: dict[int, float] = {}
        work = 0
        for rarity, count, held in known:
            work += len(held)
            if work > self._work * WORDS_A_POSTING and found:
                break
            value = count * rarity * rarity
            for word in held:
                if word in found:
                    found[word] += value
                else:
                    found[word] = value
        return found, math.sqrt(square)


def _pack(numbers: Sequence[int], count: int) -> "array[int]":
    """Return numbers below `count` in as few bytes as do: what a query waits for is memory."""
    return array("H" if count <= 1 << 16 else "I", numbers)


def _spread(found: tuple[_Postings, float]) -> int:
    return len(found[0].places)


def _descending(found: Mapping[int, float]) -> Iterator[tuple[int, float]]:
    """Yield the greatest first, equal ones in their order; the many small ones are not even sorted until needed."""
    top, told = max(found.values(), default=0.0), 0
    for share in (0.1, 0.03, 0.0):
        bound = top * share
        part = [(place, value) for place, value in found.items() if value >= bound]
        part.sort(key=itemgetter(1), reverse=True)
        yield from part[told:]
        told = len(part)


def combine(scores: Scores, refused: Collection[int] = ()) -> dict[int, float]:
    """Scale both parts to their best among those not refused and add them: 0 to 1."""
    words, groups = scores.words, scores.groups
    if refused:
        words = {place: value for place, value in words.items() if place not in refused}
        groups = {place: value for place, value in groups.items() if place not in refused}
    best_word, best_group = max(words.values(), default=0.0), max(groups.values(), default=0.0)
    by_word = WORDS_SHARE / best_word if best_word else 0.0
    by_group = (1 - WORDS_SHARE) / best_group if best_group else 0.0
    totals = {place: value * by_group for place, value in groups.items()}
    for place, value in words.items():
        totals[place] = totals.get(place, 0.0) + value * by_word
    return totals
