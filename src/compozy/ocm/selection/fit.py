"""Whether the best candidate fits at all: a calibrated probability from how much of the task it covers (issue 8).

The numbers come from ToolE's training rows, with and without the right tool in the catalogue (docs/selection.md says
how); they hold for lexical scores only. It knows nothing of targets.
"""

import math
from typing import NamedTuple

from compozy.lexical.index import LexicalIndex, Query

# Logistic regression on 7,476 choices among 1 to 199 tools, half of them with the right tool taken out.
_BASE, _COVERAGE, _COSINE, _LENGTH, _SIZE = -2.234, 3.159, 8.418, 0.16, -0.413
# At this probability nearly nine of ten right choices on the training rows are kept.
DEFAULT_MINIMUM = 0.20


class Fit(NamedTuple):
    """How well a document covers a task: share of telling words, cosine of character groups, and the probability.

    A word that the document lacks counts in part where it has a related one.
    """

    coverage: float
    cosine: float
    confidence: float


def measure(index: LexicalIndex, query: Query, coverage: float, groups: float, length: float) -> Fit:
    """Measure one document.

    Args:
        index: has it.
        query: the task.
        coverage: the share of the task's telling words that it has.
        groups: its score by character groups.
        length: the query's own.
    """
    cosine = groups / length if length else 0.0
    told = _COVERAGE * coverage + _COSINE * cosine
    # The more there is to choose from, the likelier is a resemblance by chance.
    drawn = _BASE + told + _LENGTH * math.log(1 + len(query.stems)) + _SIZE * math.log(max(index.size, 1))
    return Fit(coverage, cosine, 1 / (1 + math.exp(-drawn)))


def cover(index: LexicalIndex, query: Query, document: int) -> float:
    """Return the share of the telling stems that one document has; for many documents the index has `coverage`."""
    rarities = list(map(index.rarity, query.stems))
    total = sum(rarities)
    shares = zip(rarities, index.covers(document, query.stems), strict=True)
    hinted = zip(map(index.rarity, query.hints), index.covers(document, query.hints), strict=True)
    covered = sum(rarity * share for rarity, share in shares) + sum(rarity for rarity, share in hinted if share == 1)
    return min(covered / total, 1.0) if total else float(covered > 0)


def tell_shortfall(confidence: float, minimum: float) -> str:
    """Return `right with 12%, below 20%`, with as many digits as it takes to see the difference."""
    digits = next((n for n in range(6) if f"{confidence:.{n}%}" != f"{minimum:.{n}%}"), 6)
    return f"right with {confidence:.{digits}%}, below {minimum:.{digits}%}"
