"""What changed between two sets of manifests, and whether callers can go on as before (issue 8 item 4).

Compared is the meaning, defaults included: spelling out a default changes nothing. A change is breaking when a
request that was served before may now be refused, cost more, wait longer or go elsewhere.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from compozy.model.record import Record
from compozy.ocm.grammar import BOUNDARIES
from compozy.ocm.target import Target

Class = Literal["breaking", "additive"]
# Lists of what is offered: losing one breaks, gaining one adds.
_OFFERS = ("actions", "domains", "languages", "modalities")
_LIMITS_UP = ("max_complexity", "context_window", "max_tokens_in")
_TEXTS = ("name", "description", "instructions")


class Change(Record, frozen=True, kw_only=True):
    """One difference of one capability."""

    id: str
    field: str
    change: Class
    message: str


def compare(old: Mapping[str, Target], new: Mapping[str, Target]) -> list[Change]:
    """Return every difference, in the order of the old set, additions last."""
    found: list[Change] = []
    for identity, before in old.items():
        after = new.get(identity)
        if after is None:
            found.append(Change(id=identity, field="", change="breaking", message="the capability is gone"))
            continue
        pairs = (*_what_it_is(before, after), *_what_it_takes(before, after), *_what_it_costs(before, after))
        for field, change, message in (*pairs, *_where(before, after)):
            found.append(Change(id=identity, field=field, change=change, message=message))
    found.extend(
        Change(id=identity, field="", change="additive", message="a new capability")
        for identity in new
        if identity not in old
    )
    return found


_Found = Iterator[tuple[str, Class, str]]


def _what_it_is(before: Target, after: Target) -> _Found:
    if before.kind != after.kind:
        yield "kind", "breaking", f"{before.kind} became {after.kind}"
    for field in _TEXTS:
        if getattr(before, field) != getattr(after, field):
            yield field, "additive", f"the {field} was rewritten"
    for field in ("version", "publisher"):
        first, second = before.document.get(field), after.document.get(field)
        if first != second:
            kind: Class = "breaking" if field == "publisher" else "additive"
            yield field, kind, f"{first!r} became {second!r}"
    if before.primary != after.primary:
        yield "primary", "additive" if after.primary else "breaking", f"primary became {_word(after.primary)}"
    for field in ("examples", "tags", "metadata"):
        if getattr(before, field) != getattr(after, field):
            yield field, "additive", f"{field} changed"
    if before.prior != after.prior:
        yield "quality_prior", "additive", f"{before.prior:g} became {after.prior:g}"


def _what_it_takes(before: Target, after: Target) -> _Found:
    for field in _OFFERS:
        lost = _missing(getattr(before, field), getattr(after, field))
        won = _missing(getattr(after, field), getattr(before, field))
        if lost:
            yield f"capabilities.{field}", "breaking", f"no longer offered: {', '.join(lost)}"
        if won:
            yield f"capabilities.{field}", "additive", f"now offered: {', '.join(won)}"
    for field in _LIMITS_UP:
        section = "constraints" if field == "max_tokens_in" else "capabilities"
        yield from _bound(f"{section}.{field}", getattr(before, field), getattr(after, field), is_upper=True)
    yield from _bound("capabilities.min_complexity", before.min_complexity, after.min_complexity, is_upper=False)
    for field in ("supports_tools", "supports_streaming"):
        if getattr(before, field) != getattr(after, field):
            offered = bool(getattr(after, field))
            yield f"capabilities.{field}", "additive" if offered else "breaking", f"became {_word(offered)}"


def _missing(some: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    # A star stands for all: who offers any language loses none.
    return [] if "*" in others else [one for one in some if one not in others]


def _bound(field: str, before: float | None, after: float | None, *, is_upper: bool) -> _Found:
    if before == after:
        return
    if before is None or after is None:
        change: Class = "breaking" if before is None else "additive"
        yield field, change, "a limit where there was none" if before is None else "the limit is gone"
        return
    is_narrower = after < before if is_upper else after > before
    yield field, "breaking" if is_narrower else "additive", f"{before:g} became {after:g}"


def _what_it_costs(before: Target, after: Target) -> _Found:
    for field in dict.fromkeys((*before.cost, *after.cost)):
        yield from _bound(f"cost.{field}", before.cost.get(field, 0.0), after.cost.get(field, 0.0), is_upper=False)
    yield from _bound("latency_ms", before.latency_ms, after.latency_ms, is_upper=False)
    first, second = _percentiles(before), _percentiles(after)
    for name in dict.fromkeys((*first, *second)):
        # The usual latency is compared above; a percentile that was not told before promised nothing.
        if name != "p50" and first.get(name) != second.get(name):
            if name in first and name in second:
                yield from _bound(f"latency_ms.{name}", first[name], second[name], is_upper=False)
            else:
                yield f"latency_ms.{name}", "additive", "is told now" if name in second else "is no longer told"


def _percentiles(target: Target) -> dict[str, float]:
    latency = target.document.get("latency_ms")
    if not isinstance(latency, Mapping):
        return {}
    return {str(name): float(value) for name, value in latency.items() if isinstance(value, int | float)}


def _where(before: Target, after: Target) -> _Found:
    regions = [tuple(region.casefold() for region in one.regions) for one in (before, after)]
    yield from _restriction("constraints.regions", *regions)
    yield from _restriction("constraints.tenants", before.tenants, after.tenants, has_children=True)
    if before.data_boundary != after.data_boundary:
        is_weaker = BOUNDARIES.index(after.data_boundary) < BOUNDARIES.index(before.data_boundary)
        message = f"{before.data_boundary} became {after.data_boundary}"
        yield "constraints.data_boundary", "breaking" if is_weaker else "additive", message
    if before.pii_allowed != after.pii_allowed:
        change: Class = "additive" if after.pii_allowed else "breaking"
        yield "constraints.pii_allowed", change, f"became {_word(after.pii_allowed)}"
    for endpoint in before.endpoints:
        if endpoint not in after.endpoints:
            yield "endpoints", "breaking", f"{_name(endpoint)} is gone or differs"
    for endpoint in after.endpoints:
        if endpoint not in before.endpoints:
            yield "endpoints", "additive", f"{_name(endpoint)} is new"
    if before.endpoints != after.endpoints and not [one for one in before.endpoints if one not in after.endpoints]:
        kept = [one for one in after.endpoints if one in before.endpoints]
        if kept != list(before.endpoints):
            yield "endpoints", "breaking", "their order changed: the first that fits is called"


def _restriction(
    field: str, before: tuple[str, ...], after: tuple[str, ...], *, has_children: bool = False
) -> _Found:
    """Compare who may be served: an empty list restricts nothing; with children a name stands for those below it."""
    if set(before) == set(after):
        return

    def is_served(one: str) -> bool:
        return one in after or (has_children and any(one.startswith(f"{parent}/") for parent in after))

    narrows = bool(after) and not (before and all(map(is_served, before)))
    told = f"{', '.join(before) or 'anywhere'} became {', '.join(after) or 'anywhere'}"
    yield field, "breaking" if narrows else "additive", told


def _name(endpoint: Mapping[str, object]) -> str:
    parts = [str(endpoint.get(key)) for key in ("protocol", "url", "region") if endpoint.get(key)]
    return "endpoint " + " ".join(parts)


def _word(value: bool) -> str:
    return "true" if value else "false"
