"""Reading JSON of the other side: text, usage, price; what is no answer is said to be none (issue 8 item 6)."""

import json
from collections.abc import Mapping

from compozy.ocm.endpoints.connection import Connection
from compozy.ocm.endpoints.errors import EndpointFailed

_SHOWN = 60
# The parser of the standard library recurses; a thousand levels are no answer.
_MAX_DEPTH = 200
# More is no count and no price, and not every reader of ours could hold it.
_MOST_TOKENS = 2**53
_MOST_USD = 1e15


def decode(connection: Connection, data: bytes) -> dict[str, object]:
    """Return the JSON object of an answer.

    Raises:
        EndpointFailed: code `endpoint_answer`; it is empty, no JSON, or no object.
    """
    origin = connection.address.origin
    if not data.strip():
        raise EndpointFailed(f"{origin} answered nothing", code="endpoint_answer")
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        head = connection.masked(data.decode("utf-8", "replace"))[:_SHOWN]
        raise EndpointFailed(
            f"{origin} answered no JSON but {head!r}; is the protocol of the endpoint right?", code="endpoint_answer"
        ) from error
    if not isinstance(value, dict):
        raise EndpointFailed(
            f"{origin} answered a JSON {_kind(value)} where an object was expected", code="endpoint_answer"
        )
    masked = connection.masked_value(value) if _depth_is_fine(value) else None
    if not isinstance(masked, dict):
        raise EndpointFailed(f"{origin} answered JSON nested too deeply", code="endpoint_answer")
    return masked


def read_usage(value: Mapping[str, object]) -> dict[str, int]:
    """Return tokens as `input`, `output` and `total`, those that are there."""
    usage = value.get("usage")
    rows: Mapping[str, object] = usage if isinstance(usage, Mapping) else value
    names = {
        "input": ("prompt_tokens", "input_tokens"),
        "output": ("completion_tokens", "output_tokens"),
        "total": ("total_tokens", "tokens"),
    }
    found: dict[str, int] = {}
    for ours, theirs in names.items():
        for name in theirs:
            count = rows.get(name)
            if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS:
                found.setdefault(ours, count)
    return found


def read_price(value: Mapping[str, object]) -> float | None:
    """Return `cost_usd` where it is a price."""
    price = value.get("cost_usd")
    if not isinstance(price, int | float) or isinstance(price, bool) or not 0 <= price <= _MOST_USD:
        return None
    return float(price)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _depth_is_fine(value: object) -> bool:
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            child
            for one in level
            for child in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ]
        if not level:
            return True
    return False


def _kind(value: object) -> str:
    names = {list: "list", str: "text", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")
