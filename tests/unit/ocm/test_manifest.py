"""The typed manifest, the quick verdict, and the schema say the same as the complete pass (issue 8 item 1; P68)."""

import json
from pathlib import Path

import jsonschema
import pytest

from compozy.ocm.grammar import FIELDS, KINDS, REQUIRED
from compozy.ocm.manifest import is_clean, read_manifest
from compozy.ocm.schema import manifest_schema
from compozy.ocm.validate import errors, find_problems, validate

DATA = Path(__file__).resolve().parents[2] / "data" / "ocm"
ROWS = [json.loads(line) for line in (DATA / "ocm_cases.jsonl").read_text().splitlines()]
DOCUMENTS = [row for row in ROWS if "doc" in row]
GOOD: dict[str, object] = {"ocm": "1", "id": "a/b", "kind": "tool", "description": "d"}
VALIDATOR = jsonschema.Draft202012Validator(manifest_schema())


@pytest.mark.parametrize("row", DOCUMENTS, ids=lambda row: str(row["id"]))
def test_the_quick_verdict_never_contradicts_the_complete_pass(row: dict[str, object]) -> None:
    if is_clean(row["doc"]):
        assert find_problems(row["doc"]) == []
    if row["want_valid"]:
        manifest = read_manifest(row["doc"])
        assert manifest.id == row["doc"]["id"]


def test_most_valid_documents_take_the_quick_way() -> None:
    silent = [row for row in DOCUMENTS if row["want_valid"] and not validate(row["doc"])]
    assert sum(is_clean(row["doc"]) for row in silent) > 0.8 * len(silent)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_typed_manifest(kind: str) -> None:
    manifest = read_manifest({**GOOD, "kind": kind, "latency_ms": {"p50": 3}, "endpoints": [{"protocol": "queue"}]})
    assert (manifest.kind, manifest.capabilities.languages, manifest.primary) == (kind, ("en",), True)


@pytest.mark.parametrize("row", DOCUMENTS, ids=lambda row: str(row["id"]))
def test_our_schema_gives_the_same_verdict(row: dict[str, object]) -> None:
    document = row["doc"]
    try:
        text = json.dumps(document, allow_nan=False)
    except (TypeError, ValueError):
        pytest.skip("not a JSON document")
    assert VALIDATOR.is_valid(json.loads(text)) == row["want_valid"]


def test_the_schema_is_a_valid_schema_and_knows_every_field() -> None:
    jsonschema.Draft202012Validator.check_schema(manifest_schema())
    properties = manifest_schema()["properties"]
    assert isinstance(properties, dict) and tuple(properties) == FIELDS


@pytest.mark.parametrize("document", [{}, [], None, 0, "", True, 1.5])
def test_a_root_that_is_no_manifest_is_answered_without_a_crash(document: object) -> None:
    found = validate(document)
    assert len(found) == (len(REQUIRED) if document == {} else 1)


@pytest.mark.parametrize("field", REQUIRED)
def test_each_missing_field_is_named(field: str) -> None:
    document = {key: value for key, value in GOOD.items() if key != field}
    assert [(one.code, one.field) for one in validate(document)] == [("missing-field", field)]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [None, True, 0, -1, 1.5, "", "x", [], [0], {}, {"x": 0}], ids=repr)
def test_a_wrong_type_is_named_at_its_field_or_accepted(field: str, value: object) -> None:
    for one in errors(validate({**GOOD, field: value})):
        assert one.field.partition(".")[0].partition("[")[0] == field
        assert one.message


def test_every_problem_is_told_in_one_run() -> None:
    found = validate(
        {"ocm": 1, "id": "B", "kind": "agnt", "colour": 1, "cost": {"usd_per_call": -1}, "latency_ms": {}}
    )
    assert [one.field for one in found] == ["colour", "description", "ocm", "id", "kind", "cost.usd_per_call"]
    kind = next(one for one in found if one.field == "kind")
    assert kind.suggestion == "agent" and "did you mean 'agent'" in kind.message
