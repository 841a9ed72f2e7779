"""How handlers read requests and answer: strict JSON bodies, query values, JSON answers (contract §3; decisions D23).

A request body is a `Body` struct: unknown fields, wrong types, trailing data, invalid UTF-8 and members that are
given twice (decisions D10) are 400 and say why.
"""

import json
from typing import TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.model.errors import InvalidRequest


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all request bodies."""


BodyType = TypeVar("BodyType", bound=msgspec.Struct)
_NONE_RAW = b""
# Of 2**63, the largest number anything here can hold.
_MOST_DIGITS = 19


async def read_body(request: Request, expected: type[BodyType]) -> BodyType:
    """Read and check the request's JSON body; an empty body counts as ``{}``.

    Raises:
        InvalidRequest: it is no JSON or does not fit; the message names the field.
        TooLarge: it exceeds the body limit.
    """
    data = (await request.body()).strip() or b"{}"
    try:
        body = msgspec.json.decode(data, type=expected)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"request body: {_first_small(str(error))}; correct it and send it again") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"request body is not valid JSON: {error}; send one JSON object as UTF-8") from error
    _refuse_repeated_members(data)
    return body


def _refuse_repeated_members(data: bytes) -> None:
    """The decoder keeps the last of two equal members in silence; which one was meant nobody knows (D10)."""
    try:
        # Numbers stay text: their value is not looked at, and a very long one would be refused.
        json.loads(data, object_pairs_hook=_members, parse_int=str)
    except RecursionError as error:
        raise InvalidRequest("request body is nested too deep; send a flatter object") from error


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidRequest(f"request body: member {twice[:100]!r} is given twice; send each member once")
    return members


def query_values(request: Request) -> dict[str, str]:
    """Return the query parameters, trimmed; of a repeated one the first counts (reads only, D23)."""
    values: dict[str, str] = {}
    raw: bytes = request.scope.get("query_string", _NONE_RAW)
    for name, value in parse_qsl(raw.decode("latin-1"), keep_blank_values=True):
        values.setdefault(name, value.strip())
    return values


def query_flag(request: Request, name: str, *, default: bool = False) -> bool:
    """Read a boolean query parameter.

    Raises:
        InvalidRequest: the value is neither true nor false.
    """
    text = query_values(request).get(name, "").lower()
    if text in ("true", "1"):
        return True
    if text in ("false", "0"):
        return False
    if text:
        raise InvalidRequest(f"query parameter {name!r} is {text!r}; write true or false")
    return default


def query_number(request: Request, name: str, *, default: int, minimum: int, maximum: int) -> int:
    """Read a whole number within bounds.

    Raises:
        InvalidRequest: it is no number or out of bounds.
    """
    text = query_values(request).get(name, "")
    if not text:
        return default
    digits = text.removeprefix("-")
    # The length first: Python refuses to read thousands of digits, and leading zeros hide a large number.
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
    if not is_number or not minimum <= int(text) <= maximum:
        raise InvalidRequest(
            f"query parameter {name!r} is {text[:40]!r}; write a whole number from {minimum} to {maximum}",
            details={"parameter": name},
        )
    return int(text)


def json_response(value: object, status: int = 200) -> Response:
    """Encode records or plain data as the JSON answer."""
    return Response(encode_json(value), status, media_type="application/json")


def encode_json(value: object) -> bytes:
    """Encode records or plain data; bytes of a file name that are no UTF-8 appear as ``\\udcXX`` text."""
    try:
        return msgspec.json.encode(value, enc_hook=_encode)
    except UnicodeEncodeError:
        # One odd file name must not empty a whole list (decisions D8).
        return msgspec.json.encode(_readable(msgspec.to_builtins(value, enc_hook=_encode)))


def empty_response() -> Response:
    """Answer 204."""
    return Response(status_code=204)


def _encode(value: object) -> object:
    # Durations are floats with a name of their own.
    if isinstance(value, float):
        return float(value)
    raise NotImplementedError(f"no JSON for {type(value).__name__}")


def _readable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_readable(key): _readable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(inner) for inner in value]
    return value


def _first_small(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"
