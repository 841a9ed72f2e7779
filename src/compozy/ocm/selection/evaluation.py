"""How well a catalogue's own examples find their capability when they are left out (issue 8 item 4, `eval`).

In round k the k-th example of every capability is taken out and then asked for: no example ever helps itself, and a
catalogue with eight examples each takes eight indexes instead of one for every example.
"""

from collections import Counter
from collections.abc import Sequence

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


def evaluate(targets: Sequence[Target], *, minimum: float = DEFAULT_MINIMUM) -> Evaluation:
    """Judge every example of the primary capabilities."""
    primary = [target for target in targets if target.primary]
    asked, right, fitting = 0, 0, 0
    wrong: Counter[tuple[str, str]] = Counter()
    # Who may take a request is not the question here: what a capability is restricted to must not hide it.
    free = [
        msgspec.structs.replace(t, tenants=(), languages=("*",), modalities=("text",), enabled=True) for t in primary
    ]
    for number in range(max((len(target.examples) for target in free), default=0)):
        reduced = [_without(target, number) for target in free]
        selector = Selector(reduced)
        for target in free:
            if number >= len(target.examples):
                continue
            outcome = selector.select(target.examples[number], Request(), limit=1, minimum=minimum, explained=False)
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


def _without(target: Target, number: int) -> Target:
    return msgspec.structs.replace(target, examples=(*target.examples[:number], *target.examples[number + 1 :]))
