"""The prompts that wait for a turn to end: durable, in order, bounded (contract §3.5 Prompt; P53).

Pure changes of the record; when a waiting prompt runs is decided in `live.py`.
"""

from collections.abc import Sequence

import msgspec

from compozy.model import ids, times
from compozy.model.errors import NotFound, TooLarge
from compozy.model.record import Record
from compozy.model.session import RuntimeSelection
from compozy.store.interface import PromptRecord, QueuedPrompt, SessionRecord


class QueuedInput(Record, frozen=True, kw_only=True):
    """A waiting prompt as the API shows it (shapes: QueuedInput)."""

    id: str
    session_id: str
    status: str
    delivery: str
    mode: str
    text: str
    enqueued_at: str
    queue_generation: int
    message_id: str = ""
    idempotency_key: str = ""
    runtime: RuntimeSelection | None = None


def new_entry(text: str, identity: PromptRecord, mode: str, runtime: RuntimeSelection | None) -> QueuedPrompt:
    """Return a queue entry for an accepted prompt."""
    return QueuedPrompt(
        id=ids.new_queue_entry_id(),
        text=text,
        turn_id=identity.turn_id,
        message_id=identity.message_id,
        idempotency_key=identity.idempotency_key,
        enqueued_at=times.now(),
        mode=mode,
        runtime=runtime,
    )


def check_room(record: SessionRecord, cap: int) -> None:
    """Refuse one prompt too many.

    Raises:
        TooLarge: the queue is full.
    """
    if len(record.queue) >= cap:
        raise TooLarge(
            f"{len(record.queue)} prompts wait in session {record.session.id!r} already: wait for the turn to end",
            code="session_queue_full",
            category="session",
            diagnostic=True,
        )


def find_entry(record: SessionRecord, entry_id: str) -> QueuedPrompt:
    """Return a waiting prompt.

    Raises:
        NotFound: it does not wait (any more).
    """
    for entry in record.queue:
        if entry.id == entry_id:
            return entry
    raise NotFound(
        f"no prompt {entry_id!r} waits in this session: it ran or was withdrawn", code="queue_entry_not_found"
    )


def with_queue(record: SessionRecord, queue: Sequence[QueuedPrompt]) -> SessionRecord:
    """Return the record with another queue, its generation counted up when it differs."""
    if tuple(queue) == record.queue:
        return record
    return msgspec.structs.replace(record, queue=tuple(queue), queue_generation=record.queue_generation + 1)


def without_entry(record: SessionRecord, entry_id: str) -> SessionRecord:
    """Return the record without that entry."""
    return with_queue(record, [entry for entry in record.queue if entry.id != entry_id])


def shown(record: SessionRecord) -> tuple[QueuedInput, ...]:
    """Return the waiting prompts as the API shows them."""
    return tuple(
        QueuedInput(
            id=entry.id,
            session_id=record.session.id,
            status="queued",
            delivery="interrupt_then_prompt" if entry.mode == "interrupt" else "after_turn",
            mode=entry.mode,
            text=entry.text,
            enqueued_at=entry.enqueued_at,
            queue_generation=record.queue_generation,
            message_id=entry.message_id,
            idempotency_key=entry.idempotency_key,
            runtime=entry.runtime,
        )
        for entry in record.queue
    )
