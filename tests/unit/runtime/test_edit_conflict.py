"""The three-way hint of a refused edit (decisions D4; issue 4 item 4)."""

from msgspec.structs import replace

from compozy.model.definition import AgentDefinition
from compozy.runtime.edit_conflict import sentence, three_way

BASE = AgentDefinition(name="a", prompt="Do it.", model="m", tools=("x", "y"))


def test_changes_of_different_fields_do_not_touch() -> None:
    facts = three_way(BASE, replace(BASE, model="n"), replace(BASE, prompt="Do that.", tools=("x",)))
    assert facts == {
        "your_changes": "model",
        "their_changes": "tools, prompt",
        "disputed_fields": "",
        "touches": "no",
    }
    assert sentence(facts) == "you change model, somebody changed tools, prompt; the changes do not touch"


def test_one_field_changed_by_both_touches_unless_the_values_agree() -> None:
    facts = three_way(BASE, replace(BASE, model="n", skills_disabled=("s",)), replace(BASE, model="o"))
    assert (facts["touches"], facts["disputed_fields"], facts["your_changes"]) == ("yes", "model", "model, skills")
    same = three_way(BASE, replace(BASE, model="n"), replace(BASE, model="n"))
    assert (same["touches"], same["your_changes"]) == ("no", "")


def test_the_order_of_sets_and_outer_blanks_are_no_change() -> None:
    facts = three_way(BASE, replace(BASE, tools=("y", "x", "y"), prompt=" Do it.\n"), replace(BASE, model="n"))
    assert facts["your_changes"] == ""


def test_a_change_no_payload_shows_is_named_as_such() -> None:
    assert three_way(BASE, BASE, BASE)["their_changes"] == "mcp_servers or hooks"


def test_without_the_state_the_author_saw_only_differences_are_told() -> None:
    facts = three_way(None, replace(BASE, model="n"), BASE)
    assert facts == {"differing_fields": "model", "touches": "unknown"}
    assert sentence(facts) == "what is in force differs from yours in model"
