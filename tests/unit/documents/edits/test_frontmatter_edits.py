"""Edits of one field change that field's lines and nothing else (decisions D3, P08, P16, P30, P31)."""

import difflib

import pytest
import rtoml

from compozy.documents.edits import EditRefused, edit_frontmatter, replace_body

YAML = """---
# who
name: tide-clerk   # the name
model: '4.10'  # quoted on purpose
tools: [compozy__list, "mcp__bell__*"] # two
deny_tools:
  - compozy__write   # never
  # before the second
  - compozy__stop

skills:
    disabled: ["x"]
category_path:
- Tides
- Harbour
# the end
---

Keep the tables current.
---
Second part # not a comment
"""


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [line.replace("\r", "\\r").rstrip("\n") for line in lines if line[0] in "+-"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": "ebb-clerk"}, ["- name: tide-clerk   # the name", "+ name: ebb-clerk   # the name"]),
        ({"model": "5"}, ["- model: '4.10'  # quoted on purpose", "+ model: '5'  # quoted on purpose"]),
        ({"model": None}, ["- model: '4.10'  # quoted on purpose"]),
        ({"provider": "claude"}, ["+ provider: claude"]),
        ({"provider": "no"}, ['+ provider: "no"']),
        ({"provider": "4.10"}, ['+ provider: "4.10"']),
        ({"provider": ""}, []),
        (
            {"tools": ["compozy__list", "a__b"]},
            [
                '- tools: [compozy__list, "mcp__bell__*"] # two',
                '+ tools: [compozy__list, "a__b"] # two',
            ],
        ),
        ({"tools": ["compozy__list", "compozy__list", "mcp__bell__*"]}, []),
        ({"deny_tools": ["compozy__write", "a__b", "compozy__stop"]}, ["+   - a__b"]),
        ({"deny_tools": ["compozy__stop"]}, ["-   - compozy__write   # never"]),
        ({("skills", "disabled"): ["x", "y"]}, ['-     disabled: ["x"]', '+     disabled: ["x", "y"]']),
        ({("skills", "disabled"): None}, ["- skills:", '-     disabled: ["x"]']),
        ({"category_path": ["Tides", "Lock: 3", "Harbour"]}, ['+ - "Lock: 3"']),
        ({"permissions": "deny-all", "model": "4.10"}, ["+ permissions: deny-all"]),
        (
            {"mcp_servers": [{"name": "bell", "env": {"A": "1"}}]},
            ["+ mcp_servers:", "+ - name: bell", "+   env:", '+     A: "1"'],
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_only_the_lines_of_the_changed_field_differ(
    changes: dict[str | tuple[str | int, ...], object], expected: list[str], newline: str, bom: str
) -> None:
    before = bom + YAML.replace("\n", newline)
    result = edit_frontmatter(before, changes)
    assert result.in_place
    assert changed_lines(before, result.text) == [
        line + newline.replace("\r", "\\r").rstrip("\n") for line in expected
    ]


def test_each_untouched_line_keeps_its_own_ending() -> None:
    before = "---\r\nname: a\nmodel: x\r\nprovider: p\n---\r\nBody\nmore\r\n"
    after = edit_frontmatter(before, {"model": "z"}).text
    assert after == before.replace("model: x\r\n", "model: z\r\n")
    added = edit_frontmatter(before, {"command": "run"}).text
    assert added == before.replace("provider: p\n", "provider: p\ncommand: run\n")


def test_a_value_that_was_not_asked_for_keeps_its_comment_like_tail() -> None:
    before = "---\nname: tag-sorter\nmodel: sorts items by # of votes and colour\n---\nx\n"
    after = edit_frontmatter(before, {"provider": "claude"}).text
    assert "model: sorts items by # of votes and colour\n" in after


def test_no_second_header_appears_when_the_first_one_is_not_recognised() -> None:
    with pytest.raises(EditRefused, match="header not recognised at line 2"):
        edit_frontmatter("\n---\nname: a\n---\nBody\n", {"model": "x"})
    with pytest.raises(EditRefused, match="no header"):
        edit_frontmatter("Just a prompt\n", {"model": "x"})
    with pytest.raises(EditRefused, match="no closing"):
        edit_frontmatter("---\nname: a\n", {"model": "x"})


def test_an_aliased_value_falls_back_to_the_canonical_form_and_says_so() -> None:
    before = "---\nname: a\ntools: &t [a__b]\ndeny_tools: *t\n---\nBody\n"
    with pytest.raises(EditRefused, match="alias"):
        edit_frontmatter(before, {"tools": ["c__d"]})
    result = edit_frontmatter(before, {"tools": ["c__d"]}, canonical=lambda: "canonical")
    assert (result.text, result.in_place) == ("canonical", False)
    assert "alias" in result.note
    assert edit_frontmatter(before, {"name": "b"}).text == before.replace("name: a", "name: b")


def test_an_anchor_that_nothing_refers_to_stays_in_front_of_the_new_value() -> None:
    before = "---\nname: a\nmodel: &m x  # why\ntools: &t\n- a__b\n---\nBody\n"
    assert edit_frontmatter(before, {"model": "z"}).text == before.replace("&m x", "&m z")
    with pytest.raises(EditRefused, match="anchor"):
        edit_frontmatter(before, {"tools": ["c__d"]})


def test_a_merge_key_falls_back_too() -> None:
    before = "---\nname: a\nhooks:\n- &h {name: x, event: turn.end}\n- {<<: *h, command: y}\n---\nBody\n"
    result = edit_frontmatter(before, {("hooks", 1, "command"): "z"}, canonical=lambda: "canonical")
    assert not result.in_place


def test_a_header_with_a_key_written_twice_is_not_edited() -> None:
    with pytest.raises(EditRefused, match="twice"):
        edit_frontmatter("---\nname: a\nname: b\n---\nBody\n", {"model": "x"})


TOML = """---
# who
Name = "tide-clerk"   # the name
model = 'x'  # literal

tools = [
  "compozy__list",  # one
  "mcp__bell__*"
]

[skills]
disabled = ["x"]

[[hooks]]   # first
name = "log"
event = "turn.end"
command = "log"
---
Body
"""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": "ebb"}, ['- Name = "tide-clerk"   # the name', '+ Name = "ebb"   # the name']),
        ({"model": "y"}, ["- model = 'x'  # literal", "+ model = 'y'  # literal"]),
        ({"model": None}, ["- model = 'x'  # literal"]),
        ({"provider": "claude"}, ['+ provider = "claude"']),
        ({"tools": ["compozy__list", "a__b", "mcp__bell__*"]}, ['+   "a__b",']),
        ({"tools": ["compozy__list"]}, ['-   "mcp__bell__*"']),
        ({("skills", "disabled"): ["x", "y"]}, ['- disabled = ["x"]', '+ disabled = ["x", "y"]']),
        ({"skills": None}, ["- [skills]", '- disabled = ["x"]']),
        ({("hooks", 0, "command"): "cat"}, ['- command = "log"', '+ command = "cat"']),
        ({("hooks", 0, "timeout"): "5s"}, ['+ timeout = "5s"']),
        ({"permissions": "deny-all"}, ['+ permissions = "deny-all"']),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_toml_header_is_edited_in_place_as_well(
    changes: dict[str | tuple[str | int, ...], object], expected: list[str], newline: str
) -> None:
    before = TOML.replace("\n", newline)
    result = edit_frontmatter(before, changes)
    assert result.in_place
    assert changed_lines(before, result.text) == [
        line + newline.replace("\r", "\\r").rstrip("\n") for line in expected
    ]


def test_an_empty_header_gains_its_first_field() -> None:
    assert edit_frontmatter("---\n---\nBody\n", {"name": "a"}).text == "---\nname: a\n---\nBody\n"
    assert edit_frontmatter("---\n# c\n---\nBody\n", {"name": "a"}).text == "---\n# c\nname: a\n---\nBody\n"


def test_a_multi_line_string_of_toml_is_kept_whole() -> None:
    before = '---\nname = "a"\nmodel = """\nx = 1\n# no comment\n"""\ncommand = "run"\n---\nBody\n'
    after = edit_frontmatter(before, {"command": "go"}).text
    assert after == before.replace('"run"', '"go"')
    assert rtoml.loads(after.split("---\n")[1])["model"] == "x = 1\n# no comment\n"


MIXED = "---\r\nname: a\r\n---\r\nOne\r\ntwo\nthree\r\n"


@pytest.mark.parametrize(
    ("before", "body", "after"),
    [
        ("---\nname: a\n---\n\nOld\n", "New", "---\nname: a\n---\n\nNew\n"),
        ("---\nname: a\n---\nOld", "New\n", "---\nname: a\n---\nNew"),
        (MIXED, "One\nTWO\nthree", MIXED.replace("two\n", "TWO\r\n")),
        (MIXED, " One\ntwo\nthree ", MIXED),
        ("---\nname: a\n---", "New", "---\nname: a\n---\nNew\n"),
        ("---\nname: a\n---\n", "New", "---\nname: a\n---\n\nNew\n"),
    ],
)  # fmt: skip
def test_a_new_body_keeps_the_header_the_blanks_around_it_and_the_endings(before: str, body: str, after: str) -> None:
    assert replace_body(before, body) == after
