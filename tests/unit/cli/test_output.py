"""The four output formats."""

import json

import pytest

from compozy.cli import toon
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, print_object, print_rows

ROWS = [{"name": "a", "tags": ["x", "y"]}, {"name": "long name", "tags": []}]
COLUMNS = (Column("NAME", "name"), Column("TAGS", "tags"), Column("LAST", "last"))


def shown(form: str, capsys: pytest.CaptureFixture[str], **options: object) -> str:
    print_rows(Invocation(format=form), ROWS, COLUMNS, name="things", **options)  # type: ignore[arg-type]
    return capsys.readouterr().out


def test_json_is_the_bare_list_or_the_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(shown("json", capsys)) == ROWS
    assert json.loads(shown("json", capsys, envelope={"things": ROWS})) == {"things": ROWS}


def test_jsonl_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert [json.loads(line) for line in shown("jsonl", capsys).splitlines()] == ROWS


def test_toon_names_the_fields_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("toon", capsys) == ("things[2]{name,last}:\n  a,null\n    tags[2]: x,y\n  long name,null\n")


def test_toon_puts_the_source_of_the_workspace_on_a_line_before(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("toon", capsys, envelope={"resolution_source": "cwd"}).startswith(
        "resolution_source: cwd\nthings[2]"
    )


def test_human_columns_are_aligned_and_end_without_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("human", capsys) == "NAME       TAGS  LAST\na          x, y\nlong name\n"


def test_one_very_long_cell_does_not_stretch_the_other_rows(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"name": "short", "last": "x"}, {"name": "n" * 300, "last": "y"}]
    print_rows(Invocation(format="human"), rows, (Column("NAME", "name"), Column("LAST", "last")), name="things")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "short  x" and lines[2] == "n" * 300 + "  y"


def test_an_empty_list_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(Invocation(), [], COLUMNS, name="things", empty="none; make one")
    assert capsys.readouterr().out == "none; make one\n"


def test_an_object_is_whole_for_programs_and_chosen_fields_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    record = {"resolution_source": "flag", "name": "a", "secret": 1}
    fields = (Column("Name", "name"), Column("Missing", "no"))
    print_object(Invocation(format="json"), record, fields, name="thing")
    assert json.loads(capsys.readouterr().out) == record
    print_object(Invocation(format="toon"), record, fields, name="thing")
    assert capsys.readouterr().out == "resolution_source: flag\nthing{name,secret}:\n  a,1\n"
    print_object(Invocation(), record, fields, name="thing")
    assert capsys.readouterr().out == "Name  a\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain text", "plain text"),
        ("", '""'),
        ("a,b", '"a,b"'),
        (" padded", '" padded"'),
        ("line\nbreak", '"line\\nbreak"'),
        ("42", '"42"'),
        ("true", '"true"'),
        ("ünïcode", "ünïcode"),
        (42, "42"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_a_toon_cell_is_quoted_exactly_when_it_could_be_misread(value: object, text: str) -> None:
    assert toon.cell(value) == text


def test_what_is_nested_in_a_toon_answer_stands_in_blocks_of_its_own() -> None:
    record = {
        "name": "scout",
        "path": ["engineering", "4"],
        "runtime": {"provider": "offline", "sources": {"provider": "agent"}, "options": {}},
        "capabilities": [{"id": "find", "examples": ["a, b", "c"]}, {"id": "tell", "version": None, "examples": []}],
        "pairs": [[1, 2], "x"],
        "size": 3,
    }
    assert toon.render_object("agent", record) == (
        "agent{name,size}:\n"
        "  scout,3\n"
        '  path[2]: engineering,"4"\n'
        "  runtime{provider}:\n"
        "    offline\n"
        "    sources{provider}:\n"
        "      agent\n"
        "    options{}:\n"
        "  capabilities[2]{id,version}:\n"
        "    find,null\n"
        '      examples[2]: "a, b",c\n'
        "    tell,null\n"
        "  pairs[2]:\n"
        "    [2]: 1,2\n"
        "    x\n"
    )


def test_toon_rows_without_columns_show_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(Invocation(format="toon"), [{"id": 1}, {"more": {"b": 2}}], (), name="turns")
    assert capsys.readouterr().out == "turns[2]{id}:\n  1\n  null\n    more{b}:\n      2\n"


def test_text_for_people_carries_no_terminal_commands() -> None:
    assert clean("a\x1b[31mb\x00c\u202ed\te\nf\r\ng") == "a[31mbcd\te\nf\ng"
