"""Advice on manifests, changes between two sets, and their one form (issue 8 item 4)."""

from pathlib import Path

import pytest

from compozy.ocm.changes import compare
from compozy.ocm.formatting import format_json, format_yaml
from compozy.ocm.lint import advise, near_duplicates
from compozy.ocm.loading import read
from compozy.ocm.target import from_manifest
from compozy.ocm.yaml_text import YamlText

GOOD: dict[str, object] = {
    "ocm": "1",
    "id": "acme/refunds",
    "kind": "agent",
    "description": "Pays back orders that arrived broken, and writes to the customer",
    "examples": ["refund order 17"],
    "cost": {"usd_per_call": 0.02},
}


def codes(**more: object) -> list[tuple[str, str]]:
    return [(one.code, one.field) for one in advise({**GOOD, **more})]


def test_a_good_manifest_gets_no_advice_and_an_invalid_one_none_yet() -> None:
    assert codes() == []
    assert codes(kind="robot") == []


@pytest.mark.parametrize(
    ("more", "want"),
    [
        (
            {"capabilities": {"min_complexity": 0.9, "max_complexity": 0.1}},
            ("lint-complexity", "capabilities.min_complexity"),
        ),
        ({"latency_ms": {"p50": 900, "p99": 30}}, ("lint-percentiles", "latency_ms.p50")),
        ({"examples": []}, ("lint-examples", "examples")),
        ({"description": "A helpful agent that does useful things"}, ("lint-vague", "description")),
        ({"kind": "llm", "cost": {}}, ("lint-unpriced", "cost")),
        ({"kind": "llm", "cost": {"wh_per_1k_tokens": 1}}, ("lint-unpriced", "cost")),
        ({"latency_ms": {"p90": 50, "p95": 40}}, ("lint-percentiles", "latency_ms.p90")),
        ({"cost": {"usd_per_1k_tokens": 1}}, ("lint-priced-by-token", "cost.usd_per_1k_tokens")),
        ({"kind": "persona"}, ("lint-persona-primary", "kind")),
        (
            {
                "constraints": {"regions": ["eu", "us"]},
                "endpoints": [{"protocol": "http", "url": "https://x.example", "region": "EU"}],
            },
            ("lint-region", "constraints.regions"),
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_is_valid_and_unwise_is_told(more: dict[str, object], want: tuple[str, str]) -> None:
    assert want in codes(**more)


def test_advice_on_missing_examples_names_the_command_that_finds_some() -> None:
    (found,) = advise({**GOOD, "examples": []})
    assert "`compozy ocm examples TASKS PATH` chooses them from real tasks" in found.message


@pytest.mark.parametrize(
    "description", ["翻译合同和发票", "Übersetzt Verträge für Juristen", "Переводит договоры", "契約書を翻訳します"]
)
def test_a_description_in_any_script_can_tell_enough(description: str) -> None:
    assert codes(description=description) == []


def test_equal_examples_are_told_where_the_descriptions_share_no_word(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    row = '- {{ocm: "1", id: {0}, kind: tool, description: {1}, examples: [pay back order 1, my cup is broken]}}\n'
    path.write_text(row.format("a", "Refunds customers") + row.format("b", "返金") + row.format("c", "Geld zurück"))
    found = list(near_duplicates(read([path]).entries))
    assert [(index, one.field) for index, one in found] == [(1, "examples"), (2, "examples")]


def test_near_duplicates_name_the_first(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    row = '- {{ocm: "1", id: {0}, kind: tool, description: {1}}}\n'
    path.write_text(
        row.format("a", "Sends the invoice of an order to its customer")
        + row.format("b", "Draws a chart of sales by month and region")
        + row.format("c", "Sends the invoice of an order to its customers customer")
    )
    found = list(near_duplicates(read([path]).entries))
    assert [(index, one.code) for index, one in found] == [(2, "lint-near-duplicate")]
    assert "'a'" in found[0][1].message


def changes(old: dict[str, object], new: dict[str, object]) -> dict[str, str]:
    sides = [{str(one["id"]): from_manifest(one)} for one in (old, new)]
    return {one.field: one.change for one in compare(*sides)}


@pytest.mark.parametrize(
    ("field", "old", "new", "where", "change"),
    [
        ("kind", "agent", "tool", "kind", "breaking"),
        ("description", "a", "b", "description", "additive"),
        ("cost", {"usd_per_call": 1}, {"usd_per_call": 2}, "cost.usd_per_call", "breaking"),
        ("cost", {"usd_per_call": 2}, {"usd_per_call": 1}, "cost.usd_per_call", "additive"),
        ("capabilities", {"actions": ["a", "b"]}, {"actions": ["a"]}, "capabilities.actions", "breaking"),
        ("capabilities", {"actions": ["a"]}, {"actions": ["a", "b"]}, "capabilities.actions", "additive"),
        ("capabilities", {}, {"context_window": 9}, "capabilities.context_window", "breaking"),
        ("constraints", {}, {"regions": ["eu"]}, "constraints.regions", "breaking"),
        ("constraints", {"regions": ["eu"]}, {"regions": ["EU", "us"]}, "constraints.regions", "additive"),
        ("constraints", {"data_boundary": "on_prem"}, {}, "constraints.data_boundary", "breaking"),
        ("primary", True, False, "primary", "breaking"),
        ("endpoints", [{"protocol": "mcp"}], [], "endpoints", "breaking"),
        ("latency_ms", 900, 100, "latency_ms", "additive"),
        ("latency_ms", {"p50": 9, "p99": 20}, {"p50": 9, "p99": 90}, "latency_ms.p99", "breaking"),
        ("latency_ms", {"p50": 9, "p99": 20}, {"p50": 9, "p99": 10}, "latency_ms.p99", "additive"),
        ("latency_ms", {"p50": 9, "p99": 20}, {"p50": 9}, "latency_ms.p99", "additive"),
        ("latency_ms", 9, {"p50": 9, "p99": 20}, "latency_ms.p99", "additive"),
        ("capabilities", {"languages": ["en", "de"]}, {"languages": ["*"]}, "capabilities.languages", "additive"),
        ("capabilities", {"languages": ["*"]}, {"languages": ["en"]}, "capabilities.languages", "breaking"),
        ("constraints", {"tenants": ["acme/x"]}, {"tenants": ["acme"]}, "constraints.tenants", "additive"),
        ("constraints", {"tenants": ["acme"]}, {"tenants": ["acme/x"]}, "constraints.tenants", "breaking"),
        ("constraints", {"tenants": ["acme"]}, {"tenants": ["Acme"]}, "constraints.tenants", "breaking"),
        ("constraints", {"tenants": ["acme"]}, {}, "constraints.tenants", "additive"),
        (
            "endpoints",
            [{"protocol": "mcp"}, {"protocol": "queue"}],
            [{"protocol": "queue"}, {"protocol": "mcp"}],
            "endpoints",
            "breaking",
        ),
    ],
)
def test_a_change_is_breaking_when_a_served_request_may_now_fail(
    field: str, old: object, new: object, where: str, change: str
) -> None:
    assert changes({**GOOD, field: old}, {**GOOD, field: new})[where] == change


def test_spelling_out_a_default_is_no_change_and_ids_come_and_go() -> None:
    assert changes(GOOD, {**GOOD, "primary": True, "capabilities": {"languages": ["en"]}}) == {}
    other = {**GOOD, "id": "other"}
    found = compare({"acme/refunds": from_manifest(GOOD)}, {"other": from_manifest(other)})
    assert [(one.id, one.change) for one in found] == [("acme/refunds", "breaking"), ("other", "additive")]


UNTIDY = """\
# About this file.

# What it does.
description: >-
  Pays back
  orders
kind: tool   # not an agent
constraints: {regions: [no, se]}
ocm: "1"
id: a/b
"""
TIDY = """\
# About this file.

ocm: "1"
id: a/b
kind: tool   # not an agent
# What it does.
description: >-
  Pays back
  orders
constraints: {regions: ["no", se]}
"""


def test_formatting_orders_fields_keeps_comments_and_spells_safely() -> None:
    assert format_yaml(UNTIDY) == TIDY
    assert format_yaml(TIDY) == TIDY
    assert YamlText(TIDY).values == YamlText(UNTIDY).values


@pytest.mark.parametrize(
    "text",
    [
        'ocm: "1"\nid: a\nkind: tool\ndescription: d\ninstructions: |\n  two blanks  \n  end\n',
        "id: &a x\nocm: *a\n",
        "{ocm: '1', id: a}\n",
        "not: [closed\n",
    ],
)
def test_a_text_that_cannot_be_formatted_safely_keeps_its_meaning(text: str) -> None:
    after = format_yaml(text)
    assert YamlText(after).values == YamlText(text).values


def test_json_is_ordered_and_indented_and_broken_json_left_alone() -> None:
    assert format_json('{"id":"a","ocm":"1"}') == '{\n  "ocm": "1",\n  "id": "a"\n}\n'
    assert format_json('{"id":') == '{"id":'
