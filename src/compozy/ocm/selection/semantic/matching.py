"""Matching by words and by meaning together, and how likely the best is right (issue 8 item 7; extra `semantic`).

The numbers come from ToolE's training rows, with and without the right tool in the catalogue (docs/selection.md).
"""

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from compozy.lexical.values import hints
from compozy.lexical.words import tokens
from compozy.ocm.selection.documents import Document, document_words
from compozy.ocm.selection.matching import Matched
from compozy.ocm.selection.semantic.embedder import Embedder, Vectors, cosines
from compozy.ocm.selection.semantic.index import SemanticIndex
from compozy.ocm.selection.semantic.likelihood import Evidence, read_background
from compozy.ocm.selection.semantic.vectors import Progress, VectorCache
from compozy.ocm.selection.semantic.word_arrays import WordArrays, combine

# Meaning counts five times what words do: from 4 to 8 the training rows hardly differ.
MEANING = 5.0
# Words are scaled to their best document; one that hardly shares a letter with the task must not gain from that.
ENOUGH_WORDS = 0.2
# Below this the resemblance is that of any two sentences.
_TOLD = 0.3


class SemanticMatcher:
    """Documents with their vectors.

    Args:
        documents: what is matched.
        embedder: the model.
        cache: where vectors are kept between runs.
        background: the vectors of `read_background`, from the same model.
        told: called with the texts embedded so far, of those that were new.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        embedder: Embedder,
        cache: Path,
        background: Vectors,
        told: Progress | None = None,
    ) -> None:
        vectors = VectorCache(cache)
        self._words = WordArrays(map(document_words, documents))
        self._meaning = SemanticIndex(documents, lambda texts: vectors.embed(embedder, texts, told))
        self._embedder = embedder
        self._background = background

    def match(self, task: str, out: Collection[int] = ()) -> Matched:
        """Match a task by its words and its meaning."""
        scores = self._words.score(tokens(task), hints(task))
        vector = self._embedder.embed([task])[0]
        near = self._meaning.nearness(vector)
        admitted = np.ones(len(near), dtype=bool)
        admitted[list(out)] = False
        said = min(float(scores.groups.max(initial=0.0, where=admitted)) / ENOUGH_WORDS, 1.0)
        totals = np.maximum(near, 0.0) * MEANING + combine(scores, admitted) * said
        found = np.flatnonzero((totals > 0) & admitted)

        evidence = Evidence(cosines(self._background, vector), near, admitted)

        def confidence(number: int) -> float:
            said, covered = float(scores.groups[number]), float(scores.coverage[number])
            return evidence.probability(number, said, covered, bool(self._meaning.has_examples[number]))

        return Matched(
            dict(zip(found.tolist(), (totals[found] / (1 + MEANING)).tolist(), strict=True)),
            dict(enumerate(near.tolist())),
            confidence,
            told=lambda number: (f"near in meaning ({float(near[number]):.2f})",) if near[number] >= _TOLD else (),
        )


def matching_by(
    embedder: Embedder, cache: Path, told: Progress | None = None
) -> Callable[[Sequence[Document]], SemanticMatcher]:
    """Return what makes matchers with one model."""
    background = _background(embedder, cache)
    return lambda documents: SemanticMatcher(documents, embedder, cache, background, told)


@lru_cache(maxsize=2)
def _background(embedder: Embedder, cache: Path) -> Vectors:
    # A selector is made anew for each task where skills differ; the background never does.
    return VectorCache(cache).embed(embedder, read_background())
