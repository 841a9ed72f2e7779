"""How well a catalogue's own examples find their capability when they are left out (issue 8 item 4, `eval`).

Strictly: each example is taken out by itself, everything else stays, and then it is asked for. That takes an index
for every example. By rounds, the k-th example of every capability is taken out at once: eight examples take eight
indexes, and the figures differ a little, as every rival lacks an example too.

What would take very long is judged by examples, or rounds, at even distances, and the rest is counted as left out.
Taking an example away from one index instead would not give the same verdicts for less: the rarity of its words and
groups, and so the length of nearly every document, change with it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from compozy.lexical.words import MOST_CHARACTERS
from compozy.model.record import Record
from compozy.ocm.policy import Request
from compozy.ocm.selection.documents import read_target
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.fit import DEFAULT_MINIMUM
from compozy.ocm.target import Target

NONE = "none"
T = TypeVar("T")
# Characters that are indexed in a second, seconds that a question takes: roughly, on a machine of 2020.
_INDEXED, _ASKED = 1_500_000, 0.003
PATIENCE = 300.0


class Confusion(Record, frozen=True, kw_only=True):
    """How often examples of `expected` went to `chosen` ("none" when none fitted)."""

    expected: str
    chosen: str
    count: int


class Evaluation(Record, frozen=True, kw_only=True):
    """Shares 0 to 1. `accuracy` counts the best candidate, `fitting` only when it was also held to fit."""

    examples: int
    capabilities: int
    without_examples: int
    accuracy: float
    fitting: float
    confusion: tuple[Confusion, ...]
    left_out: int = 0


class Effort(NamedTuple):
    """What an evaluation takes: `steps` that each build an index, the `seconds` of each, and how many are taken."""

    steps: int
    each: float
    taken: int

    @property
    def seconds(self) -> float:
        """Roughly how long all steps would take."""
        return self.steps * self.each


def estimate(targets: Sequence[Target], *, by_round: bool = False, patience: float = PATIENCE) -> Effort:
    """Estimate the work of `evaluate`; at least one step is taken."""
    primary = [target for target in targets if target.primary]
    counts = [len(target.examples) for target in primary]
    steps = max(counts, default=0) if by_round else sum(counts)
    size = sum(min(len(field.text), MOST_CHARACTERS) for target in primary for field in read_target(target).fields)
    each = size / _INDEXED + _ASKED * sum(counts) / max(steps, 1)
    is_whole = steps * each <= patience
    return Effort(steps, each, steps if is_whole else max(int(patience / each), 1))


def evaluate(
    targets: Sequence[Target],
    *,
    minimum: float = DEFAULT_MINIMUM,
    by_round: bool = False,
    patience: float = PATIENCE,
) -> Evaluation:
    """Judge the examples of the primary capabilities.

    Args:
        targets: the catalogue.
        minimum: the confidence below which none fits.
        by_round: trade strictness for speed (see the module).
        patience: about how many seconds this may take on a usual machine; the same catalogue always has the same
            examples judged.
    """
    taken = estimate(targets, by_round=by_round, patience=patience).taken
    primary = [target for target in targets if target.primary]
    asked, right, fitting = 0, 0, 0
    wrong: Counter[tuple[str, str]] = Counter()
    # Who may take a request is not the question here: what a capability is restricted to must not hide it.
    free = [
        msgspec.structs.replace(t, tenants=(), languages=("*",), modalities=("text",), enabled=True) for t in primary
    ]
    for selector, questions in _rounds(free, taken) if by_round else _strictly(free, taken):
        for target, example in questions:
            outcome = selector.select(example, Request(), limit=1, minimum=minimum, explained=False)
            best = outcome.ranked[0].id if outcome.ranked else ""
            asked += 1
            right += best == target.id
            fitting += outcome.chosen == target.id
            if outcome.chosen != target.id:
                wrong[target.id, outcome.chosen or NONE] += 1
    confusion = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))
    return Evaluation(
        examples=asked,
        capabilities=len(free),
        without_examples=sum(not target.examples for target in free),
        accuracy=round(right / asked, 4) if asked else 0.0,
        fitting=round(fitting / asked, 4) if asked else 0.0,
        confusion=tuple(Confusion(expected=a, chosen=b, count=count) for (a, b), count in confusion),
        left_out=sum(len(target.examples) for target in free) - asked,
    )


_Questions = list[tuple[Target, str]]


def _strictly(targets: Sequence[Target], taken: int) -> Iterator[tuple[Selector, _Questions]]:
    """Yield a selector for each example that is judged, in which only this example is missing."""
    places = [(place, number) for place, target in enumerate(targets) for number in range(len(target.examples))]
    for place, number in _evenly(places, taken):
        target = targets[place]
        reduced = [*targets[:place], _without(target, number), *targets[place + 1 :]]
        yield Selector(reduced), [(target, target.examples[number])]


def _rounds(targets: Sequence[Target], taken: int) -> Iterator[tuple[Selector, _Questions]]:
    for number in _evenly(range(max((len(target.examples) for target in targets), default=0)), taken):
        selector = Selector([_without(target, number) for target in targets])
        yield selector, [(one, one.examples[number]) for one in targets if number < len(one.examples)]


def _evenly(found: Sequence[T], count: int) -> Iterator[T]:
    return (found[number * len(found) // count] for number in range(count))


def _without(target: Target, number: int) -> Target:
    """Leave out one example, and others that say the same: a copy would be the answer."""
    left_out = _said(target.examples[number]) if number < len(target.examples) else None
    return msgspec.structs.replace(target, examples=tuple(one for one in target.examples if _said(one) != left_out))


def _said(example: str) -> str:
    return " ".join(example.casefold().split())
