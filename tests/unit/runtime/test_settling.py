"""What turns used: tokens add up, cost is a running total of each session of the agent."""

import pytest

from compozy.runtime.sessions.settling import add_turn, usage_of
from compozy.store.interface import Spent


def test_tokens_of_turns_add_up_in_either_spelling() -> None:
    spent = add_turn(Spent(), {"inputTokens": 5, "outputTokens": 2}, {}, "a")
    spent = add_turn(spent, {"input_tokens": 1, "output_tokens": 1, "total_tokens": 9}, {}, "a")
    assert (spent.turns, spent.input_tokens, spent.output_tokens, spent.total_tokens) == (2, 6, 3, 16)


def test_nothing_said_is_null_and_not_zero() -> None:
    usage = usage_of(add_turn(Spent(), {}, {}, "a"))
    assert (usage.turn_count, usage.total_tokens, usage.total_cost) == (1, None, None)
    assert (usage.cost_source, usage.cost_status) == ("none", "unknown")


@pytest.mark.parametrize("odd", [None, "7", True, -1, [], {}])
def test_numbers_that_are_none_are_not_counted(odd: object) -> None:
    spent = add_turn(Spent(), {"inputTokens": odd}, {"amount": odd if odd != -1 else None}, "a")
    assert spent.input_tokens is None and spent.cost is None


def test_the_cost_of_several_sessions_of_the_agent_is_added_and_a_running_total_is_not_counted_twice() -> None:
    spent = Spent()
    for session, amount in (("a", 0.5), ("a", 0.75), ("b", 0.25)):
        spent = add_turn(spent, {}, {"amount": amount, "currency": "USD"}, session)
    usage = usage_of(spent)
    assert (usage.total_cost, usage.cost_currency, usage.cost_status) == (1.0, "USD", "actual")
