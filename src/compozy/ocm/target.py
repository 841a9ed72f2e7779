"""A manifest as the selector reads it: every default spelled out, and the manifest it came from kept whole (OCM §4).

Nothing is lost on the way (decisions O8): `to_manifest` gives back the document that was read, because the target
carries it; a target made by a program gets a manifest with the fields that differ from the defaults.
"""

from collections.abc import Mapping

from compozy.model.record import Record

DEFAULT_LATENCY_MS = 500.0
# A persona or skill without endpoints costs no round trip.
INSTANT_KINDS = ("persona", "skill")


class Target(Record, frozen=True, kw_only=True):
    """One routable capability. Latency in milliseconds, prices in USD, windows in tokens; `prior` is 0..1.

    `document` is the manifest as read; `source` names the place ("file.yaml#3") for messages.
    """

    id: str
    kind: str
    name: str
    description: str
    domains: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("en",)
    modalities: tuple[str, ...] = ("text",)
    tags: tuple[str, ...] = ()
    max_complexity: float = 1.0
    min_complexity: float = 0.0
    context_window: int | None = None
    supports_tools: bool = False
    supports_streaming: bool = True
    regions: tuple[str, ...] = ()
    data_boundary: str = "public"
    pii_allowed: bool = True
    max_tokens_in: int | None = None
    tenants: tuple[str, ...] = ()
    cost: dict[str, float] = {}
    latency_ms: float = DEFAULT_LATENCY_MS
    prior: float = 0.5
    examples: tuple[str, ...] = ()
    instructions: str = ""
    primary: bool = True
    endpoints: tuple[dict[str, object], ...] = ()
    metadata: dict[str, object] = {}
    document: dict[str, object] = {}
    source: str = ""
    enabled: bool = True


def from_manifest(document: Mapping[str, object], *, source: str = "") -> Target:
    """Convert a *valid* manifest (see `validate`); the document is copied shallowly and kept."""
    kind = str(document["kind"])
    capabilities = _section(document, "capabilities")
    constraints = _section(document, "constraints")
    endpoints = tuple(dict(item) for item in _items(document.get("endpoints")) if isinstance(item, Mapping))
    return Target(
        id=str(document["id"]),
        kind=kind,
        name=str(document.get("name") or document["id"]),
        description=str(document["description"]),
        domains=_texts(capabilities, "domains"),
        actions=_texts(capabilities, "actions"),
        languages=_texts(capabilities, "languages", ("en",)),
        modalities=_texts(capabilities, "modalities", ("text",)),
        tags=_texts(capabilities, "tags"),
        max_complexity=_number(capabilities.get("max_complexity"), 1.0),
        min_complexity=_number(capabilities.get("min_complexity"), 0.0),
        context_window=_count(capabilities.get("context_window")),
        supports_tools=bool(capabilities.get("supports_tools", False)),
        supports_streaming=bool(capabilities.get("supports_streaming", True)),
        regions=_texts(constraints, "regions"),
        data_boundary=str(constraints.get("data_boundary", "public")),
        pii_allowed=bool(constraints.get("pii_allowed", True)),
        max_tokens_in=_count(constraints.get("max_tokens_in")),
        tenants=_texts(constraints, "tenants"),
        cost=_cost(document),
        latency_ms=_latency(document.get("latency_ms"), kind, bool(endpoints)),
        prior=_number(document.get("quality_prior"), 0.5),
        examples=tuple(str(item) for item in _items(document.get("examples"))),
        instructions=str(document.get("instructions", "")),
        primary=bool(document.get("primary", True)),
        endpoints=endpoints,
        metadata=dict(_section(document, "metadata")),
        document=dict(document),
        source=source,
    )


def to_manifest(target: Target) -> dict[str, object]:
    """Return the manifest of a target: the document it was read from, else one built from its values."""
    if target.document:
        return dict(target.document)
    document: dict[str, object] = {
        "ocm": "1",
        "id": target.id,
        "kind": target.kind,
        "description": target.description,
    }
    if target.name != target.id:
        document["name"] = target.name
    sections: dict[str, tuple[str, ...]] = {
        "capabilities": (
            "domains",
            "actions",
            "languages",
            "modalities",
            "tags",
            "max_complexity",
            "min_complexity",
            "context_window",
            "supports_tools",
            "supports_streaming",
        ),
        "constraints": ("regions", "data_boundary", "pii_allowed", "max_tokens_in", "tenants"),
    }
    default = Target(id="", kind="", name="", description="")
    for section, fields in sections.items():
        values: dict[str, object] = {}
        for field in fields:
            value = getattr(target, field)
            if value != getattr(default, field):
                values[field] = list(value) if isinstance(value, tuple) else value
        if values:
            document[section] = values
    rest: dict[str, tuple[object, object]] = {
        "cost": (target.cost, {}),
        "latency_ms": (target.latency_ms, DEFAULT_LATENCY_MS),
        "quality_prior": (target.prior, 0.5),
        "endpoints": ([dict(item) for item in target.endpoints], []),
        "examples": (list(target.examples), []),
        "instructions": (target.instructions, ""),
        "primary": (target.primary, True),
        "metadata": (target.metadata, {}),
    }
    document.update({field: value for field, (value, usual) in rest.items() if value != usual})
    return document


def _section(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _texts(section: Mapping[str, object], field: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    # An authored empty list stays empty: it says "none", not "the default".
    return tuple(str(item) for item in _items(section[field])) if field in section else default


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _cost(document: Mapping[str, object]) -> dict[str, float]:
    cost = _section(document, "cost")
    if not cost:
        return {"usd_per_1k_tokens": 0.0}
    return {key: float(value) for key, value in cost.items() if isinstance(value, int | float)}


def _latency(value: object, kind: str, has_endpoints: bool) -> float:
    default = 0.0 if kind in INSTANT_KINDS and not has_endpoints else DEFAULT_LATENCY_MS
    if isinstance(value, Mapping):
        if "p50" in value:
            return _number(value["p50"], default)
        return next((_number(item, default) for item in value.values()), default)
    return _number(value, default)
