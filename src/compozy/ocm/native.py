"""Native catalogue entries: targets written without the `ocm` key, typed with their place (OCM §3; decisions O6).

They take the sections of a manifest and a few fields of their own; `id` and `kind` are required, ids are free text.
"""

from collections.abc import Iterator, Mapping

from compozy.ocm.checks import FIELD_CHECKS, check_word
from compozy.ocm.grammar import FIELDS, KINDS, FieldType
from compozy.ocm.problems import Problem
from compozy.ocm.target import Target, from_manifest
from compozy.ocm.validate import cut_short, validate
from compozy.ocm.wording import problem_of, unknown_key

EXTRA_FIELDS: dict[str, FieldType] = {
    "enabled": "flag",
    "effort": "text",
    "family": "text",
    "latency_per_token_ms": "amount",
}
EXTRA_COSTS: dict[str, FieldType] = {"usd_per_1k_input": "amount", "usd_per_1k_output": "amount"}
_NOT_NATIVE = ("ocm", "publisher", "version")
_FIELDS = (*(field for field in FIELDS if field not in _NOT_NATIVE), *EXTRA_FIELDS)


def validate_native(entry: object) -> list[Problem]:
    """Return every problem of one native entry."""
    if not isinstance(entry, Mapping):
        return validate(entry)
    return cut_short(_problems(entry))


def _problems(entry: Mapping[object, object]) -> Iterator[Problem]:
    for key in entry:
        if not isinstance(key, str) or key not in _FIELDS:
            yield unknown_key(key, "", _FIELDS)
    yield from _identity(entry)
    for field, kind in EXTRA_FIELDS.items():
        if field in entry:
            yield from FIELD_CHECKS[kind](entry[field], field)
    stand_in = {key: value for key, value in entry.items() if key in FIELDS and key not in ("id", "kind", "ocm")}
    cost = stand_in.get("cost")
    if isinstance(cost, Mapping):
        for field, kind in EXTRA_COSTS.items():
            if field in cost:
                yield from FIELD_CHECKS[kind](cost[field], f"cost.{field}")
        stand_in["cost"] = {key: value for key, value in cost.items() if key not in EXTRA_COSTS}
    if stand_in.get("description", "") == "":
        stand_in["description"] = "-"
    yield from validate({"ocm": "1", "id": "x", "kind": "tool", **stand_in})


def from_native(entry: Mapping[str, object], *, source: str = "") -> Target:
    """Convert a valid native entry."""
    document = {key: value for key, value in entry.items() if key in FIELDS}
    target = from_manifest({"description": "", **document}, source=source)
    changes: dict[str, object] = {"document": {}}
    if isinstance(enabled := entry.get("enabled"), bool):
        changes["enabled"] = enabled
    return _replaced(target, changes)


def _replaced(target: Target, changes: dict[str, object]) -> Target:
    from msgspec.structs import replace  # noqa: PLC0415 - start-up cost

    return replace(target, **changes)


def _identity(entry: Mapping[object, object]) -> Iterator[Problem]:
    for field in ("id", "kind"):
        if field not in entry:
            yield problem_of("missing-field", field, f"the required field {field!r} is missing")
    identity = entry.get("id", "x")
    if not isinstance(identity, str):
        yield from FIELD_CHECKS["text"](identity, "id")
    elif not identity:
        yield problem_of("empty", "id", "the id is empty")
    if "kind" in entry:
        yield from check_word(entry["kind"], "kind", KINDS)
