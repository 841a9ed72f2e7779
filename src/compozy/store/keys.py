"""Where a session's events lie: the number that stands for a session, and the keys of its events.

Used by the reading and the writing side of the SQLite store; writes nothing itself.
"""

import sqlite3

from compozy.model.errors import NotFound

# A session's number and an event's sequence share one 64-bit key (migrations/0001_initial.sql).
SEQUENCE_BITS = 32


def first_key(num: int) -> int:
    """Return the key below every event of the session with that number."""
    return num << SEQUENCE_BITS


def find_session(connection: sqlite3.Connection, session_id: str) -> int | None:
    """Return the session's number."""
    row = connection.execute("SELECT num FROM sessions WHERE id = ?", (session_id,)).fetchone()
    return int(row[0]) if row else None


def require_session(connection: sqlite3.Connection, session_id: str) -> int:
    """Return the session's number.

    Raises:
        NotFound: there is no such session.
    """
    num = find_session(connection, session_id)
    if num is None:
        raise NotFound(f"session {session_id!r} does not exist; list sessions to see which do")
    return num


def find_last_sequence(connection: sqlite3.Connection, num: int) -> int:
    """Return the highest stored sequence of a session, 0 without events."""
    row = connection.execute(
        "SELECT max(key) FROM events WHERE key > ? AND key < ?", (first_key(num), first_key(num + 1))
    ).fetchone()
    return 0 if row[0] is None else int(row[0]) - first_key(num)
