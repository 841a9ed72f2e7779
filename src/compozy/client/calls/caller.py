"""What every group of calls shares: ask, and read the answer as the record the daemon wrote.

A record that cannot be read means that another version, or another program, answered; that is said, with its remedy.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

import msgspec

from compozy.client.errors import UnexpectedAnswer

if TYPE_CHECKING:
    from compozy.client.daemon_client import DaemonClient

T = TypeVar("T")
JsonObject = dict[str, object]
Values = Mapping[str, object]


class Calls:
    """Base of the groups: one connection, shared by all groups of a client.

    Every method of a group raises `ApiError` for a refusal, with the daemon's envelope, and `UnexpectedAnswer`.
    """

    def __init__(self, transport: "DaemonClient") -> None:
        self._transport = transport

    def _get(self, path: str, kind: type[T], member: str = "", query: Values | None = None) -> T:
        return decode(self._transport.request("GET", path, query=query_of(query or {})).body, kind, member)

    def _send(
        self,
        method: str,
        path: str,
        kind: type[T],
        member: str = "",
        *,
        body: object = None,
        query: Values | None = None,
    ) -> T:
        answer = self._transport.request(method, path, query=query_of(query or {}), body=body)
        return decode(answer.body, kind, member)

    def _read(self, data: bytes, kind: type[T], member: str = "") -> T:
        return decode(data, kind, member)

    def _do(self, method: str, path: str, *, body: object = None) -> None:
        """Make a call whose success says nothing more."""
        self._transport.request(method, path, body=body)


def decode(data: bytes, kind: type[T], member: str = "") -> T:
    """Read an answer, or one member of it.

    Raises:
        UnexpectedAnswer: it is something else than the contract says.
    """
    try:
        if not member:
            return msgspec.json.decode(data, type=kind)
        return msgspec.json.decode(msgspec.json.decode(data, type=dict[str, msgspec.Raw])[member], type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnexpectedAnswer(str(error)) from error
    except KeyError as error:
        raise UnexpectedAnswer(f"it has no member {member!r}") from error


def query_of(values: Values) -> dict[str, str]:
    """Return query values as text, without those that were not given."""
    chosen = {key: value for key, value in values.items() if value is not None and value is not False}
    return {key: "true" if value is True else str(value) for key, value in chosen.items() if value != ""}


def given(**values: object) -> JsonObject:
    """Return a body of the values that were given: None leaves a member out."""
    return {key: value for key, value in values.items() if value is not None}


def segment(text: str) -> str:
    """Return a name as one segment of a path."""
    return quote(text, safe="")
