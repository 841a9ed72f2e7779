"""The transcript as a stream: one snapshot, then the entries that changed (contract §3.5 Streams).

A client that comes back with the fence of what it has gets only what changed since; any doubt gives a snapshot with
`reset`. Deltas carry whole entries, so they are spaced out as entries grow.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from compozy.model.session import Session
from compozy.model.transcript import TranscriptPage
from compozy.runtime.sessions.follow import KEEP_ALIVE_SECONDS
from compozy.runtime.sessions.history import session_event
from compozy.store.interface import SessionRecord

if TYPE_CHECKING:
    from compozy.runtime.sessions.service import Sessions

_ENCODE = msgspec.json.Encoder().encode
# A client that comes back after more than this takes a snapshot.
_MOST_ENTRIES = 500
# A delta at most every 50 ms, and less often the larger the last one was: a long answer is not sent a thousand times.
_PAUSE, _PAUSE_PER_BYTE, _PAUSE_MOST = 0.05, 1 / 2_000_000, 2.0


@dataclass(frozen=True)
class Fence:
    """What a client says it has."""

    after: int | None
    epoch: int | None
    generation: int | None

    def reason_to_reset(self, record: SessionRecord, last_sequence: int) -> str:
        """Return why the client's copy cannot be continued, "" when it can."""
        if self.epoch is None or self.generation is None:
            return "fence_missing"
        if self.epoch != record.session.transcript_epoch:
            return "epoch_mismatch"
        if self.generation != record.transcript_generation:
            return "generation_mismatch"
        return "sequence_reset" if (self.after or 0) > last_sequence else ""


async def transcript_frames(sessions: "Sessions", session_id: str, fence: Fence, limit: int) -> AsyncIterator[bytes]:
    """Yield the frames until the session stops or the client goes."""
    live = await sessions.live(session_id)
    session = live.record.session
    reset = (
        "" if fence.after is None else fence.reason_to_reset(live.record, await sessions.last_sequence(session_id))
    )
    position = -1 if fence.after is None or reset else fence.after
    page = await sessions.transcript(session_id, limit=limit if position < 0 else _MOST_ENTRIES)
    if position >= 0 and not _reaches(page, position):
        reset, position = "sequence_reset", -1
    frame, position = _beginning(session, page, position, reset)
    if frame:
        yield frame
    feed = await sessions.feeds.join(live, page)
    loop = asyncio.get_running_loop()
    while True:
        is_over = live.journal.ring.closed
        reset = _rewound(live.record, page)
        if reset:
            session = live.record.session
            page = await sessions.transcript(session_id, limit=limit)
            frame, position = _beginning(session, page, -1, reset)
            yield frame
            feed = await sessions.feeds.join(live, page)
            continue
        await feed.advance()
        if feed.last > position and position < feed.floor:
            # Too slow: what was missed is cheaper in one piece.
            page = await sessions.transcript(session_id, limit=limit)
            frame, position = _beginning(session, page, -1, "sequence_reset")
            yield frame
        elif feed.last > position:
            begun = loop.time()
            if feed.commands_at > position:
                yield _frame("session_commands_changed", _commands(session, feed.commands_at), 0)
            changed, position = feed.changed_after(position), feed.last
            if changed:
                frame = _delta(session, page.generation, changed, position)
                yield frame
                if not live.journal.ring.closed:
                    pause = min(_PAUSE + len(frame) * _PAUSE_PER_BYTE, _PAUSE_MOST)
                    await asyncio.sleep(max(0.0, begun + pause - loop.time()))
        elif is_over:
            break
        else:
            await live.journal.ring.wait(position, KEEP_ALIVE_SECONDS)
    stopped = await sessions.last_stop(session_id)
    if stopped is not None:
        yield _frame("session_stopped", session_event(stopped, session), stopped.sequence)


def _rewound(record: SessionRecord, page: TranscriptPage) -> str:
    """Return why what was shown is no longer the conversation, "" when it is."""
    if record.session.transcript_epoch != page.epoch:
        return "epoch_mismatch"
    return "generation_mismatch" if record.transcript_generation != page.generation else ""


def _reaches(page: TranscriptPage, position: int) -> bool:
    """Whether a page shows everything that changed after an event."""
    return not page.has_older or bool(page.entries and page.entries[0].start_sequence <= position + 1)


def _beginning(session: Session, page: TranscriptPage, position: int, reset: str) -> tuple[bytes, int]:
    """Return the first frame of a watcher who has everything up to `position` (-1: nothing), and where that leads."""
    if position < 0:
        return _frame("transcript_snapshot", _snapshot(session, page, reset), page.max_sequence), page.max_sequence
    changed = [_ENCODE(entry) for entry in page.entries if entry.sequence > position]
    frame = _delta(session, page.generation, changed, page.max_sequence) if changed else b""
    return frame, max(position, page.max_sequence)


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


def _delta(session: Session, generation: int, changed: Sequence[bytes], position: int) -> bytes:
    """Return the frame of entries that changed, which are JSON already."""
    head = _ENCODE(
        {
            "session_id": session.id,
            "workspace_id": session.workspace_id,
            "workspace_path": session.workspace_path,
            "epoch": session.transcript_epoch,
            "generation": generation,
            "cursor": position,
            "max_sequence": position,
            "has_more": False,
        }
    )
    data = b"".join((head[:-1], b',"entries":[', b",".join(changed), b"]}"))
    return b"id: %d\nevent: transcript_delta\ndata: %b\n\n" % (position, data)


def _commands(session: Session, sequence: int) -> dict[str, object]:
    return {"session_id": session.id, "revision": str(sequence)}


def _frame(event: str, data: object, position: int) -> bytes:
    head = b"id: %d\n" % position if position else b""
    return head + b"event: %b\ndata: %b\n\n" % (event.encode(), _ENCODE(data))
