"""How a task is matched against documents: by their words here, by their meaning too in `semantic.matching`.

It gives each document a total between 0 and 1 and says how likely it is right. It knows nothing of who may be chosen
beyond the numbers it is told to leave out.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from compozy.lexical.index import LexicalIndex, combine, read_query
from compozy.lexical.values import hints
from compozy.lexical.words import tokens
from compozy.ocm.selection.documents import Document, document_words
from compozy.ocm.selection.fit import cover, measure


class Matched(NamedTuple):
    """One task matched: totals, how much every document resembles it, and how likely one is right."""

    totals: dict[int, float]
    resemblance: Mapping[int, float]
    confidence: Callable[[int], float]
    # To be called before `confidence` is asked of many documents: they are then measured together.
    prepare: Callable[[], None] = lambda: None
    # What speaks for a document besides the words in common.
    told: Callable[[int], tuple[str, ...]] = lambda _: ()


class Matcher(Protocol):
    """A fixed list of documents, ready for tasks."""

    def match(self, task: str, out: Collection[int] = ()) -> Matched:
        """Match a task; the documents in `out` have no total, and no other's total depends on them."""
        ...


class LexicalMatcher:
    """Matches by words and character groups."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.index = LexicalIndex(map(document_words, documents))

    def match(self, task: str, out: Collection[int] = ()) -> Matched:
        """Match a task by its words and the kinds of values in it."""
        query = read_query(tokens(task), hints(task))
        scores = self.index.score(query)

        covered: list[dict[int, float]] = []

        def confidence(number: int) -> float:
            share = covered[0].get(number, 0.0) if covered else cover(self.index, query, number)
            return measure(self.index, query, share, scores.groups.get(number, 0.0), scores.length).confidence

        def prepare() -> None:
            covered.append(self.index.coverage(query))

        return Matched(combine(scores, out), scores.groups, confidence, prepare)
