"""Ids of tools: canonical names, patterns (contract §6.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.tools.ids import Patterns, canonical, mcp_tool_id, problem_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("GitHub", "github"),
        ("brave-search", "brave_search"),
        ("a..b  c", "a_b_c"),
        ("__x__", "x"),
        ("3d", "x3d"),
        ("", "x"),
        ("Ünïcode", "n_code"),
    ],
)
def test_a_foreign_name_becomes_one_segment(name: str, expected: str) -> None:
    assert canonical(name) == expected


@given(st.text(max_size=20), st.text(max_size=20))
def test_whatever_the_names_the_id_is_legal(server: str, tool: str) -> None:
    assert problem_of(mcp_tool_id(server, tool)) == ""


def test_a_name_that_is_too_long_is_reported_not_cut() -> None:
    assert problem_of(mcp_tool_id("server", "t" * 80)) == "id_too_long"


def test_an_id_without_a_separator_is_none() -> None:
    assert problem_of("compozy") == "id_invalid_format"


def test_patterns_match_exact_ids_and_prefixes_and_name_the_entry() -> None:
    patterns = Patterns.of(["compozy__tool_list", "mcp__github__*"])
    assert patterns.matches("compozy__tool_list") and not patterns.matches("compozy__tool_list_all")
    assert patterns.entry_for("mcp__github__issue") == "mcp__github__*"
    assert not patterns.matches("mcp__gitlab__issue") and patterns.entry_for("x__y") == ""
    assert not Patterns.of(()) and not Patterns.of(()).matches("a__b")
