"""Reaching the daemon: connect, and say so when the daemon is older than this program.

The client is `compozy.Client`, whose calls answer records; for printing a record becomes the JSON data it was on the
wire (`as_json`). Implements the remarks on transport of contract §4 and the upgrade note of issue 2.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from compozy import __version__
from compozy.cli.invocation import Invocation
from compozy.cli.output import note
from compozy.model.errors import LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client

JsonObject = dict[str, object]


@contextmanager
def connected(invocation: Invocation) -> Iterator["Client"]:
    """Open the connection to the running daemon and close it afterwards.

    Raises:
        DaemonUnreachable: no daemon answers; its hint says how to start one.
    """
    from compozy.client.typed import Client  # noqa: PLC0415 - start-up cost

    with Client(invocation.home.root) as client:
        yield client
        warn_when_older(invocation, client.transport.server_version)


def as_json(record: object) -> JsonObject:
    """Return a record as the JSON object it was on the wire.

    Raises:
        LocalError: it is no object.
    """
    import msgspec  # noqa: PLC0415 - start-up cost

    return as_object(msgspec.json.decode(msgspec.json.encode(record)))


def as_rows(records: Iterable[object]) -> list[JsonObject]:
    """Return records as the JSON objects they were on the wire."""
    return [as_json(record) for record in records]


def as_object(value: object) -> JsonObject:
    """Narrow JSON data to an object.

    Raises:
        LocalError: it is something else, so the answer is not from a daemon of this contract.
    """
    if not isinstance(value, dict):
        raise LocalError(
            f"the daemon answered {type(value).__name__} where an object was expected; is it of the same version?",
            code="unexpected_answer",
            hint="compozy daemon stop && compozy daemon start",
        )
    return value


def objects(value: object) -> list[JsonObject]:
    """Narrow JSON data to a list of objects; null is an empty list."""
    return [as_object(item) for item in value] if isinstance(value, (list, tuple)) else []


def text_of(record: Mapping[str, object], *keys: str) -> str:
    """Return the text below nested keys, "" when any of them is missing."""
    value: object = record
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return "" if value is None else str(value)


def warn_when_older(invocation: Invocation, daemon_version: str) -> None:
    """Say that the running daemon is older than this program: it keeps its old code until it is restarted."""
    if is_newer(__version__, daemon_version):
        note(
            invocation,
            f"note: this is compozy {__version__}, the running daemon is {daemon_version}; "
            "restart it with: compozy daemon stop && compozy daemon start",
        )


def is_newer(version: str, other: str) -> bool:
    """Compare dotted versions by their numbers; anything unreadable is not newer."""
    return _numbers(version) > _numbers(other) if _numbers(version) and _numbers(other) else False


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split("+")[0].split("-")[0].split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()
