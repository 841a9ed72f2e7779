"""The transcript as a stream: one snapshot, then the entries that changed (contract §3.5 Streams).

A client that comes back with the fence of what it has gets only what changed since; any doubt gives a snapshot with
`reset`. Deltas carry whole entries, so they are spaced out as entries grow.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from compozy.model.event import StoredEvent
from compozy.model.session import Session
from compozy.model.transcript import TranscriptPage
from compozy.runtime.sessions.history import GENERATION, session_event
from compozy.runtime.sessions.transcript import TranscriptFold, files_path
from compozy.store.interface import EventQuery

if TYPE_CHECKING:
    from compozy.runtime.sessions.service import Sessions

_ENCODE = msgspec.json.Encoder().encode
_PAGE = 1000
# A delta at most every 50 ms, and less often the larger the last one was: a long answer is not sent a thousand times.
_PAUSE, _PAUSE_PER_BYTE, _PAUSE_MOST = 0.05, 1 / 2_000_000, 2.0


@dataclass(frozen=True)
class Fence:
    """What a client says it has."""

    after: int | None
    epoch: int | None
    generation: int | None

    def reason_to_reset(self, session: Session, last_sequence: int) -> str:
        """Return why the client's copy cannot be continued, "" when it can."""
        if self.epoch is None or self.generation is None:
            return "fence_missing"
        if self.epoch != session.transcript_epoch:
            return "epoch_mismatch"
        if self.generation != GENERATION:
            return "generation_mismatch"
        return "sequence_reset" if (self.after or 0) > last_sequence else ""


async def transcript_frames(sessions: "Sessions", session_id: str, fence: Fence, limit: int) -> AsyncIterator[bytes]:
    """Yield the frames until the session stops or the client goes."""
    session = await sessions.get(session_id)
    fold = TranscriptFold(files_path(session))
    position = fence.after or 0
    reset = "" if fence.after is None else fence.reason_to_reset(session, await sessions.last_sequence(session_id))
    if fence.after is None or reset:
        page = await sessions.transcript(session_id, limit=limit)
        position = page.max_sequence
        yield _frame("transcript_snapshot", _snapshot(session, page, reset), position)
    await _seed(sessions, session_id, fold, position)
    loop = asyncio.get_running_loop()
    next_at = 0.0
    async for batch in sessions.follow(session_id, position):
        if not batch:
            continue
        fold.add(batch)
        position = batch[-1].sequence
        for frame in _notices(batch, session):
            yield frame
        if loop.time() < next_at and batch[-1].type != "session_stopped":
            await asyncio.sleep(next_at - loop.time())
        changed = fold.take_changed()
        if changed:
            frame = _frame("transcript_delta", _delta(session, changed, position), position)
            next_at = loop.time() + min(_PAUSE + len(frame) * _PAUSE_PER_BYTE, _PAUSE_MOST)
            yield frame
    stopped = await sessions.last_stop(session_id)
    if stopped is not None:
        yield _frame("session_stopped", session_event(stopped, session), stopped.sequence)


async def _seed(sessions: "Sessions", session_id: str, fold: TranscriptFold, position: int) -> None:
    """Fold what the client already has of the turn at `position`, so that later events complete its entries."""
    if position == 0:
        return
    at = await sessions.stored(session_id, EventQuery(after_sequence=position - 1, limit=1, archive="all"))
    turn_id = at[0].turn_id if at else ""
    after = 0
    while turn_id:
        page = await sessions.stored(session_id, EventQuery(after_sequence=after, turn_id=turn_id, limit=_PAGE))
        fold.add(event for event in page if event.sequence <= position)
        if len(page) < _PAGE or page[-1].sequence >= position:
            break
        after = page[-1].sequence
    fold.take_changed()


def _snapshot(session: Session, page: TranscriptPage, reset: str) -> dict[str, object]:
    data: dict[str, object] = {
        "session_id": session.id,
        "workspace_id": session.workspace_id,
        "workspace_path": session.workspace_path,
        "epoch": page.epoch,
        "generation": page.generation,
        "entries": page.entries,
        "max_sequence": page.max_sequence,
        "has_older": page.has_older,
        "reset": bool(reset),
    }
    if page.next_before_sequence is not None:
        data["next_before_sequence"] = page.next_before_sequence
    return {**data, "reason": reset} if reset else data


def _delta(session: Session, changed: tuple[object, ...], position: int) -> dict[str, object]:
    return {
        "session_id": session.id,
        "workspace_id": session.workspace_id,
        "workspace_path": session.workspace_path,
        "epoch": session.transcript_epoch,
        "generation": GENERATION,
        "entries": changed,
        "cursor": position,
        "max_sequence": position,
        "has_more": False,
    }


def _notices(batch: tuple[StoredEvent, ...], session: Session) -> list[bytes]:
    changed = [event.sequence for event in batch if event.type == "available_commands"]
    if not changed:
        return []
    return [_frame("session_commands_changed", {"session_id": session.id, "revision": str(changed[-1])}, 0)]


def _frame(event: str, data: object, position: int) -> bytes:
    head = b"id: %d\n" % position if position else b""
    return head + b"event: %b\ndata: %b\n\n" % (event.encode(), _ENCODE(data))
