"""Selection over a catalogue: constraints before words, reasons, margins, and the right to say that none fits."""

import math
import tracemalloc

import pytest

from compozy.lexical.words import MOST_CHARACTERS
from compozy.model.errors import InvalidRequest
from compozy.ocm.policy import Request, decide
from compozy.ocm.selection.documents import read_target
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.fit import tell_shortfall
from compozy.ocm.target import Target


def target(name: str, description: str, **more: object) -> Target:
    return Target(id=f"acme/{name}", kind="agent", name=name, description=description, **more)  # type: ignore[arg-type]


CATALOGUE = (
    target("invoiceWriter", "Writes invoices and checks the tax on them.", examples=("bill the Smith account",)),
    target("translator", "Translates letters and contracts.", languages=("en", "fr"), tags=("language",)),
    target("nightWatch", "Watches servers at night and raises alarms.", regions=("eu",), tenants=("acme",)),
)


def test_the_best_match_is_chosen_with_reasons_margin_and_confidence() -> None:
    outcome = Selector(CATALOGUE).select("write an invoice for the Smith account")
    assert outcome.chosen == "acme/invoiceWriter"
    assert outcome.ranked[0].reasons == (
        "its name mentions write, invoice",
        "one of its examples mentions smith, account",
    )
    assert 0.5 < outcome.confidence <= 1 and outcome.margin > 0.5


def test_a_misspelled_word_still_finds_its_capability() -> None:
    assert Selector(CATALOGUE).select("tranlsate this contrat").chosen == "acme/translator"


def test_none_fits_is_an_answer_and_names_the_nearest() -> None:
    outcome = Selector(CATALOGUE).select("bake a cake with the children on a sunny afternoon")
    assert outcome.chosen == "" and outcome.reason.startswith("none")
    assert Selector(()).select("anything").chosen == ""
    assert Selector(CATALOGUE).select("the of and").chosen == ""


def test_a_hard_constraint_beats_every_score_and_says_which_rule_it_was() -> None:
    selector = Selector(CATALOGUE)
    outcome = selector.select("watch the servers at night", Request())
    assert outcome.chosen == "" and outcome.refused[0].id == "acme/nightWatch"
    assert outcome.refused[0].rule == "tenant" and outcome.refused_by_rule == {"tenant": 1}
    assert selector.select("watch the servers at night", Request(tenant="acme")).chosen == "acme/nightWatch"
    denied = selector.select("watch the servers at night", Request(tenant="acme", deny=("acme/nightWatch",)))
    assert denied.refused_by_rule == {"deny": 1}
    allowed = selector.select("watch the servers", Request(tenant="acme", allow=("acme/translator",)))
    assert allowed.refused_by_rule == {"allow": 2}


def test_an_unknown_boundary_is_an_error_and_not_a_choice() -> None:
    with pytest.raises(InvalidRequest, match="onprem"):
        Selector(CATALOGUE).select("write an invoice", Request(data_boundary="onprem"))


def test_the_verdicts_are_those_of_the_policy_one_by_one() -> None:
    many = [
        target(f"t{n}", "Does things.", regions=(("eu",), ("us",), ())[n % 3], enabled=n % 5 > 0) for n in range(60)
    ]
    request = Request(region="EU", deny=("acme/t2",), tenant="x")
    outcome = Selector(many).select("does things", request, limit=100)
    assert {ranked.id for ranked in outcome.ranked} == {t.id for t in many if decide(t, request).admitted}


def test_order_does_not_matter_and_ties_go_by_id() -> None:
    task = "translate an invoice at night"
    first, second = Selector(CATALOGUE).select(task), Selector(CATALOGUE[::-1]).select(task)
    assert first == second
    twins = Selector([target("c", "Sorts mail."), target("b", "Sorts mail.")]).select("sorts mail")
    assert [ranked.id for ranked in twins.ranked] == ["acme/b", "acme/c"] and twins.margin == 0


def test_a_prior_settles_a_tie_and_never_beats_the_words() -> None:
    tie = [target("b", "Sorts mail."), target("c", "Sorts mail.", prior=0.9)]
    assert Selector(tie).select("sorts mail").chosen == "acme/c"
    better = [target("a", "Sorts mail and letters."), target("b", "Sorts stamps.", prior=1.0)]
    assert Selector(better).select("sort mail and letters").chosen == "acme/a"


def test_helpers_take_no_request_unless_asked_for() -> None:
    pirate = Target(id="p", kind="persona", name="pirate", description="Talks like a pirate.", primary=False)
    selector = Selector((*CATALOGUE, pirate))
    outcome = selector.select("talk like a pirate")
    assert outcome.chosen == "" and outcome.refused[0].rule == "primary"
    assert selector.select("talk like a pirate", helpers=True).chosen == "p"


def test_parameters_of_a_tool_count() -> None:
    tool = Target(
        id="t:x",
        kind="tool",
        name="x",
        description="A call.",
        metadata={"inputSchema": {"properties": {"orbitHeight": {"description": "of the satellite"}}}},
    )
    assert Selector((tool, *CATALOGUE)).select("which orbit has the satellite").chosen == "t:x"


def test_a_task_in_other_words_is_understood_and_the_reason_names_them() -> None:
    outcome = Selector((*CATALOGUE, target("shopper", "Purchases shoes."))).select("buy sneakers")
    assert outcome.chosen == "acme/shopper"
    assert outcome.ranked[0].reasons[0] == "its description mentions purchases, near to buy"


def peak(selector: Selector, task: str) -> int:
    """Return the most bytes that a choice takes beside what was there."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        selector.select(task)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def test_a_task_of_megabytes_is_read_no_further_than_its_beginning() -> None:
    selector = Selector(CATALOGUE)
    begun = "bill the Smith account " * (MOST_CHARACTERS // 23)
    beyond = " ".join(f"watch{n}servers" for n in range(200_000))
    long = f"{begun}{'.' * (MOST_CHARACTERS - len(begun))} {beyond}"
    assert len(long) > 3_000_000
    assert selector.select(long) == selector.select(begun)
    assert peak(selector, long) < peak(selector, begun) + 2 * MOST_CHARACTERS


def test_what_a_field_says_beyond_the_bound_is_not_read_and_the_other_fields_are() -> None:
    filled = target("filler", "hum " * (MOST_CHARACTERS // 4) + "unicorn", examples=("saddle the zebra",))
    selector = Selector((filled, *CATALOGUE))
    assert not selector.select("unicorn").ranked
    assert selector.select("zebra").ranked[0].id == "acme/filler"


def test_a_value_in_the_task_finds_the_tool_that_asks_for_it_and_the_reason_says_so() -> None:
    def tool(name: str, description: str, **parameters: object) -> Target:
        return Target(id=name, kind="tool", name=name, description=description, metadata={"parameters": parameters})

    selector = Selector(
        (
            tool("dispatch", "Gets the thing out.", recipient="An email address.", text="What to say."),
            tool("dial", "Gets through to somebody.", number="A phone number."),
        )
    )
    outcome = selector.select("ada@mail.example should hear that we are late")
    assert outcome.ranked[0].id == "dispatch"
    assert "its parameters mention recipient, and the task has an e-mail address" in outcome.ranked[0].reasons
    assert selector.select("reach +49 170 1234567").ranked[0].id == "dial"


def test_allowed_values_and_inner_fields_of_parameters_count() -> None:
    schema = {
        "type": "object",
        "properties": {
            "drink": {"type": "string", "enum": ["espresso", "cortado", 3]},
            "filters": {"type": "object", "properties": {"roastery": {"description": "Who roasted it."}}},
            "lines": {"type": "array", "items": {"properties": {"milkKind": {}}}},
        },
    }
    coffee = Target(id="a", kind="tool", name="a", description="Makes it.", metadata={"inputSchema": schema})
    other = Target(id="b", kind="tool", name="b", description="Breaks it.")
    selector = Selector((coffee, other))
    for task in ("cortado", "roastery", "milk"):
        assert selector.select(task).ranked[0].id == "a", task


BREW = {"drinkName": {"type": "string", "description": "Who drinks.", "enum": ["espresso"]}}


@pytest.mark.parametrize(
    "metadata",
    [
        {"parameters": {"type": "object", "properties": BREW, "required": ["drinkName"]}},
        {"parameters": [{"name": "drinkName", **BREW["drinkName"]}, "milk", 3, None]},
        {"mcp": {"name": "brew", "inputSchema": {"type": "object", "properties": BREW}}},
        {"mcp": "none", "inputSchema": {"properties": BREW}},
    ],
)
def test_parameters_are_found_in_the_forms_that_people_write_and_import_makes(metadata: dict[str, object]) -> None:
    tool = Target(id="a", kind="tool", name="a", description="Makes it.", metadata=metadata)
    texts = [field.text for field in read_target(tool).fields if field.place == "its parameters"]
    assert "drink Name Who drinks. espresso" in texts and all(texts)
    assert not any("required" in text or "type" in text for text in texts)


@pytest.mark.parametrize(
    "parameters",
    [
        "text",
        7,
        {"properties": ["x"]},
        {"type": "object", "properties": ["x"]},
        {"type": ["object"], "x": None},
        [{"a": 1}, [["b"]], {"name": {"c": 1}}],
        {1: {"enum": {"a": 1}, "description": {"d": 1}, "items": [{"properties": {}}], "properties": 5}, None: True},
    ],
)
def test_parameters_that_are_none_do_no_harm(parameters: object) -> None:
    tool = Target(id="a", kind="tool", name="a", description="Grinds beans.", metadata={"parameters": parameters})
    assert Selector((tool, *CATALOGUE)).select("grind beans").ranked[0].id == "a"


@pytest.mark.parametrize("limit", ["max_cost_usd", "max_cost_per_1k", "max_latency_ms"])
def test_a_limit_that_is_no_number_is_met_by_nothing(limit: str) -> None:
    priced = Target(id="a", kind="tool", name="a", description="Grinds.", cost={"usd_per_call": 5.0})
    assert decide(priced, Request(**{limit: math.nan})) is not None  # type: ignore[arg-type]


def test_a_confidence_just_below_the_bound_is_told_with_the_digits_that_show_it() -> None:
    assert tell_shortfall(0.12, 0.2) == "right with 12%, below 20%"
    assert tell_shortfall(0.1961, 0.2) == "right with 19.6%, below 20.0%"
    assert tell_shortfall(0.19996, 0.2) == "right with 19.996%, below 20.000%"
