"""Matching by words and by meaning together, and how likely the best is right (issue 8 item 7; extra `semantic`).

The numbers come from ToolE's training rows, with and without the right tool in the catalogue (docs/selection.md).
"""

import math
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from compozy.lexical.index import LexicalIndex, combine, read_query
from compozy.lexical.words import tokens
from compozy.ocm.selection.documents import Document, document_words
from compozy.ocm.selection.matching import Matched
from compozy.ocm.selection.semantic.embedder import Embedder
from compozy.ocm.selection.semantic.index import SemanticIndex
from compozy.ocm.selection.semantic.vectors import Progress, VectorCache

# Meaning counts six times what words do: from 4.5 to 7.5 the training rows hardly differ.
MEANING = 6.0
# Words are scaled to their best document; one that hardly shares a letter with the task must not gain from that.
ENOUGH_WORDS = 0.2
# Logistic regression on 43,000 choices among 1 to 199 tools of the training rows; see docs/selection.md.
# Below this the resemblance is that of any two sentences.
_TOLD = 0.3
_BASE, _NEARNESS, _COSINE, _SIZE = -3.116, 10.604, 3.222, -0.607


class SemanticMatcher:
    """Documents with their vectors.

    Args:
        documents: what is matched.
        embedder: the model.
        cache: where vectors are kept between runs.
        told: called with the texts embedded so far, of those that were new.
    """

    def __init__(
        self, documents: Sequence[Document], embedder: Embedder, cache: Path, told: Progress | None = None
    ) -> None:
        vectors = VectorCache(cache)
        self._index = LexicalIndex(map(document_words, documents))
        self._meaning = SemanticIndex(documents, lambda texts: vectors.embed(embedder, texts, told))
        self._embedder = embedder

    def match(self, task: str, out: Collection[int] = ()) -> Matched:
        """Match a task by its words and its meaning."""
        query = read_query(tokens(task))
        scores = self._index.score(query)
        near = self._meaning.nearness(self._embedder.embed([task])[0])
        best = max((value for number, value in scores.groups.items() if number not in out), default=0.0)
        said = min(best / scores.length / ENOUGH_WORDS, 1.0) if scores.length else 0.0
        totals = np.maximum(near, 0.0) * MEANING
        for number, total in combine(scores, out).items():
            totals[number] += total * said
        values = (totals / (1 + MEANING)).tolist()

        def confidence(number: int) -> float:
            cosine = scores.groups.get(number, 0.0) / scores.length if scores.length else 0.0
            drawn = _BASE + _NEARNESS * float(near[number]) + _COSINE * cosine + _SIZE * math.log(max(len(values), 1))
            return 1 / (1 + math.exp(-drawn))

        return Matched(
            {number: total for number, total in enumerate(values) if total > 0 and number not in out},
            dict(enumerate(near.tolist())),
            confidence,
            lambda number: (f"near in meaning ({float(near[number]):.2f})",) if near[number] >= _TOLD else (),
        )
