"""The one way a session's facts change: stored first, then remembered, then shown (contract §5.8).

A journal owns the record and the ring of one session. Every change is a function from the newest record to the
next, so that two changes in flight never lose each other. It knows nothing of agents or turns.
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from compozy.model import times
from compozy.model.errors import NotFound
from compozy.model.event import EventDraft, StoredEvent
from compozy.model.session import Session
from compozy.runtime.sessions.badge import attention_class, badge_of
from compozy.runtime.sessions.fanout import Ring
from compozy.store.interface import PromptRecord, SessionRecord, Store

Change = Callable[[SessionRecord], SessionRecord]
Listener = Callable[[SessionRecord, SessionRecord], None]
"""Told the record before and after a change."""


def change_session(record: SessionRecord, **fields: object) -> SessionRecord:
    """Return the record with fields of its session payload replaced."""
    return msgspec.structs.replace(record, session=msgspec.structs.replace(record.session, **fields))


def change_runtime(record: SessionRecord, **fields: object) -> SessionRecord:
    """Return the record with fields of its runtime replaced."""
    return change_session(record, runtime=msgspec.structs.replace(record.session.runtime, **fields))


def _restamped(before: SessionRecord, record: SessionRecord) -> SessionRecord:
    """Return the changed record with its time, its badge and since when it wants, or no longer wants, a person."""
    stamp = times.now()
    prompting = bool(record.turn_id)
    stalled = prompting and record.stalled_turn == record.turn_id
    badge = badge_of(record.session, prompting=prompting, unseen=record.is_unseen, stalled=stalled)
    if attention_class(badge) != attention_class(before.session.badge):
        return change_session(record, updated_at=stamp, badge=badge, attention_changed_at=stamp)
    return change_session(record, updated_at=stamp, badge=badge)


class Journal:
    """Record, events and ring of one session."""

    def __init__(self, store: Store, record: SessionRecord, ring: Ring, on_change: Listener) -> None:
        self._store = store
        self._on_change = on_change
        self.record = record
        self.ring = ring
        self.is_deleted = False
        # Keeps "stored" and "shown" in the same order, and a change on the newest record.
        self._lock = asyncio.Lock()

    @property
    def session(self) -> Session:
        """The newest session payload."""
        return self.record.session

    async def write(
        self, drafts: Sequence[EventDraft], change: Change | None = None, prompt: PromptRecord | None = None
    ) -> tuple[StoredEvent, ...]:
        """Store events, the record's change and the identity of a prompt together, then publish.

        Cancelling the caller does not tear the write: it is finished, and shown, all the same.
        """
        return await asyncio.shield(asyncio.ensure_future(self._write(tuple(drafts), change, prompt)))

    async def _write(
        self, drafts: tuple[EventDraft, ...], change: Change | None, prompt: PromptRecord | None
    ) -> tuple[StoredEvent, ...]:
        async with self._lock:
            before = record = self.record
            self._refuse_deleted()
            if drafts:
                record = msgspec.structs.replace(record, last_activity_at=drafts[-1].timestamp)
            if change is not None:
                record = _restamped(before, change(record))
            if not drafts:
                if change is not None:
                    await self._store.put_session(record)
                stored: tuple[StoredEvent, ...] = ()
            else:
                stored = await self._store.append_events(
                    record.session.id,
                    drafts,
                    record=record if self._row_is_due(record, change) else None,
                    prompt=prompt,
                )
            self.record = record
            self.ring.publish(stored)
        if change is not None:
            self._on_change(before, record)
        return stored

    def _refuse_deleted(self) -> None:
        if self.is_deleted:
            # A write would bring the row back, and with it a session that nobody owns.
            raise NotFound(
                f"session {self.record.session.id!r} was deleted: create another", code="session_not_found"
            )

    def _row_is_due(self, record: SessionRecord, change: Change | None) -> bool:
        # The row follows plain updates at most once a second: enough for lists, and free at 20,000 updates/s.
        return change is not None or record.last_activity_at[:19] != self.record.last_activity_at[:19]

    async def archive(
        self, first: int, drafts: Sequence[EventDraft], change: Change
    ) -> tuple[int, tuple[StoredEvent, ...]]:
        """Archive the events from a sequence on and store drafts and change with that, then publish.

        Returns:
            How many events were archived, and the stored ones.
        """
        return await asyncio.shield(asyncio.ensure_future(self._archive(first, tuple(drafts), change)))

    async def _archive(
        self, first: int, drafts: tuple[EventDraft, ...], change: Change
    ) -> tuple[int, tuple[StoredEvent, ...]]:
        async with self._lock:
            before = self.record
            self._refuse_deleted()
            record = _restamped(before, change(before))
            count, stored = await self._store.archive_events(before.session.id, first, drafts, record=record)
            self.record = record
            self.ring.publish(stored)
        self._on_change(before, record)
        return count, stored

    async def delete(self) -> None:
        """Remove the session from the store; nothing can be written afterwards."""
        async with self._lock:
            await self._store.delete_session(self.record.session.id)
            self.is_deleted = True
        self.ring.close()

    async def change(self, change: Change) -> None:
        """Store a change that makes no event."""
        await self.write((), change)
