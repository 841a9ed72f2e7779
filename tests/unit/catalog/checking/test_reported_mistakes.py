"""Mistakes people reported from neighbouring tools, each through the checker (reports P01-P16)."""

from pathlib import Path

import pytest

from compozy.catalog.checking.files import text_check
from compozy.catalog.checking.run import CheckReport
from compozy.cli.checking.human import Painter, block
from compozy.documents.edits import EditRefused, edit_frontmatter
from compozy.documents.repairs import repair
from compozy.model.diagnostic import Diagnostic, Severity

P01 = 'Checks postings. Use when: totals drift, or the user says "reconcile".'
HEADER = "---\nname: ledger-auditor\n{field}: {value}\n---\n\nBody: text.\n"
BOTH = [("SKILL.md", "description"), ("AGENT.md", "command")]


def check(name: str, text: str) -> tuple[Diagnostic, ...]:
    return text_check(Path("/w") / name)(text)


def place(one: Diagnostic) -> tuple[int, int]:
    assert one.position is not None
    return one.position.line, one.position.column


@pytest.mark.parametrize(("name", "field"), BOTH)
def test_p01_colon_space_in_a_plain_value_is_placed_explained_and_mended_in_one_line(name: str, field: str) -> None:
    text = HEADER.format(field=field, value=P01)
    (problem,) = check(name, text)
    assert place(problem) == (3, len(field) + 2 + P01.index(": ") + 1)
    assert "must be quoted" in problem.cause
    outcome = repair(text, text_check(Path("/w") / name))
    assert outcome.diagnostics == ()
    changed = [(a, b) for a, b in zip(text.split("\n"), outcome.text.split("\n"), strict=True) if a != b]
    assert changed == [(f"{field}: {P01}", f"{field}: '{P01}'")]
    shown = block(problem, CheckReport(files=1, texts={problem.path: text}), Painter(False))
    assert f"    3 + {field}: '{P01}'" in shown, "the corrected line is printed"


@pytest.mark.parametrize(("name", "field"), BOTH)
def test_p02_a_continuation_without_indentation_is_an_error_at_the_second_line(name: str, field: str) -> None:
    text = HEADER.format(field=field, value="Answers questions and\nexplains zones.")
    (problem,) = check(name, text)
    assert place(problem)[0] == 4 and "not indented" in problem.cause
    assert repair(text, text_check(Path("/w") / name)).diagnostics == ()


def test_p05_one_space_too_many_is_named() -> None:
    (problem,) = check("AGENT.md", "---\nname: kiln-watch\n provider: claude\n---\nHi\n")
    assert place(problem)[0] == 3 and "indented" in problem.cause


@pytest.mark.parametrize(("name", "field"), BOTH)
def test_p06_text_after_a_bracket_says_to_quote_the_value(name: str, field: str) -> None:
    (problem,) = check(name, HEADER.format(field=field, value="[fast] [safe] splicing"))
    assert place(problem)[0] == 3 and "quote the value" in problem.cause


def test_p07_a_byte_order_mark_is_an_error_of_its_own_with_a_repair() -> None:
    text = "\ufeff---\nname: a\n---\nHi\n"
    (problem,) = check("AGENT.md", text)
    assert problem.code == "frontmatter-bom"
    assert repair(text, text_check(Path("/w/AGENT.md"))).text == text[1:]


@pytest.mark.parametrize("newline", ["\r\n", "mixed"])
def test_p08_windows_line_ends_are_no_problem_and_survive_a_repair(newline: str) -> None:
    text = "---\r\nname: a\r\nmodle: x\r\n---\r\nHi\r\n"
    if newline == "mixed":
        text = text.replace("name: a\r\n", "name: a\n")
    outcome = repair(text, text_check(Path("/w/AGENT.md")))
    assert outcome.diagnostics == () and outcome.text == text.replace("modle", "model")


@pytest.mark.parametrize("text", ["\n\n---\nname: a\n---\nHi\n", " ---\nname: a\n---\nHi\n"])
def test_p19_the_remedy_of_a_refused_edit_works(text: str) -> None:
    with pytest.raises(EditRefused, match="compozy agent check --fix"):
        edit_frontmatter(text, {"model": "x"})
    repaired = repair(text, text_check(Path("/w/AGENT.md"))).text
    assert edit_frontmatter(repaired, {"model": "x"}).text == "---\nname: a\nmodel: x\n---\nHi\n"


@pytest.mark.parametrize("value", ['"a__b, c__d"', "a__b c__d", "a__b"])
def test_p12_a_string_for_a_list_names_both_types_and_shows_the_list(value: str) -> None:
    text = f"---\nname: a\ntools: {value}\n---\nHi\n"
    (problem,) = check("AGENT.md", text)
    assert "must be a list of strings, found the string" in problem.message
    assert problem.suggestion.startswith("[a__b")
    assert "tools: [a__b" in repair(text, text_check(Path("/w/AGENT.md"))).text


@pytest.mark.parametrize("count", [1, 7, 40])
@pytest.mark.parametrize(
    ("name", "text", "anchor"),
    [
        ("AGENT.md", "---\nname: a\nhooks:\n- name: x\n  event: turn.end\n  enabled: maybe\n---\nHi\n", "hooks:"),
        (
            "AGENT.md",
            '---\nname = "a"\n[[hooks]]\nname = "x"\nevent = "turn.end"\nenabled = 3\n---\nHi\n',
            "[[hooks]]",
        ),
        ("SKILL.md", "---\nname: a\nmetadata:\n  compozy:\n    when:\n      platform: [x]\n---\nHi\n", "metadata:"),
        ("SOUL.md", "---\nrole: x\ntone: {a: b}\n---\nHi\n", "tone:"),
        ("HEARTBEAT.md", "---\nversion: 1\npreferences:\n  min_interval: soon\n---\nHi\n", "preferences:"),
        ("capabilities.toml", '[[capabilities]]\nid = "a"\nsummary = 3\noutcome = "x"\n', "id ="),
    ],
)
def test_p14_lines_inserted_above_move_the_place_by_exactly_their_number(
    name: str, text: str, anchor: str, count: int
) -> None:
    before = [(place(one), one.code) for one in check(name, text)]
    moved = text.replace(anchor, "# a comment\n" * count + anchor, 1)
    after = [(place(one), one.code) for one in check(name, moved)]
    assert before and after == [((line + count, column), code) for (line, column), code in before]


def test_p14_blank_lines_in_json_move_it_too() -> None:
    text = '{\n"mcpServers": {\n"a": {"comand": "x"}}}'
    before = [place(one) for one in check("mcp.json", text)]
    after = [place(one) for one in check("mcp.json", text.replace("{\n", "{\n\n\n\n", 1))]
    assert before and after == [(line + 3, column) for line, column in before]


@pytest.mark.parametrize(
    ("name", "text", "nearest"),
    [
        ("AGENT.md", "---\nname: a\nreasoning_efort: high\n---\nHi\n", "reasoning_effort"),
        ("AGENT.md", "---\nname: a\nmcp_servers:\n- {name: x, comand: y}\n---\nHi\n", "command"),
        ("mcp.json", '{"mcpServers": {"a": {"command": "x", "ulr": "y"}}}', "url"),
        ("capabilities.toml", '[[capabilities]]\nid = "a"\nsumary = "b"\noutcome = "c"\n', "summary"),
        ("SOUL.md", "---\nprincipels: [x]\n---\n", "principles"),
        ("HEARTBEAT.md", "---\nenabeld: true\n---\n", "enabled"),
    ],
)
def test_p15_a_misspelt_key_is_an_error_with_the_nearest_one_in_every_format(
    name: str, text: str, nearest: str
) -> None:
    errors = [one for one in check(name, text) if one.severity is Severity.ERROR]
    assert nearest in [one.suggestion for one in errors]


@pytest.mark.parametrize(("name", "field"), BOTH)
def test_p16_a_value_cut_by_a_comment_sign_is_a_warning_and_is_left_alone(name: str, field: str) -> None:
    text = HEADER.format(field=field, value="sorts items by # of votes and colour")
    (warning,) = check(name, text)
    assert warning.severity is Severity.WARNING and "quote it if meant" in warning.message
    assert repair(text, text_check(Path("/w") / name)).text == text
