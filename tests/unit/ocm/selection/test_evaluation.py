"""Leave-one-out: only the example that is asked for is missing, and no copy of it gives the answer (`ocm eval`)."""

from compozy.ocm.policy import Request
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.evaluation import evaluate
from compozy.ocm.target import Target


def target(name: str, *examples: str) -> Target:
    return Target(id=name, kind="tool", name=name, description=f"Does {name}", examples=examples)


def test_only_the_example_in_question_is_missing() -> None:
    # By rounds both lack their first example at once, and "hoist the flag high" has no rival left.
    flags = target("flags", "hoist the flag", "lower the flag slowly")
    sails = target("sails", "hoist the flag high", "mend the sail")
    strict = evaluate([flags, sails])
    chosen = {
        (one.id, number): Selector(
            [
                Target(
                    id=other.id,
                    kind="tool",
                    name=other.name,
                    description=other.description,
                    examples=tuple(
                        text for n, text in enumerate(other.examples) if (other.id, n) != (one.id, number)
                    ),
                )
                for other in (flags, sails)
            ]
        )
        .select(one.examples[number], Request(), limit=1)
        .ranked[0]
        .id
        == one.id
        for one in (flags, sails)
        for number in range(2)
    }
    assert strict.accuracy == sum(chosen.values()) / 4
    assert strict.examples == evaluate([flags, sails], by_round=True).examples == 4


def test_a_copy_of_an_example_does_not_give_the_answer() -> None:
    copied = target("x", "weigh the anchor", "Weigh  the ANCHOR")
    found = evaluate([copied, target("y", "weigh the anchor now")])
    assert [(one.expected, one.chosen) for one in found.confusion if one.expected == "x"] == [("x", "y")]


def test_helpers_and_restrictions_do_not_count() -> None:
    hidden = Target(
        id="h", kind="tool", name="h", description="d", examples=("sail to Malta", "sail to Gozo"), tenants=("acme",)
    )
    helper = Target(id="p", kind="persona", name="p", description="d", examples=("sail to Malta",), primary=False)
    found = evaluate([hidden, helper])
    assert (found.examples, found.capabilities, found.accuracy) == (2, 1, 1.0)
