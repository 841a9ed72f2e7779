"""The statements of messages between sessions: one row each, found by receiver, gone with it."""

import sqlite3

import msgspec

from compozy.model.message import Message
from compozy.store.interface import StoredMessage
from compozy.store.keys import require_session

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Message)


def add_message(connection: sqlite3.Connection, message: Message, keep: int) -> int:
    """Insert a message, and forget those of the receiver beyond the newest `keep`.

    Raises:
        NotFound: the receiver is gone.
    """
    require_session(connection, message.to)
    number = connection.execute(
        "INSERT INTO messages (receiver, data) VALUES (?, ?)", (message.to, _encoder.encode(message))
    ).lastrowid
    assert number is not None, "an INSERT has a row id"
    connection.execute(
        "DELETE FROM messages WHERE receiver = ? AND number <= ("
        "SELECT number FROM messages WHERE receiver = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
        (message.to, message.to, keep),
    )
    return number


def read_messages(
    connection: sqlite3.Connection, session_id: str, after: int, up_to: int | None, limit: int, newest: bool
) -> tuple[StoredMessage, ...]:
    """Return messages of a receiver, ascending; the first ones of the range, or the newest."""
    order = "DESC" if newest else "ASC"
    rows = connection.execute(
        "SELECT number, data FROM messages WHERE receiver = ? AND number > ? AND number <= ? "  # noqa: S608
        f"ORDER BY number {order} LIMIT ?",
        (session_id, after, up_to if up_to is not None else (1 << 63) - 1, limit),
    ).fetchall()
    found = [StoredMessage(number=number, message=_decoder.decode(data)) for number, data in rows]
    return tuple(reversed(found) if newest else found)
