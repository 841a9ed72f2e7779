"""Taking a conversation back to before one of its prompts, or to its beginning (contract §3.5 rewind, clear).

What is taken back is archived, never deleted, and a marker says so. The agent's own session knows too much then: the
next prompt gets a new one that is told what was kept. The rules only; `rewinds.py` does it.
"""

import hashlib
from collections.abc import Callable
from typing import Literal

import msgspec

from compozy.model.errors import Conflict, InvalidRequest, NotFound
from compozy.model.event import EventDraft, StoredEvent
from compozy.model.record import Record
from compozy.model.session_answers import RewindResult
from compozy.runtime.sessions.content import EventMaker, raw_json, read_content
from compozy.runtime.sessions.journal import change_runtime, change_session
from compozy.store.interface import EventQuery, Rewound, SessionRecord, Store

Kind = Literal["rewound", "cleared"]
_PAGE = 1000


class RewindRequest(Record, frozen=True, kw_only=True):
    """What a client sends to take a conversation back; a fence of None is not looked at."""

    message_id: str
    idempotency_key: str
    expected_epoch: int | None = None
    expected_generation: int | None = None
    expected_max_sequence: int | None = None


def check_rewind(request: RewindRequest) -> None:
    """Refuse a request without identity.

    Raises:
        InvalidRequest: naming the field.
    """
    for field in ("message_id", "idempotency_key"):
        if not getattr(request, field).strip():
            raise InvalidRequest(f"{field} is required")


def digest_of(request: RewindRequest) -> str:
    """Return what must be equal for a retry to be the same rewind."""
    return hashlib.sha256(request.message_id.encode()).hexdigest()


def replayed(record: SessionRecord, request: RewindRequest) -> RewindResult | None:
    """Return what an earlier attempt came to, None for a new one.

    Raises:
        Conflict: the key was used for another message.
    """
    known = record.rewound
    if known is None or known.idempotency_key != request.idempotency_key:
        return None
    if known.digest != digest_of(request):
        raise Conflict(
            f"idempotency_key {request.idempotency_key!r} was used to go back to another message: choose a new one",
            code="rewind_idempotency_conflict",
            category="session",
            diagnostic=True,
        )
    return msgspec.structs.replace(known.result, replayed=True)


def check_fence(record: SessionRecord, request: RewindRequest, last_sequence: int) -> None:
    """Refuse a rewind that was decided on another conversation than the present one.

    Raises:
        Conflict: epoch, generation or the newest event differ.
    """
    present = (record.session.transcript_epoch, record.transcript_generation, last_sequence)
    expected = (request.expected_epoch, request.expected_generation, request.expected_max_sequence)
    for name, asked, now in zip(("epoch", "generation", "max_sequence"), expected, present, strict=True):
        if asked is not None and asked != now:
            raise Conflict(
                f"expected_{name} {asked} is not the present one ({now}): read the transcript again and decide anew",
                code="rewind_fence_stale",
                category="session",
                evidence={"fence": name, "expected": asked, "present": now},
                diagnostic=True,
            )


async def find_prompt(store: Store, session_id: str, message_id: str) -> StoredEvent:
    """Return the event of the prompt with that message id.

    Raises:
        NotFound: no prompt of the conversation has it.
    """
    before: int | None = None
    while True:
        query = EventQuery(before_sequence=before, type="user_message", limit=_PAGE)
        page = await store.read_events(session_id, query)
        for event in reversed(page):
            if message_id in (read_content(event.content).message_id, event.id):
                return event
        if len(page) < _PAGE:
            raise NotFound(
                f"no prompt of this conversation has message_id {message_id!r}: see the transcript for those it has",
                code="message_not_found",
            )
        before = page[0].sequence


def marker(maker: EventMaker, kind: Kind, first: int, last: int, message_id: str) -> EventDraft:
    """Return the marker that says what was taken back."""
    text = (
        "the conversation was cleared" if kind == "cleared" else f"the conversation was taken back to event {first}"
    )
    facts = {"kind": kind, "archived_from_sequence": first, "archived_through_sequence": last}
    return maker.draft(
        "transcript_marker.created",
        "",
        title=kind,
        text=text,
        raw=raw_json({**facts, "target_message_id": message_id}),
    )


def forgotten(kind: Kind) -> Callable[[SessionRecord], SessionRecord]:
    """Return the change of the record: another generation, and an agent session that knows too much is not loaded."""

    def change(record: SessionRecord) -> SessionRecord:
        cleared = kind == "cleared"
        record = msgspec.structs.replace(
            record,
            resume_session_id="",
            has_new_past=True,
            transcript_generation=0 if cleared else record.transcript_generation + 1,
        )
        record = change_runtime(record, acp_session_id="")
        return change_session(record, transcript_epoch=record.session.transcript_epoch + 1) if cleared else record

    return change


def result_of(record: SessionRecord, target: StoredEvent, count: int, last: int, marked: StoredEvent) -> RewindResult:
    """Return the answer to a rewind."""
    content = read_content(target.content)
    return RewindResult(
        archived_event_count=count,
        archived_from_sequence=target.sequence,
        archived_through_sequence=last,
        draft_text=content.text,
        generation=record.transcript_generation,
        max_sequence=marked.sequence,
        replayed=False,
        target_message_id=content.message_id or target.id,
        transcript_epoch=record.session.transcript_epoch,
    )


def remembered(request: RewindRequest, result: RewindResult) -> Rewound:
    """Return what is kept of a rewind, to answer a retry."""
    return Rewound(idempotency_key=request.idempotency_key, digest=digest_of(request), result=result)
