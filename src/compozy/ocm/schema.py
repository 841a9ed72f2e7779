"""The JSON Schema (2020-12) of a manifest, from the same tables that validate (OCM §1; issue 8 item 1).

A schema cannot say everything: duplicate keys, NaN and what a newer version means are for `validate`.
"""

from compozy.ocm.grammar import (
    BOUNDARIES,
    ENDPOINT_KEYS,
    FIELDS,
    KINDS,
    PERCENTILES,
    PROTOCOLS,
    PROTOCOLS_WITH_URL,
    REQUIRED,
    SECTIONS,
    FieldType,
)

Schema = dict[str, object]

TITLE = "an Open Capability Manifest: one capability that a router can choose"
SCHEMA_ID = "urn:compozy:schema:ocm"
_NUMBER_LIMIT = 1.7976931348623157e308
_AMOUNT: Schema = {"type": "number", "minimum": 0, "maximum": _NUMBER_LIMIT}
_TYPES: dict[FieldType, Schema] = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "unit": {"type": "number", "minimum": 0, "maximum": 1},
    "amount": _AMOUNT,
    "count": {"type": "integer", "minimum": 0, "maximum": _NUMBER_LIMIT},
    "flag": {"type": "boolean"},
    "boundary": {"enum": list(BOUNDARIES)},
}
# The negative look-ahead keeps a trailing newline out; segments may not be empty, "." or "..".
_ID = r"^(?!.*(?:^|/)\.{0,2}(?:/|$))[a-z0-9][a-z0-9_./:-]*$(?!\n)"
_TEXTS: dict[str, str] = {
    "ocm": "The version of the format.",
    "id": "A name that is unique in every catalogue: publisher/agent/capability.",
    "kind": "What it is.",
    "name": "A name for people.",
    "description": "What goes in, what comes out, and for whom.",
    "publisher": "Who stands behind it.",
    "version": "The version of the capability; always quoted in YAML.",
    "instructions": "What a model is told when it takes this on.",
    "capabilities": "What it is about and what it can take.",
    "constraints": "Where and for whom it may be used.",
    "cost": "Prices in US dollars, energy in watt-hours, emissions in grams of CO2.",
    "latency_ms": "Milliseconds to an answer, or percentiles of them.",
    "endpoints": "Where it answers.",
    "examples": "Requests in the words of the people who ask.",
    "quality_prior": "How good answers are before any were seen, 0 to 1.",
    "primary": "Whether it can be chosen by itself; false for what accompanies others.",
    "metadata": "Anything else.",
}


def manifest_schema() -> Schema:
    """Return the schema."""
    properties: Schema = {field: {"description": _TEXTS[field], **_of(field)} for field in FIELDS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": f"compozy: {TITLE}",
        "type": "object",
        "required": list(REQUIRED),
        "additionalProperties": False,
        "properties": properties,
    }


def _of(field: str) -> Schema:
    if field in SECTIONS:
        return _closed({name: _TYPES[kind] for name, kind in SECTIONS[field].items()})
    special: dict[str, Schema] = {
        "ocm": {"const": "1"},
        "id": {"type": "string", "pattern": _ID, "examples": ["acme/reviewer/review-diff"]},
        "kind": {"enum": list(KINDS)},
        "description": {"type": "string", "minLength": 1},
        "latency_ms": {"oneOf": [_AMOUNT, _closed(dict.fromkeys(PERCENTILES, _AMOUNT))]},
        "endpoints": {"type": "array", "items": _endpoint()},
        "examples": _TYPES["texts"],
        "quality_prior": _TYPES["unit"],
        "primary": _TYPES["flag"],
        "metadata": {"type": "object"},
    }
    return special.get(field, _TYPES["text"])


def _closed(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _endpoint() -> Schema:
    texts = dict.fromkeys(ENDPOINT_KEYS, _TYPES["text"])
    # Other keys are accepted: they belong to whoever calls.
    return {
        "type": "object",
        "required": ["protocol"],
        "properties": {
            **texts,
            "protocol": {"enum": list(PROTOCOLS)},
            "url": {"type": "string", "pattern": "^https?://"},
        },
        "if": {"required": ["protocol"], "properties": {"protocol": {"enum": list(PROTOCOLS_WITH_URL)}}},
        "then": {"required": ["url"]},
    }
