"""Files of a few megabytes that would cost minutes or gigabytes: judged in bounds, errors never lost (issue 8).

Each run is a process with a limit on memory; the patience is far above what an honest run needs, and far below what
work that grows with the square of the input takes.
"""

import json
from pathlib import Path

import pytest

from compozy.documents.limits import MAX_PROBLEMS
from compozy.model.diagnostic import Severity
from compozy.ocm.loading import read_document
from compozy.ocm.validate import validate
from compozy.ocm.writing import manifest_digest, to_json
from tests.failure.test_ocm_bad_input import HEAD, refused, run

MANY = 60_000
JSON_HEAD = '{"ocm": "1", "id": "a", "kind": "tool", "description": "d", '
FLOODS: dict[str, str] = {
    "unknown.yaml": HEAD + "id: a\n" + "".join(f"k{n}: 1\n" for n in range(MANY)),
    "unknown.json": JSON_HEAD + ", ".join(f'"k{n}": 1' for n in range(MANY)) + "}",
    "native.yaml": "- " + "  ".join(f"k{n}: 1\n" for n in range(MANY)),
    "twice.yaml": HEAD + "id: a\nmetadata:\n" + "".join(f" k{n}: 1\n" for n in range(MANY)) * 2,
    "twice.json": JSON_HEAD + '"metadata": {' + ", ".join(f'"k{n}": 1' for n in [*range(MANY)] * 2) + "}}",
    "endpoints.yaml": HEAD + "id: a\nendpoints:\n" + "- {a: 1}\n" * MANY,
    "entries.yaml": "- {}\n" * MANY,
    "stream.yaml": '---\nocm: "1"\n' * MANY,
    "text-bomb.yaml": HEAD + 'id: a\nmetadata: {a: &a "' + "x" * 1_000_000 + '", b: [' + "*a, " * 900 + "]}\n",
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_problems_is_cut_and_stays_within_time_and_memory(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FLOODS[name])
    told = refused(run(tmp_path, "validate", name), most=400_000)
    assert "INVALID" in told and told.count("\n") <= 2 * MAX_PROBLEMS + 10


def test_a_manifest_tells_of_at_most_so_many_problems_and_that_there_are_more() -> None:
    found = validate({f"k{number}": 1 for number in range(MANY)})
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1].code == "too-large" and "not listed" in found[-1].message


def test_a_catalogue_with_many_warnings_still_loads() -> None:
    text = "".join(
        f'- {{ocm: "1", id: a{n}, kind: tool, description: d, endpoints: [{{protocol: http, url: "http://h"}}]}}\n'
        for n in range(MAX_PROBLEMS + 100)
    )
    loaded = read_document(text, "targets.yaml")
    assert len(loaded.entries) == MAX_PROBLEMS + 100 and not loaded.fails()
    assert all(entry.problems for entry in loaded.entries)


def test_however_many_warnings_there_are_none_hides_an_error() -> None:
    text = HEAD + "id: a\nexamples:\n" + "- yes\n" * (MAX_PROBLEMS * 2) + "metadata: {a: 1, a: 2}\n"
    (entry,) = read_document(text, "x.yaml").entries
    assert [one.code for one in entry.problems if one.severity is Severity.ERROR] == ["duplicate-key"]


def test_a_problem_below_a_huge_key_is_told_shortly() -> None:
    text = HEAD + 'id: a\nmetadata:\n  "' + "k" * 100_000 + '": [' + "yes, " * 100 + "]\n"
    assert sum(len(one.field) + len(one.message) for one in read_document(text, "x.yaml").all_problems()) < 400_000


@pytest.mark.parametrize("digits", [399, 401, 5_000])
def test_an_octal_number_of_any_length_is_a_warning_not_a_fault(digits: int) -> None:
    text = HEAD + "id: a\nmetadata: {x: 0" + "7" * digits + "}\n"
    assert "yaml-1.1" in [one.code for one in read_document(text, "x.yaml").all_problems()]


def test_keys_that_json_spells_alike_are_written_twice() -> None:
    for pair in (
        '1: a, "1": b',
        'true: a, "true": b',
        '~: a, "null": b',
        "null: a, ~: b",
        '1: a, true: b, "true": c',
    ):
        (entry,) = read_document(HEAD + "id: a\nmetadata: {" + pair + "}\n", "x.yaml").entries
        assert [one.code for one in entry.problems] == ["duplicate-key"], pair
    (fine,) = read_document(HEAD + "id: a\nmetadata: {1: a, true: b, ~: c}\n", "x.yaml").entries
    assert fine.problems == ()


def test_a_digest_is_that_of_the_json_it_is_published_as_whatever_its_keys_are() -> None:
    (entry,) = read_document(HEAD + "id: a\nmetadata: {1: a, 1.5: b, true: c, ~: d}\n", "x.yaml").entries
    assert isinstance(entry.document, dict)
    assert manifest_digest(entry.document) == manifest_digest(json.loads(to_json(entry.document)))


@pytest.mark.parametrize("key", [".nan", ".inf", "1" + "0" * 399])
def test_a_key_that_is_no_finite_number_is_refused(key: str) -> None:
    (entry,) = read_document(HEAD + "id: a\nmetadata: {x: {" + key + ": 1}}\n", "x.yaml").entries
    assert [one.code for one in entry.problems] == ["not-finite"]


def test_no_format_lets_the_name_of_a_file_drive_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "capability.\x1b[31m\n::error::x.yaml").write_text(HEAD + "id: BAD ID\n")
    for output in ("human", "json", "jsonl", "toon", "sarif", "github"):
        told = refused(run(tmp_path, "lint", ".", "-o", output))
        assert "\x1b" not in told and "\n::error::x" not in told, output
