"""Opaque cursors of the session list (contract §3.2): they continue one list only, and say so when they don't fit."""

import base64
import binascii
import hashlib

import msgspec

from compozy.model.errors import InvalidRequest
from compozy.store.interface import SessionQuery

_VERSION, _KIND = 2, "sessions"
_MAXIMUM = 4096


class _Cursor(msgspec.Struct):
    v: int
    k: str
    f: str
    p: tuple[str, ...]


def _fingerprint(query: SessionQuery) -> str:
    stripped = msgspec.structs.replace(query, limit=0, after=())
    digest = hashlib.sha256(msgspec.json.encode(stripped, order="deterministic")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def write_cursor(query: SessionQuery, after: tuple[str, ...]) -> str | None:
    """Return the cursor of the next page, None on the last one."""
    if not after:
        return None
    data = msgspec.json.encode(_Cursor(_VERSION, _KIND, _fingerprint(query), after))
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read_cursor(text: str, query: SessionQuery) -> SessionQuery:
    """Return the query that continues where the cursor points.

    Raises:
        InvalidRequest: the cursor is damaged or belongs to another list.
    """
    try:
        if len(text) > _MAXIMUM:
            raise ValueError("too long")
        padded = text + "=" * (-len(text) % 4)
        cursor = msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True), type=_Cursor)
    except (ValueError, binascii.Error, msgspec.DecodeError) as error:
        raise InvalidRequest(
            "cursor cannot be read: take next_cursor of the page before", code="invalid_cursor"
        ) from error
    if cursor.v != _VERSION or cursor.k != _KIND or cursor.f != _fingerprint(query):
        raise InvalidRequest(
            "cursor belongs to a list with other filters: start again without it", code="invalid_cursor"
        )
    return msgspec.structs.replace(query, after=cursor.p)
