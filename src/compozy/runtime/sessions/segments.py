"""Folded transcripts that are kept: ended turns become entries once, not for every reader (contract §5.8).

`Folder` folds in the background after turns; `read_segments` gives entries back. A kept segment says nothing that its
events do not say: losing one costs time, nothing else.
"""

import asyncio
import logging
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from compozy.model.record import Record
from compozy.model.session import Session
from compozy.model.transcript import TranscriptEntry
from compozy.runtime.sessions.fanout import Ring
from compozy.runtime.sessions.transcript import TranscriptFold, files_path
from compozy.store.interface import EventQuery, SessionRecord, Store, TranscriptSegment

if TYPE_CHECKING:
    from compozy.runtime.sessions.live import LiveSession

log = logging.getLogger(__name__)
# Fewer events are folded in a millisecond by whoever reads.
WORTH_KEEPING = 64
# A page takes some two milliseconds to fold; others get their turn in between.
_PAGE = 500
# Followers take the end of a turn from memory before it is given up.
_CATCH_UP_SECONDS = 1.0


_NONE = msgspec.Raw(b"")


class _Part(Record, frozen=True, kw_only=True):
    """A part whose JSON stays as it is; what is not there stays left out."""

    type: str
    id: str = ""
    text: str | None = None
    state: str = ""
    toolCallId: str = ""
    toolName: str = ""
    title: str = ""
    input: msgspec.Raw = _NONE
    output: msgspec.Raw = _NONE
    errorText: str = ""
    data: msgspec.Raw = _NONE
    filename: str = ""
    mediaType: str = ""
    url: str = ""


class _Message(Record, frozen=True, kw_only=True):
    id: str
    role: str
    parts: tuple[_Part, ...]
    metadata: dict[str, object] | None = None


class _Entry(Record, frozen=True, kw_only=True):
    message: _Message
    start_sequence: int
    sequence: int


_ENCODE = msgspec.json.Encoder().encode
_DECODER = msgspec.json.Decoder(tuple[_Entry, ...])


def read_segment(segment: TranscriptSegment) -> tuple[TranscriptEntry, ...]:
    """Return the entries of a kept segment, () for one that another release wrote differently."""
    try:
        # The same fields, so that what renders the one renders the other.
        return _DECODER.decode(segment.data)  # type: ignore[return-value]
    except msgspec.MsgspecError:
        return ()


def read_segments(segments: Sequence[TranscriptSegment]) -> list[tuple[TranscriptEntry, ...]]:
    """Return the entries of segments that follow each other without a gap, [] when they do not."""
    parts = [read_segment(segment) for segment in segments]
    follow = all(before.last + 1 == after.first for before, after in pairwise(segments))
    return parts if follow and all(parts) else []


async def fold_turns(store: Store, session_id: str, until: int, *, files: str = "") -> bool:
    """Keep the turns that ended with the event `until`, unless few events are left to fold; say whether any were.

    `files` is the path below which the session's attachments can be read.
    """
    end = await store.transcript_end(session_id)
    if until - end.last < WORTH_KEEPING:
        return False
    before = await store.read_segments(session_id, entries=1)
    known = read_segment(before[-1]) if before else ()
    turns = {(entry.message.metadata or {}).get("turn_id") for entry in known}
    fold, position, first, is_continued = TranscriptFold(files), end.last, end.last + 1, False
    while position < until:
        page = await store.read_events(session_id, EventQuery(after_sequence=position, limit=_PAGE))
        page = tuple(event for event in page if event.sequence <= until)
        if not page:
            break
        if not is_continued and any(event.turn_id in turns for event in page if event.turn_id):
            # Late words of a turn that is kept already: its segment is made anew.
            is_continued, first = True, before[-1].first
            fold, position = TranscriptFold(files), end.last
            fold.seed(known)
            continue
        fold.add(page)
        position = page[-1].sequence
        await asyncio.sleep(0)
    entries = fold.entries()
    if not entries:
        return False
    segment = TranscriptSegment(first=first, last=until, entries=len(entries), data=_ENCODE(entries))
    return await store.put_segment(session_id, segment, mark=end.mark)


class Folder:
    """Folds sessions in the background, one task each. Bound to the event loop; `close` ends it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._until: dict[str, tuple[int, str]] = {}
        self._rings: dict[str, Ring] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def consider(self, before: SessionRecord, record: SessionRecord, live: "LiveSession | None") -> None:
        """Fold a session when a turn of it ended with this change."""
        if before.turn_id and not record.turn_id and live is not None:
            self._rings[record.session.id] = live.journal.ring
            self.fold_soon(record.session, live.journal.ring.last_sequence)

    def fold_soon(self, session: Session, until: int) -> None:
        """Take note that the turns up to an event have ended."""
        session_id = session.id
        self._until[session_id] = (until, files_path(session))
        if session_id not in self._tasks:
            self._tasks[session_id] = asyncio.get_running_loop().create_task(self._fold(session_id))

    async def _fold(self, session_id: str) -> None:
        try:
            while (found := self._until.pop(session_id, None)) is not None:
                await fold_turns(self._store, session_id, found[0], files=found[1])
                await asyncio.sleep(_CATCH_UP_SECONDS)
                ring = self._rings.get(session_id)
                if ring is not None and ring.last_sequence == found[0]:
                    ring.rest()
        except Exception:
            log.warning("the transcript of %s could not be folded", session_id, exc_info=True)
        finally:
            del self._tasks[session_id]
            self._rings.pop(session_id, None)

    async def close(self) -> None:
        """Stop folding; what is not kept is made again when it is wanted."""
        tasks: Sequence[asyncio.Task[None]] = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)
