"""The fields of OCM v1 as data: which sections exist, what each field takes, which words are allowed (OCM §1)."""

import re
from typing import Literal

FieldType = Literal["text", "texts", "unit", "amount", "count", "flag", "boundary"]

KINDS = ("llm", "agent", "skill", "persona", "tool", "workflow", "human", "destination")
BOUNDARIES = ("public", "private", "on_prem")
PROTOCOLS = ("http", "a2a", "mcp", "openai", "queue", "grpc", "other")
PROTOCOLS_WITH_URL = ("http", "a2a", "openai", "grpc")
PERCENTILES = ("p50", "p90", "p95", "p99")
ENDPOINT_KEYS = ("protocol", "url", "region", "auth")
REQUIRED = ("ocm", "id", "kind", "description")
TEXT_FIELDS = ("name", "publisher", "version", "instructions")

FIELDS = (
    "ocm",
    "id",
    "kind",
    "name",
    "description",
    "publisher",
    "version",
    "instructions",
    "capabilities",
    "constraints",
    "cost",
    "latency_ms",
    "endpoints",
    "examples",
    "quality_prior",
    "primary",
    "metadata",
)

SECTIONS: dict[str, dict[str, FieldType]] = {
    "capabilities": {
        "domains": "texts",
        "actions": "texts",
        "languages": "texts",
        "modalities": "texts",
        "tags": "texts",
        "max_complexity": "unit",
        "min_complexity": "unit",
        "context_window": "count",
        "supports_tools": "flag",
        "supports_streaming": "flag",
    },
    "constraints": {
        "regions": "texts",
        "data_boundary": "boundary",
        "pii_allowed": "flag",
        "max_tokens_in": "count",
        "tenants": "texts",
    },
    "cost": {
        "usd_per_call": "amount",
        "usd_per_1k_tokens": "amount",
        "wh_per_1k_tokens": "amount",
        "gco2_per_1k_tokens": "amount",
        "gco2_per_wh": "amount",
        "context_tokens": "amount",
    },
}

# `\Z`, not `$`: a trailing newline is not part of an id.
ID_PATTERN = re.compile(r"[a-z0-9][a-z0-9_./:-]*\Z")


def id_problem(text: str) -> str | None:
    """Return the problem code of an id, or None: ``id-grammar``, ``id-path`` (decisions O1)."""
    if not ID_PATTERN.match(text):
        return "id-grammar"
    if any(segment in ("", ".", "..") for segment in text.split("/")):
        return "id-path"
    return None


def slug(text: str) -> str:
    """Return a legal id near `text`: lower case, illegal runs become ``-``; "" when nothing is left."""
    lowered = re.sub(r"[^a-z0-9_./:-]+", "-", text.lower()).strip("-")
    segments = [part for part in lowered.split("/") if part not in ("", ".", "..")]
    return re.sub(r"\A[^a-z0-9]+", "", "/".join(segments))
