"""Texts to values with places: YAML 1.2 with its warnings, JSON, streams (issue 8 item 1; decisions O1, O2, O6)."""

import pytest

from compozy.model.diagnostic import Severity
from compozy.ocm.loading import read_document
from compozy.ocm.problems import Problem

HEAD = 'ocm: "1"\nid: acme/x\nkind: tool\ndescription: d\n'


def problems(text: str, name: str = "x.yaml") -> list[Problem]:
    return read_document(text, name).all_problems()


def only(text: str, name: str = "x.yaml") -> Problem:
    found = problems(text, name)
    assert len(found) == 1, found
    return found[0]


def place(problem: Problem) -> tuple[int, int, int]:
    assert problem.position is not None
    return problem.position.line, problem.position.column, problem.position.length


def test_the_norway_problem_is_a_warning_with_the_quoted_form() -> None:
    found = only(HEAD + "constraints: {regions: [no, se]}\n")
    assert found.severity is Severity.WARNING
    assert found.code == "yaml-1.1"
    assert found.field == "constraints.regions[0]"
    assert place(found) == (5, 25, 2)
    assert found.suggestion == '"no"'
    assert "boolean false" in found.message and 'write "no"' in found.message


@pytest.mark.parametrize(
    ("written", "safe"),
    [
        ("version: 1:30", '"1:30"'),
        ("version: 2026-01-01", '"2026-01-01"'),
        ("name: Yes", '"Yes"'),
        ("name: =", '"="'),
        ("cost: {usd_per_call: 2e-3}", "0.002"),
        ("capabilities: {context_window: 0200}", "200"),
        ("capabilities: {context_window: 0o17}", "15"),
        ("name: 1_000", '"1_000"'),
    ],
)
def test_a_value_that_yaml_11_reads_differently_is_told_with_a_spelling_both_read(written: str, safe: str) -> None:
    found = only(HEAD + written + "\n")
    assert (found.code, found.suggestion) == ("yaml-1.1", safe)
    again = written.partition(":")[2].rpartition(" ")[2].rstrip("}")
    assert not problems(HEAD + written.replace(again, safe) + "\n")


@pytest.mark.parametrize(
    "written", ["version: 1.2.3", "name: y", "name: n", "cost: {usd_per_call: 0.5}", "primary: true"]
)
def test_a_value_that_both_versions_read_alike_is_not_mentioned(written: str) -> None:
    assert not problems(HEAD + written + "\n")


def test_a_problem_points_at_its_value_and_an_unknown_field_at_its_key() -> None:
    found = problems(HEAD + "cost:\n  usd_per_call: -1\n  colour: 1\nendpoints:\n  - {protocol: http}\n")
    places = {problem.field: place(problem) for problem in found}
    assert places["cost.usd_per_call"] == (6, 17, 2)
    assert places["cost.colour"] == (7, 3, 6)
    assert places["endpoints[0].url"][0] == 9


def test_a_missing_field_points_at_its_manifest_in_a_stream_too() -> None:
    found = only(HEAD + '---\nocm: "1"\nid: acme/y\nkind: tool\n')
    assert found.code == "missing-field"
    assert place(found)[:2] == (6, 1)


def test_places_count_as_editors_do_with_crlf_a_byte_order_mark_and_odd_characters() -> None:
    text = "\ufeff" + HEAD.replace("\n", "\r\n") + "name: \u2028\U0001f600\r\nkindd: x\r\n"
    found = only(text)
    assert place(found) == (6, 1, 5)
    assert found.suggestion == "kind"


def test_a_stream_gives_every_document_and_an_empty_one_is_none() -> None:
    loaded = read_document(HEAD + "---\n" + HEAD.replace("acme/x", "acme/y") + "---\n", "x.yaml")
    assert [entry.id for entry in loaded.entries] == ["acme/x", "acme/y"]
    assert [entry.place for entry in loaded.entries] == ["x.yaml:1", "x.yaml:6"]


def test_merge_keys_are_refused_with_a_clear_message() -> None:
    found = only(HEAD + "metadata: {a: &a {b: 1}}\ncost:\n  <<: *a\n")
    assert (found.code, found.field, place(found)[0]) == ("merge-key", "cost.<<", 7)
    assert "write the fields out" in found.message


def test_a_key_written_twice_names_both_lines() -> None:
    found = only(HEAD + "name: a\nname: b\n")
    assert found.code == "duplicate-key"
    assert "lines 5 and 6" in found.message
    assert place(found)[:2] == (6, 1)


def test_one_and_true_are_two_keys() -> None:
    loaded = read_document(HEAD + "metadata: {1: a, true: b}\n", "x.yaml")
    assert not loaded.all_problems()
    document = loaded.entries[0].document
    assert isinstance(document, dict) and len(document["metadata"]) == 2


@pytest.mark.parametrize("tag", ["!!binary aGk=", "!!timestamp 2026-01-01", "!!python/name:os.system x", "!mine x"])
def test_a_tag_outside_the_core_schema_is_refused_and_runs_nothing(tag: str) -> None:
    found = [one for one in problems(HEAD + f"name: {tag}\n") if one.severity is Severity.ERROR]
    assert [one.code for one in found] == ["tag"]


def test_json_problems_have_places_and_not_a_number_is_named() -> None:
    text = '{\n  "ocm": "1", "id": "a", "kind": "tool",\n  "description": "d", "quality_prior": NaN}'
    found = only(text, "x.json")
    assert (found.code, place(found)[:2]) == ("not-finite", (3, 40))
    found = only('{"ocm":"1","id":"a","kind":"tool","description":"d",\n"kind":"tool"}', "x.json")
    assert (found.code, place(found)[:2]) == ("duplicate-key", (2, 1))
    found = only('{"ocm":"1","id":"a","kind":"robot","description":"d"}', "x.json")
    assert place(found) == (1, 28, 7)


def test_a_repeated_json_member_hides_no_other_problem() -> None:
    found = problems('{"ocm":"1","id":"a","kind":"robot","description":"d","kind":"tool"}', "x.json")
    assert {one.code for one in found} == {"duplicate-key", "not-allowed"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{" * 500_000, "x.yaml"),
        ('{"a":' * 200_000, "x.json"),
        ("- " * 100_000, "x.yaml"),
        ("a: &a [x]\n" + "b: [" + "*a, " * 2_000 + "]\n", "x.yaml"),
        ("\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10) if i else 'x'}]" for i in range(12)), "x.yaml"),
    ],
    ids=["flow", "json", "block", "aliases", "bomb"],
)
def test_a_bomb_is_one_short_problem(text: str, name: str) -> None:
    found = only(text, name)
    assert found.code in ("too-large", "syntax")
    assert len(found.message) < 300


def test_messages_stay_short_whatever_the_value() -> None:
    huge = "x" * 100_000
    for problem in problems(f'ocm: "{huge}"\nid: "{huge}"\nkind: "{huge}"\ndescription: 9{"9" * 5000}\n'):
        assert len(problem.message) < 400


@pytest.mark.parametrize("version", ["²", "٢", "2²", "2.0", "1" * 400])
def test_any_digits_of_a_version_are_judged_without_a_crash(version: str) -> None:
    found = only(HEAD.replace('"1"', f'"{version}"'))
    assert (found.code in ("version", "newer-version"), found.field) == (True, "ocm")


@pytest.mark.parametrize("name", ["x.yaml", "x.json"])
def test_a_manifest_without_its_version_names_every_missing_field(name: str) -> None:
    found = problems("{}", name)
    assert [(one.code, one.field) for one in found] == [
        ("missing-field", field) for field in ("ocm", "id", "kind", "description")
    ]
    found = problems('{"id": "a", "kind": "tool", "description": "d"}', name)
    assert [(one.code, one.field) for one in found] == [("missing-field", "ocm")]
    found = problems('{"OCM": "1", "id": "a", "kind": "tool", "description": "d"}', name)
    assert {(one.code, one.field) for one in found} == {("missing-field", "ocm"), ("unknown-field", "OCM")}


def test_what_was_never_meant_as_a_manifest_gets_one_problem() -> None:
    for text in ("services: {web: {image: x}}", "name: ci", "just words", "5", "", "targets: {}"):
        assert only(text).code == "no-manifest", text


def test_keys_of_metadata_that_look_like_paths_have_a_place() -> None:
    for key in ("a[²]", "a[²" + "]" + "x" * 80, "a[0].b"):
        found = only(HEAD + f'metadata: {{a: [1], "{key}": .nan}}\n')
        assert found.code == "not-finite" and place(found)[0] == 5


def test_a_value_and_a_better_one_are_shown() -> None:
    assert "'acme/my-thing'" in only(HEAD.replace("acme/x", "Acme/My Thing")).message
    assert "'acme/x'" in only(HEAD.replace("acme/x", "acme//x/")).message
    assert "the number 3" in only("- 3").message
    native = only("- {id: a, kind: Tool}")
    assert "'Tool'" in native.message and "did you mean 'tool'" in native.message and native.suggestion == "tool"
