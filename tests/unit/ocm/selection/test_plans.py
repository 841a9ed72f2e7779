"""Plans fill a slot only with what fits, and say why a slot stays empty."""

from compozy.ocm.policy import Request
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.plans import make_plan
from compozy.ocm.target import Target

CATALOGUE = (
    Target(id="agent:db", kind="agent", name="dbKeeper", description="Repairs slow database queries."),
    Target(id="skill:sql", kind="skill", name="sql", description="Tuning SQL database queries.", primary=False),
    Target(id="persona:pirate", kind="persona", name="pirate", description="Arr, talks of ships.", primary=False),
    Target(
        id="tool:explain", kind="tool", name="explainQuery", description="Explains a slow query.", regions=("us",)
    ),
)


def test_a_helper_that_fits_is_taken_and_one_that_does_not_is_left_out() -> None:
    plan = make_plan(Selector(CATALOGUE), "repair a slow database query", Request(region="eu"))
    assert plan.outcome.chosen == "agent:db"
    assert [(slot.role, slot.id) for slot in plan.slots] == [("skill", "skill:sql")]
    assert set(plan.empty) == {"persona", "tool"}


def test_nothing_chosen_means_no_helpers() -> None:
    plan = make_plan(Selector(CATALOGUE), "hello")
    assert plan.outcome.chosen == "" and plan.slots == ()


def test_a_tool_gains_nothing() -> None:
    plan = make_plan(Selector(CATALOGUE[3:]), "explain this slow query", Request(region="us"))
    assert plan.outcome.chosen == "tool:explain" and plan.slots == () and plan.empty == {}
