"""Strict JSON to plain values: duplicate members refused, limits kept (formats §7.6, decisions D10, D11).

The quick path is the standard library's scanner; the slow one, in `json_places`, runs only when something is wrong,
and knows where. Knows no field.
"""

import json
from typing import NoReturn

from compozy.documents.limits import MAX_NESTING


class NotPlainJson(Exception):
    """The quick path gives up; the slow one will say why and where."""


def read_json(text: str) -> object:
    """Read one JSON value.

    Raises:
        NotPlainJson: bad syntax, a repeated member, something after the value, or nesting near the limit.
    """
    if nests_deeply(text):
        raise NotPlainJson("depth")
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise NotPlainJson("syntax") from None


def nests_deeply(text: str) -> bool:
    """Whether nesting comes near the limit, counting brackets inside strings too (they only make us careful)."""
    if text.count("[") + text.count("{") < MAX_NESTING:
        return False
    depth = 0
    for character in text:
        if character in "[{":
            depth += 1
            if depth >= MAX_NESTING:
                return True
        elif character in "]}":
            depth -= 1
    return False


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotPlainJson("duplicate member")
    return members


def _refuse_constant(word: str) -> NoReturn:
    raise NotPlainJson(word)


def _number(text: str) -> int | float:
    # Numbers of any length are legal JSON; no field of ours takes one, so the digits need no converting.
    return int(text) if len(text) < 20 else float("inf")


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_refuse_constant, parse_int=_number)
