"""How well a catalogue's own examples find their capability when they are left out (issue 8 item 4, `eval`).

Strictly: each example is taken out by itself, everything else stays, and then it is asked for. That takes an index
for every example. By rounds, the k-th example of every capability is taken out at once: eight examples take eight
indexes, and the figures differ a little, as every rival lacks an example too.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from compozy.model.record import Record
from compozy.ocm.policy import Request
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.fit import DEFAULT_MINIMUM
from compozy.ocm.target import Target

NONE = "none"


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


def evaluate(targets: Sequence[Target], *, minimum: float = DEFAULT_MINIMUM, by_round: bool = False) -> Evaluation:
    """Judge every example of the primary capabilities; `by_round` trades strictness for speed (see the module)."""
    primary = [target for target in targets if target.primary]
    asked, right, fitting = 0, 0, 0
    wrong: Counter[tuple[str, str]] = Counter()
    # Who may take a request is not the question here: what a capability is restricted to must not hide it.
    free = [
        msgspec.structs.replace(t, tenants=(), languages=("*",), modalities=("text",), enabled=True) for t in primary
    ]
    for selector, questions in _rounds(free) if by_round else _strictly(free):
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
    )


_Questions = list[tuple[Target, str]]


def _strictly(targets: Sequence[Target]) -> Iterator[tuple[Selector, _Questions]]:
    """Yield a selector for each example, in which only this example is missing."""
    for place, target in enumerate(targets):
        for number, example in enumerate(target.examples):
            reduced = [*targets[:place], _without(target, number), *targets[place + 1 :]]
            yield Selector(reduced), [(target, example)]


def _rounds(targets: Sequence[Target]) -> Iterator[tuple[Selector, _Questions]]:
    for number in range(max((len(target.examples) for target in targets), default=0)):
        selector = Selector([_without(target, number) for target in targets])
        yield selector, [(one, one.examples[number]) for one in targets if number < len(one.examples)]


def _without(target: Target, number: int) -> Target:
    """Leave out one example, and others that say the same: a copy would be the answer."""
    left_out = _said(target.examples[number]) if number < len(target.examples) else None
    return msgspec.structs.replace(target, examples=tuple(one for one in target.examples if _said(one) != left_out))


def _said(example: str) -> str:
    return " ".join(example.casefold().split())
