"""Whether the best candidate fits at all: a calibrated probability from how much of the task it covers (issue 8).

The numbers come from ToolE's training rows, with and without the right tool in the catalogue (docs/selection.md says
how); they hold for lexical scores only. It knows nothing of targets.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from compozy.ocm.selection.index import LexicalIndex, Query

# Logistic regression on 13,432 choices, half of them with the right tool taken out.
_BASE, _COVERAGE, _COSINE, _LENGTH = -5.110, 1.661, 8.785, 0.583
# At this probability 95 of 100 right choices on the training rows are kept.
DEFAULT_MINIMUM = 0.10


class Fit(NamedTuple):
    """How well a document covers a task: share of telling words, cosine of character groups, and the probability."""

    coverage: float
    cosine: float
    confidence: float


def measure(index: LexicalIndex, query: Query, document: int, groups: float, length: float) -> Fit:
    """Measure one document; `groups` is its score by character groups, `length` the query's own."""
    coverage = _coverage(index, query.stems, document)
    cosine = groups / length if length else 0.0
    drawn = _BASE + _COVERAGE * coverage + _COSINE * cosine + _LENGTH * math.log(1 + len(query.stems))
    return Fit(coverage, cosine, 1 / (1 + math.exp(-drawn)))


def _coverage(index: LexicalIndex, stems: Sequence[str], document: int) -> float:
    total = sum(index.rarity(root) for root in stems)
    return sum(index.rarity(root) for root in stems if index.has(document, root)) / total if total else 0.0
