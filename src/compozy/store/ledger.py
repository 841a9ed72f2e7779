"""One open transaction of the SQLite store and what it remembers: sequence counters and event rows not yet written.

The writer thread runs many callers' jobs against one ledger and then commits once. Counters live between
transactions, so that an append needs no read; after anything failed they are forgotten and read again.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from compozy.model.event import EventDraft, StoredEvent
from compozy.store import writes
from compozy.store.codec import encode_session, store_event
from compozy.store.columns import SessionColumns, derive_columns
from compozy.store.interface import SessionRecord
from compozy.store.keys import find_last_sequence, find_session, first_key, require_session

# Sessions whose counters are remembered; a forgotten one costs one indexed read at its next append.
_REMEMBERED_SESSIONS = 4_096


class SessionRow(NamedTuple):
    """A session ready to be written; made on the caller's side, so that a bad record fails there."""

    columns: SessionColumns
    data: bytes
    startup_prompt: str


def prepare_session(record: SessionRecord) -> SessionRow:
    """Return the row of a record."""
    return SessionRow(derive_columns(record), encode_session(record), record.startup_prompt)


@dataclass(slots=True)
class _Counter:
    num: int
    last: int


class Ledger:
    """The writing connection with its counters. Used by one thread only."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._counters: dict[str, _Counter] = {}
        self._rows: list[writes.EventRow] = []

    def begin(self) -> None:
        """Open the transaction."""
        if len(self._counters) > _REMEMBERED_SESSIONS:
            self._counters.clear()
        self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Write the collected rows and make everything durable."""
        writes.insert_events(self.connection, self._rows)
        self.connection.execute("COMMIT")
        self._rows.clear()

    def rollback(self) -> None:
        """Undo everything since `begin`, also when SQLite has already done so itself."""
        self._rows.clear()
        self._counters.clear()
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def put_session(self, row: SessionRow) -> None:
        """Insert or replace a session."""
        session_id = row.columns.id
        counter = self._counters.get(session_id)
        known = counter.num if counter else find_session(self.connection, session_id)
        num = writes.put_session(self.connection, known, row.columns, row.data, row.startup_prompt)
        if known is None:
            self._counters[session_id] = _Counter(num, 0)

    def append_events(
        self, session_id: str, drafts: Sequence[EventDraft], row: SessionRow | None
    ) -> tuple[StoredEvent, ...]:
        """Number the events and collect their rows.

        Raises:
            NotFound: there is no such session and no row for it was given.
        """
        if row is not None:
            self.put_session(row)
        counter = self._counters.get(session_id) or self._load_counter(session_id)
        base = first_key(counter.num)
        stored = []
        for draft in drafts:
            counter.last += 1
            event = store_event(draft, session_id, counter.last)
            stored.append(event)
            self._rows.append(
                (
                    base + event.sequence,
                    event.id,
                    event.type,
                    event.turn_id,
                    event.agent_name,
                    event.timestamp,
                    0,
                    event.content,
                )
            )
        return tuple(stored)

    def archive_events(
        self, session_id: str, first: int, drafts: Sequence[EventDraft], row: SessionRow
    ) -> tuple[int, tuple[StoredEvent, ...]]:
        """Archive the session's events from a sequence on, those collected but not yet written too; then append."""
        writes.insert_events(self.connection, self._rows)
        self._rows.clear()
        num = require_session(self.connection, session_id)
        count = writes.archive_events(self.connection, num, first)
        return count, self.append_events(session_id, drafts, row)

    def delete_session(self, session_id: str) -> bool:
        """Remove a session; events of it that were collected before go to the sweep with the others."""
        self._counters.pop(session_id, None)
        return writes.delete_session(self.connection, session_id)

    def _load_counter(self, session_id: str) -> _Counter:
        num = require_session(self.connection, session_id)
        counter = _Counter(num, find_last_sequence(self.connection, num))
        self._counters[session_id] = counter
        return counter
