"""Reading what a session did: events, history by turn, transcript, interactions (contract §3.5). Reads only."""

import asyncio
from collections.abc import Sequence

import msgspec

from compozy.model.event import EventContent, SessionEvent, StoredEvent
from compozy.model.session import Interaction, Session
from compozy.model.session_answers import TurnHistory
from compozy.model.transcript import TranscriptEntry, TranscriptPage
from compozy.runtime.sessions.segments import read_segments
from compozy.runtime.sessions.transcript import TranscriptFold, files_path
from compozy.store.interface import EventQuery, SessionRecord, Store

_DECODER = msgspec.json.Decoder(EventContent)
_PAGE = 1000


def session_event(event: StoredEvent, session: Session) -> SessionEvent:
    """Return the payload of one event; the end of a session carries its reason beside the content."""
    ended: dict[str, object] = {}
    if event.type == "session_stopped":
        content = _DECODER.decode(event.content)
        ended = {"stop_reason": content.stop_reason or None, "stop_detail": content.text, "failure": content.failure}
    payload = SessionEvent(
        id=event.id,
        session_id=event.session_id,
        sequence=event.sequence,
        type=event.type,
        turn_id=event.turn_id,
        agent_name=event.agent_name,
        content=msgspec.Raw(event.content),
        timestamp=event.timestamp,
        spawn_depth=session.lineage.spawn_depth if session.lineage else 0,
        workspace_id=session.workspace_id,
        workspace_path=session.workspace_path,
    )
    return msgspec.structs.replace(payload, **ended) if ended else payload


def by_turn(events: Sequence[SessionEvent]) -> tuple[TurnHistory, ...]:
    """Group events by turn, in the order of each turn's first event."""
    groups: dict[str, list[SessionEvent]] = {}
    for event in events:
        groups.setdefault(event.turn_id, []).append(event)
    return tuple(TurnHistory(turn_id=turn, events=tuple(found)) for turn, found in groups.items())


async def read_transcript(
    store: Store, record: SessionRecord, *, limit: int, before_sequence: int | None = None
) -> TranscriptPage:
    """Return the newest `limit` entries that start before a sequence, oldest first.

    Takes ended turns from what was folded before, and folds the events after them. Those it reads backwards until
    enough whole turns are known: a turn is whole when its user message was seen.
    """
    session = record.session
    kept = await store.read_segments(session.id, before_sequence=before_sequence, entries=limit + 1)
    parts = read_segments(kept)
    folded = kept[-1].last if parts else 0
    pages: list[tuple[StoredEvent, ...]] = []
    before = before_sequence
    found = 0
    has_older = False
    while before is None or before > folded + 1:
        page = await store.read_events(session.id, EventQuery(before_sequence=before, limit=_PAGE))
        is_last = len(page) < _PAGE or page[0].sequence <= folded + 1
        pages.append(tuple(event for event in page if event.sequence > folded))
        found += sum(2 for event in pages[-1] if event.type == "user_message")
        if is_last:
            break
        if found > limit + 1:
            has_older = True
            break
        before = page[0].sequence
    fold = TranscriptFold(files_path(session))
    older: list[TranscriptEntry] = []
    if not has_older and parts:
        # Of the newest segment a late event may be among those read; the older ones are done.
        older = [entry for entries in parts[:-1] for entry in entries]
        fold.seed(parts[-1])
        has_older = kept[0].first > 1
    for page in reversed(pages):
        fold.add(page)
        # A turn may have 100,000 events: others get their turn in between.
        await asyncio.sleep(0)
    entries = _whole(fold.entries()) if has_older and not parts else (*older, *fold.entries())
    if before_sequence is not None:
        entries = tuple(entry for entry in entries if entry.start_sequence < before_sequence)
    shown = entries[-limit:]
    has_older = has_older or len(entries) > len(shown)
    return TranscriptPage(
        entries=shown,
        epoch=session.transcript_epoch,
        generation=record.transcript_generation,
        max_sequence=await store.last_sequence(session.id),
        has_older=has_older,
        limit=limit,
        next_before_sequence=shown[0].start_sequence if has_older and shown else None,
    )


def _whole(entries: Sequence[TranscriptEntry]) -> tuple[TranscriptEntry, ...]:
    """Drop the leading entries of a turn whose beginning was not read."""
    for index, entry in enumerate(entries):
        if entry.message.role == "user":
            return tuple(entries[index:])
    return ()


async def read_interactions(store: Store, session: Session) -> tuple[Interaction, ...]:
    """Return every question that was put to a person, oldest first, with how it ended."""
    found: dict[str, Interaction] = {i.interaction_id: i for i in session.pending_interactions}
    order: dict[str, Interaction] = {}
    for kind in ("permission", "clarify"):
        after = 0
        while True:
            query = EventQuery(after_sequence=after, type=kind, archive="all", limit=_PAGE)
            page = await store.read_events(session.id, query)
            for event in page:
                content = _DECODER.decode(event.content)
                if content.interaction_id:
                    _fold(order, content)
            if len(page) < _PAGE:
                break
            after = page[-1].sequence
    merged = (found.get(key, interaction) for key, interaction in order.items())
    return tuple(sorted(merged, key=lambda interaction: interaction.created_at))


# How a clarification ended stands where a permission has its decision.
_CLARIFIED = {"resolved": "resolved", "timed_out": "timed_out", "canceled": "canceled"}


def _fold(order: dict[str, Interaction], content: EventContent) -> None:
    key = content.interaction_id
    is_permission = content.type == "permission"
    if not content.decision:
        order[key] = Interaction(
            interaction_id=key,
            kind="permission" if is_permission else "clarify",
            provider_request_id=content.request_id,
            # Still open here means that its process is gone: a live one is among the session's pending ones.
            status="orphaned",
            created_at=content.timestamp,
            title=content.title,
            turn_id=content.turn_id,
            decisions=content.decisions if is_permission else (),
            choices=() if is_permission else content.decisions,
            expires_at=content.expires_at,
            default_decision=content.default_decision,
            action=content.action,
            resource=content.resource,
        )
    elif key in order:
        status = "resolved" if content.resolved_by == "operator" else "timed_out"
        status = "canceled" if content.decision == "cancelled" else _CLARIFIED.get(content.decision, status)
        order[key] = msgspec.structs.replace(
            order[key],
            status=status,
            resolution=content.decision if is_permission else content.text,
            resolved_at=content.timestamp,
            resolved_by=content.resolved_by,
        )
