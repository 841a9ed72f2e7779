"""Leave-one-out: only the example that is asked for is missing, and no copy of it gives the answer (`ocm eval`)."""

import math

from compozy.lexical.words import MOST_CHARACTERS
from compozy.ocm.policy import Request
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.evaluation import estimate, evaluate
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


def test_what_takes_too_long_is_judged_at_even_distances_and_the_rest_is_counted() -> None:
    catalogue = [target(name, *(f"{name} number {n}" for n in range(10))) for name in ("flags", "sails", "masts")]
    strict, rounds = estimate(catalogue), estimate(catalogue, by_round=True)
    assert (strict.steps, strict.taken, rounds.steps, rounds.taken) == (30, 30, 10, 10)
    assert strict.seconds > rounds.seconds
    some = evaluate(catalogue, patience=6.5 * strict.each)
    assert (some.examples, some.left_out, some.accuracy) == (6, 24, 1.0)
    assert some == evaluate(catalogue, patience=6.5 * strict.each)
    some = evaluate(catalogue, patience=2.5 * rounds.each, by_round=True)
    assert (some.examples, some.left_out) == (6, 24)
    assert evaluate(catalogue, patience=0).examples == 1
    assert evaluate(catalogue, patience=math.inf).left_out == 0


def test_of_many_examples_those_judged_belong_to_all_capabilities() -> None:
    # Nobody finds a thing: each example that is judged is told as a mistake.
    catalogue = [target(name, *(f"{word} {n}" for n in range(10))) for name, word in (("a", "b"), ("b", "c"))]
    found = evaluate(catalogue, minimum=1.0, patience=4.5 * estimate(catalogue).each)
    assert {one.expected: one.count for one in found.confusion} == {"a": 2, "b": 2}


def test_nothing_to_judge_takes_no_time() -> None:
    assert estimate([]).taken == estimate([target("flags")], by_round=True).taken == 0
    assert estimate([target("flags")]).seconds == 0


def test_what_is_not_read_of_a_long_example_takes_no_time() -> None:
    read = estimate([target("a", "x " * (MOST_CHARACTERS // 2))])
    assert estimate([target("a", "x " * MOST_CHARACTERS * 20)]) == read
