"""The recorded verdicts of OCM v1: manifests, conversions and policy decisions (decisions O1, O4, O8)."""

import json
from pathlib import Path

import pytest

from compozy.model.errors import InvalidRequest
from compozy.ocm.policy import Request, decide
from compozy.ocm.target import from_manifest, to_manifest
from compozy.ocm.validate import errors, validate

DATA = Path(__file__).resolve().parents[1] / "data" / "ocm"

# How the recorded requests spell what `Request` names; `tools` in the context means that tools are needed.
_CONSTRAINTS = {
    "allow_targets": "allow",
    "deny_targets": "deny",
    "allowed_kinds": "kinds",
    "region": "region",
    "data_boundary": "data_boundary",
    "tenant": "tenant",
    "max_cost_per_1k": "max_cost_per_1k",
    "max_latency_ms": "max_latency_ms",
    "require_tools": "require_tools",
}
_SIGNALS = {
    "token_estimate": "tokens",
    "contains_pii": "contains_pii",
    "modalities": "modalities",
    "language": "language",
    "jailbreak_risk": "jailbreak_risk",
    "complexity": "complexity",
}
# How the recorded reasons begin, and the rule of ours that must refuse first: the order is part of what was recorded.
_RULES = {
    "data boundary": "data_boundary",
    "denied": "deny",
    "jailbreak": "jailbreak",
    "kind": "kind",
    "language": "language",
    "latency": "latency",
    "modality": "modality",
    "region": "region",
    "tenant": "tenant",
    "input": "max_tokens_in",
    "tools": "tools",
}


def _rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


MANIFESTS = [row for row in _rows("ocm_cases.jsonl") if "doc" in row]
CONVERSIONS = [row for row in _rows("ocm_convert_cases.jsonl") if "doc" in row and "target" in row]
POLICIES = _rows("ocm_policy_cases.jsonl")


@pytest.mark.parametrize("row", MANIFESTS, ids=lambda row: str(row["id"]))
def test_a_manifest_gets_the_recorded_verdict_and_every_problem_is_named(row: dict[str, object]) -> None:
    found = errors(validate(row["doc"]))
    assert (not found) == row["want_valid"]
    if row["want_problem_fields"] is not None:
        assert {problem.field for problem in found} == set(row["want_problem_fields"])


@pytest.mark.parametrize("row", CONVERSIONS, ids=lambda row: str(row["id"]))
def test_a_manifest_converts_to_the_recorded_meaning_and_back_without_loss(row: dict[str, object]) -> None:
    document, want = row["doc"], row["target"]
    target = from_manifest(document)
    assert to_manifest(target) == document
    flat = {**want, **want["capabilities"], **want["constraints"]}
    for field in ("id", "kind", "name", "description", "cost", "latency_ms", "instructions", "primary"):
        assert getattr(target, field) == flat[field], field
    assert target.prior == flat["quality_prior"]
    for field in ("domains", "actions", "languages", "modalities", "tags", "regions", "tenants", "examples"):
        assert list(getattr(target, field)) == flat[field], field
    for field in ("max_complexity", "min_complexity", "context_window", "supports_tools", "supports_streaming"):
        assert getattr(target, field) == flat[field], field
    for field in ("data_boundary", "pii_allowed", "max_tokens_in"):
        assert getattr(target, field) == flat[field], field


@pytest.mark.parametrize("row", POLICIES, ids=lambda row: str(row["id"]))
def test_a_hard_constraint_admits_exactly_what_was_decided(row: dict[str, object]) -> None:
    values: dict[str, object] = {}
    for given, names in ((row["constraints"], _CONSTRAINTS), (row["signals"], _SIGNALS)):
        for key, value in given.items():
            values[names[key]] = tuple(value) if isinstance(value, list) else value
    if "tools" in row["context"]:
        values["require_tools"] = True
    target = from_manifest(row["manifest"])
    if row.get("want_error"):
        with pytest.raises(InvalidRequest):
            decide(target, Request(**values))
    else:
        verdict = decide(target, Request(**values))
        assert verdict.admitted == row["want_admitted"]
        if not row["want_admitted"] and row["reason"]:
            assert verdict.rule == next(rule for words, rule in _RULES.items() if row["reason"].startswith(words))
