"""The prompts that wait for a turn to end: durable, in order, bounded (contract §3.5 Prompt; P53).

Pure changes of the record; when a waiting prompt runs is decided in `live.py`.
"""

from collections.abc import Sequence

import msgspec

from compozy.model import ids, times
from compozy.model.errors import NotFound, TooLarge
from compozy.model.session import RuntimeSelection
from compozy.model.session_answers import PromptResult, QueuedInput
from compozy.runtime.sessions.prompting import PromptRequest
from compozy.store.interface import PromptRecord, QueuedPrompt, SessionRecord

# Which prompts go first: those that end a turn at once, those that end it at rest, those that wait for its end.
_RANK = {"interrupt": 0, "steer": 1}
_ORDINARY = 2
_STATUS = {"interrupt": "interrupting", "steer": "steering"}


def new_entry(
    request: PromptRequest, identity: PromptRecord, mode: str, runtime: RuntimeSelection | None, *, target: str
) -> QueuedPrompt:
    """Return a queue entry for an accepted prompt; `target` is the turn that it steers."""
    return QueuedPrompt(
        id=ids.new_queue_entry_id(),
        text=request.message,
        turn_id=identity.turn_id,
        message_id=identity.message_id,
        idempotency_key=identity.idempotency_key,
        enqueued_at=times.now(),
        mode=mode,
        runtime=runtime,
        target_turn_id=target,
        require_context=request.require_context,
        attachments=request.attachments,
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


def inserted(queue: Sequence[QueuedPrompt], entry: QueuedPrompt) -> tuple[QueuedPrompt, ...]:
    """Return the queue with the entry in its place: an entry that is there keeps it unless its mode changed.

    A new interrupt goes before everything, the others behind their like.
    """
    before = next((index for index, known in enumerate(queue) if known.id == entry.id), None)
    if before is not None and queue[before].mode == entry.mode:
        return (*queue[:before], entry, *queue[before + 1 :])
    others = [known for known in queue if known.id != entry.id]
    rank = _RANK.get(entry.mode, _ORDINARY)
    place = 0 if rank == 0 else sum(_RANK.get(known.mode, _ORDINARY) <= rank for known in others)
    return (*others[:place], entry, *others[place:])


def delivery_of(entry: QueuedPrompt) -> str:
    """Return how a waiting prompt reaches the agent (contract §3.5 Prompt)."""
    return "interrupt_then_prompt" if entry.mode in _RANK else "after_turn"


def result_of(record: SessionRecord, entry: QueuedPrompt, *, previous_turn_id: str = "") -> PromptResult:
    """Return the answer about a prompt that waits."""
    waiting = [queued.id for queued in record.queue]
    return PromptResult(
        status=_STATUS.get(entry.mode, "queued"),
        delivery=delivery_of(entry),
        message_id=entry.message_id,
        idempotency_key=entry.idempotency_key,
        replayed=False,
        mode=entry.mode,
        new_turn_id=entry.turn_id,
        previous_turn_id=previous_turn_id,
        queue_entry_id=entry.id,
        queue_position=waiting.index(entry.id) + 1 if entry.id in waiting else 0,
        queue_generation=record.queue_generation,
    )


def shown(record: SessionRecord) -> tuple[QueuedInput, ...]:
    """Return the waiting prompts as the API shows them."""
    return tuple(
        QueuedInput(
            id=entry.id,
            session_id=record.session.id,
            status="queued",
            delivery=delivery_of(entry),
            mode=entry.mode,
            text=entry.text,
            enqueued_at=entry.enqueued_at,
            queue_generation=record.queue_generation,
            message_id=entry.message_id,
            idempotency_key=entry.idempotency_key,
            runtime=entry.runtime,
            target_turn_id=entry.target_turn_id,
            attachments=entry.attachments,
        )
        for entry in record.queue
    )
