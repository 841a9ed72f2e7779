"""The typed manifest of all eight kinds, and the quick verdict on clean documents (OCM §1; issue 8 item 1).

`read_manifest` gives the record; `is_clean` accepts a document in a few microseconds when nothing at all is to be
said about it, and leaves everything else to `validate`, which finds every problem. Defaults are the format's own.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Literal

import msgspec

from compozy.model.record import Record
from compozy.ocm.grammar import PROTOCOLS_WITH_URL

Kind = Literal["llm", "agent", "skill", "persona", "tool", "workflow", "human", "destination"]
Protocol = Literal["http", "a2a", "mcp", "openai", "queue", "grpc", "other"]
Boundary = Literal["public", "private", "on_prem"]

Id = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_./:-]*$(?!\n)")]
Text1 = Annotated[str, msgspec.Meta(min_length=1)]
Unit = Annotated[float, msgspec.Meta(ge=0, le=1)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]
# What an endpoint's address must look like; the quick verdict also wants https and no credentials.
Url = Annotated[str, msgspec.Meta(pattern=r"^https?://")]
_PLAIN_URL = "https://"
# Above this a number needs a closer look.
_SURE = 2**53


class Capabilities(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the capability is about and what it can take."""

    domains: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("en",)
    modalities: tuple[str, ...] = ("text",)
    tags: tuple[str, ...] = ()
    max_complexity: Unit = 1.0
    min_complexity: Unit = 0.0
    context_window: Count | msgspec.UnsetType = msgspec.UNSET
    supports_tools: bool = False
    supports_streaming: bool = True


class Constraints(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where and for whom it may be used."""

    regions: tuple[str, ...] = ()
    data_boundary: Boundary = "public"
    pii_allowed: bool = True
    max_tokens_in: Count | msgspec.UnsetType = msgspec.UNSET
    tenants: tuple[str, ...] = ()


class Cost(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prices in US dollars, energy in watt-hours, emissions in grams of CO2; all at least 0."""

    usd_per_call: Amount = 0.0
    usd_per_1k_tokens: Amount = 0.0
    wh_per_1k_tokens: Amount = 0.0
    gco2_per_1k_tokens: Amount = 0.0
    gco2_per_wh: Amount = 0.0
    context_tokens: Amount = 0.0


class Percentiles(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Latency in milliseconds by percentile."""

    p50: Amount = 0.0
    p90: Amount = 0.0
    p95: Amount = 0.0
    p99: Amount = 0.0


class Endpoint(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One place where the capability answers; http, a2a, openai and grpc need the url."""

    protocol: Protocol
    url: Url | msgspec.UnsetType = msgspec.UNSET
    region: str = ""
    auth: str = ""


class Manifest(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One capability. `latency_ms` is one number or percentiles; `metadata` is free."""

    ocm: Literal["1"]
    id: Id
    kind: Kind
    description: Text1
    name: str = ""
    publisher: str = ""
    version: str = ""
    instructions: str = ""
    capabilities: Capabilities = Capabilities()
    constraints: Constraints = Constraints()
    cost: Cost = Cost()
    latency_ms: Amount | Percentiles = 500.0
    endpoints: tuple[Endpoint, ...] = ()
    examples: tuple[str, ...] = ()
    quality_prior: Unit = 0.5
    primary: bool = True
    metadata: dict[str, object] = {}


def read_manifest(document: object) -> Manifest:
    """Return the record of a document that `validate` finds valid.

    Raises:
        msgspec.ValidationError: the document is not valid; ask `validate` for what is wrong.
    """
    return msgspec.convert(_whole_counts(document), Manifest)


def is_clean(document: object) -> bool:
    """Whether there is nothing to say about a document; False means "look closely", not "invalid"."""
    try:
        manifest = msgspec.convert(document, Manifest)
    except (msgspec.ValidationError, OverflowError, RecursionError, TypeError, ValueError):
        return False
    identity = manifest.id
    if "//" in identity or "/." in identity or identity[-1] == "/":
        return False
    for endpoint in manifest.endpoints:
        url = endpoint.url
        if not isinstance(url, str):
            if endpoint.protocol in PROTOCOLS_WITH_URL:
                return False
        elif not url.startswith(_PLAIN_URL) or "@" in url or "[" in url:
            return False
    window, tokens = manifest.capabilities.context_window, manifest.constraints.max_tokens_in
    if (isinstance(window, int) and window > _SURE) or (isinstance(tokens, int) and tokens > _SURE):
        return False
    cost = manifest.cost
    total = cost.usd_per_call + cost.usd_per_1k_tokens + cost.wh_per_1k_tokens + cost.gco2_per_1k_tokens
    total += cost.gco2_per_wh + cost.context_tokens + manifest.quality_prior
    total += manifest.capabilities.max_complexity + manifest.capabilities.min_complexity
    latency = manifest.latency_ms
    total += latency if isinstance(latency, float) else latency.p50 + latency.p90 + latency.p95 + latency.p99
    return isfinite(total) and (not manifest.metadata or _is_plain(manifest.metadata))


def _is_plain(value: object) -> bool:
    """Whether metadata is shallow and holds nothing that needs a closer look."""
    if isinstance(value, dict):
        return all(isinstance(item, str | bool) or item is None or _is_plain_leaf(item) for item in value.values())
    return False


def _is_plain_leaf(item: object) -> bool:
    if isinstance(item, int):
        return abs(item) < _SURE
    if isinstance(item, float):
        return isfinite(item)
    return isinstance(item, list) and all(isinstance(one, str) for one in item)


def _whole_counts(document: object) -> object:
    """Spell whole floats in the two counting fields as integers, as JSON Schema counts them."""
    if not isinstance(document, Mapping):
        return document
    changed: dict[object, object] = dict(document)
    for section, field in (("capabilities", "context_window"), ("constraints", "max_tokens_in")):
        values = changed.get(section)
        if isinstance(values, Mapping) and isinstance(value := values.get(field), float) and value.is_integer():
            changed[section] = {**values, field: int(value)}
    # Endpoints may carry keys of others, and metadata keys of any type; neither has a place in the record.
    endpoints = changed.get("endpoints")
    if isinstance(endpoints, list):
        known = set(Endpoint.__struct_fields__)
        changed["endpoints"] = [
            {key: value for key, value in item.items() if key in known} if isinstance(item, Mapping) else item
            for item in endpoints
        ]
    metadata = changed.get("metadata")
    if isinstance(metadata, Mapping):
        changed["metadata"] = {str(key): value for key, value in metadata.items()}
    return changed
