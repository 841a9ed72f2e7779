"""The writing statements of the SQLite store, run by the writer thread inside a transaction it opened.

Each function takes the connection and plain values; none commits. Event rows are written many to a statement:
every statement gives Python's interpreter lock away once, and getting it back from a busy event loop is what costs.
"""

import sqlite3
from collections.abc import Sequence

from compozy.model.tool import ApprovalGrant
from compozy.store.codec import encode_grant
from compozy.store.columns import SessionColumns
from compozy.store.interface import ProcessRecord, PromptRecord
from compozy.store.keys import find_session, first_key, require_session

# 32 rows of 8 values stay far below the oldest limit of 999 values a statement; larger chunks gain nothing.
ROWS_A_STATEMENT = 32
# Events swept at a time after a session was removed, so that other writes wait a few milliseconds at most.
SWEEP_EVENTS = 2_000

EventRow = tuple[int, str, str, str, str, str, int, bytes]

_EVENT_HEAD = "INSERT INTO events (key, id, type, turn_id, agent_name, timestamp, archived, content) VALUES "
_EVENT_VALUES = "(?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_EVENT = _EVENT_HEAD + _EVENT_VALUES
_INSERT_EVENTS = _EVENT_HEAD + ", ".join([_EVENT_VALUES] * ROWS_A_STATEMENT)

_COLUMNS = SessionColumns._fields
_INSERT_SESSION = f"INSERT INTO sessions ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
# `attention_at` moves only when the attention class changes; the other columns take the new value.
_UPDATE_SESSION = (
    "UPDATE sessions SET "  # noqa: S608
    + ", ".join(f"{name} = :{name}" for name in _COLUMNS if name not in ("id", "attention_at"))
    + ", attention_at = CASE WHEN attention = :attention THEN attention_at ELSE :attention_at END WHERE num = :num"
)


def insert_events(connection: sqlite3.Connection, rows: Sequence[EventRow]) -> None:
    """Write event rows, in order."""
    whole = len(rows) - len(rows) % ROWS_A_STATEMENT
    for start in range(0, whole, ROWS_A_STATEMENT):
        chunk = rows[start : start + ROWS_A_STATEMENT]
        connection.execute(_INSERT_EVENTS, [value for row in chunk for value in row])
    for row in rows[whole:]:
        connection.execute(_INSERT_EVENT, row)


def archive_events(connection: sqlite3.Connection, num: int, first: int) -> int:
    """Archive the events of a session from a sequence on; return how many were not before."""
    return connection.execute(
        "UPDATE events SET archived = 1 WHERE key >= ? AND key < ? AND archived = 0",
        (first_key(num) + first, first_key(num + 1)),
    ).rowcount


def put_session(
    connection: sqlite3.Connection, num: int | None, columns: SessionColumns, data: bytes, startup_prompt: str
) -> int:
    """Insert the session (`num` None) or replace it; return its number."""
    if num is None:
        num = connection.execute(_INSERT_SESSION, columns).lastrowid
        assert num is not None, "an INSERT has a row id"
    else:
        connection.execute(_UPDATE_SESSION, {**columns._asdict(), "num": num})
    connection.execute("INSERT OR REPLACE INTO session_data VALUES (?, ?)", (num, data))
    connection.execute(
        "INSERT INTO session_startup VALUES (?, ?) ON CONFLICT (session) DO UPDATE "
        "SET startup_prompt = excluded.startup_prompt WHERE startup_prompt <> excluded.startup_prompt",
        (num, startup_prompt),
    )
    return num


def delete_session(connection: sqlite3.Connection, session_id: str) -> bool:
    """Remove the session's rows and leave its events to the sweep."""
    num = find_session(connection, session_id)
    if num is None:
        return False
    for statement in (
        "DELETE FROM session_data WHERE session = ?",
        "DELETE FROM session_startup WHERE session = ?",
        "DELETE FROM prompts WHERE session = ?",
        "DELETE FROM sessions WHERE num = ?",
        "INSERT INTO removed_sessions VALUES (?)",
    ):
        connection.execute(statement, (num,))
    connection.execute("DELETE FROM processes WHERE session_id = ?", (session_id,))
    connection.execute("DELETE FROM messages WHERE receiver = ?", (session_id,))
    return True


def sweep_removed(connection: sqlite3.Connection) -> bool:
    """Delete some events of removed sessions and give their pages back; return whether more are left."""
    row = connection.execute("SELECT session FROM removed_sessions LIMIT 1").fetchone()
    if row is None:
        return False
    num = int(row[0])
    deleted = connection.execute(
        "DELETE FROM events WHERE key IN (SELECT key FROM events WHERE key > ? AND key < ? LIMIT ?)",
        (first_key(num), first_key(num + 1), SWEEP_EVENTS),
    ).rowcount
    if deleted < SWEEP_EVENTS:
        connection.execute("DELETE FROM removed_sessions WHERE session = ?", (num,))
    return True


def put_workspace(connection: sqlite3.Connection, workspace_id: str, created_at: str, data: bytes) -> None:
    """Insert or replace a workspace."""
    connection.execute("INSERT OR REPLACE INTO workspaces VALUES (?, ?, ?)", (workspace_id, created_at, data))


def delete_workspace(connection: sqlite3.Connection, workspace_id: str) -> bool:
    """Remove a workspace; return whether it was there."""
    return connection.execute("DELETE FROM workspaces WHERE id = ?", (workspace_id,)).rowcount > 0


def put_prompt(connection: sqlite3.Connection, prompt: PromptRecord) -> None:
    """Insert a prompt in place of those with the same key or the same message id."""
    num = require_session(connection, prompt.session_id)
    connection.execute(
        "DELETE FROM prompts WHERE session = ? AND "
        "((idempotency_key <> '' AND idempotency_key = ?) OR (message_id <> '' AND message_id = ?))",
        (num, prompt.idempotency_key, prompt.message_id),
    )
    connection.execute(
        "INSERT INTO prompts VALUES (?, ?, ?, ?, ?, ?)",
        (num, prompt.idempotency_key, prompt.message_id, prompt.payload_digest, prompt.turn_id, prompt.created_at),
    )


def put_grant(connection: sqlite3.Connection, grant: ApprovalGrant) -> None:
    """Insert or replace a remembered answer."""
    connection.execute(
        "INSERT OR REPLACE INTO tool_grants VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            grant.workspace_id,
            grant.tool_id,
            grant.agent_name,
            grant.input_digest,
            grant.id,
            grant.created_at,
            encode_grant(grant),
        ),
    )


def delete_grant(connection: sqlite3.Connection, workspace_id: str, grant_id: str) -> bool:
    """Forget a remembered answer; return whether it was there."""
    found = connection.execute("DELETE FROM tool_grants WHERE workspace_id = ? AND id = ?", (workspace_id, grant_id))
    return found.rowcount > 0


def put_process(connection: sqlite3.Connection, process: ProcessRecord) -> None:
    """Insert or replace a process."""
    connection.execute(
        "INSERT OR REPLACE INTO processes VALUES (?, ?, ?, ?, ?, ?)",
        (
            process.pid,
            process.start_time,
            process.session_id,
            process.group,
            process.marker,
            process.started_at,
        ),
    )


def delete_process(connection: sqlite3.Connection, pid: int, start_time: str) -> None:
    """Forget a process."""
    connection.execute("DELETE FROM processes WHERE pid = ? AND start_time = ?", (pid, start_time))
