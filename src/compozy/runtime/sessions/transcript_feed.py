"""One folded transcript for everybody who watches a session: each event is folded once, each entry encoded once.

Lives as long as somebody watches. Keeps running turns and the newest ended ones; a watcher that falls further behind
takes a snapshot instead. What a frame looks like is `transcript_stream.py`.
"""

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import msgspec

from compozy.model.transcript import TranscriptPage
from compozy.runtime.sessions.transcript import TranscriptFold, files_path
from compozy.store.interface import EventQuery

if TYPE_CHECKING:
    from compozy.runtime.sessions.live import LiveSession
    from compozy.runtime.sessions.service import Sessions

_ENCODE = msgspec.json.Encoder().encode
# Entries of ended turns that are kept for watchers who are behind.
_KEPT = 50
# Folding this many takes some two milliseconds; others get their turn in between.
_BATCH = 500


class TranscriptFeed:
    """The transcript of one session from some event on. Used on the event loop only."""

    def __init__(self, sessions: "Sessions", live: "LiveSession", page: TranscriptPage) -> None:
        self._sessions = sessions
        self._live = live
        self._fold = TranscriptFold(files_path(live.record.session))
        self._fold.seed(page.entries)
        self.last = self._fold.last_sequence = page.max_sequence
        """The newest event that is folded."""
        self.floor = page.max_sequence
        """Whoever has seen less than this event cannot be served from here."""
        self.commands_at = 0
        """The newest event that changed the slash commands."""
        self._encoded: dict[str, tuple[int, bytes]] = {}
        # Keeps two watchers from folding the same events.
        self._lock = asyncio.Lock()
        self._fold.forget(_KEPT)

    async def advance(self) -> None:
        """Fold what is stored by now."""
        async with self._lock:
            while self.last < self._live.journal.ring.last_sequence:
                batch = self._live.journal.ring.after(self.last, _BATCH)
                if batch is None:
                    query = EventQuery(after_sequence=self.last, limit=_BATCH, archive="all")
                    batch = list(await self._sessions.stored(self._live.record.session.id, query))
                if not batch:
                    return  # the session was deleted under us
                self._fold.add(batch)
                self.last = batch[-1].sequence
                self.commands_at = max(
                    (event.sequence for event in batch if event.type == "available_commands"),
                    default=self.commands_at,
                )
                self.floor = max(self.floor, self._fold.forget(_KEPT))
                await asyncio.sleep(0)

    def changed_after(self, sequence: int) -> list[bytes]:
        """Return the entries that an event after `sequence` changed, oldest first, each as JSON."""
        found: list[bytes] = []
        current: dict[str, tuple[int, bytes]] = {}
        for key, last in self._fold.touched_after(sequence):
            known = self._encoded.get(key)
            if known is None or known[0] != last:
                known = (last, _ENCODE(self._fold.render(key)))
            current[key] = known
            found.append(known[1])
        # Older ones are hardly asked for again, and long.
        self._encoded = current
        return found


class TranscriptFeeds:
    """The feeds of the sessions that somebody watches."""

    def __init__(self, sessions: "Sessions") -> None:
        self._sessions = sessions
        self._feeds: WeakValueDictionary[str, TranscriptFeed] = WeakValueDictionary()

    async def join(self, live: "LiveSession", page: TranscriptPage) -> TranscriptFeed:
        """Return the feed of a session, folded at least as far as the page of a new watcher."""
        key = f"{live.record.session.id}:{page.epoch}:{page.generation}"
        feed = self._feeds.get(key)
        if feed is None:
            feed = self._feeds[key] = TranscriptFeed(self._sessions, live, page)
        await feed.advance()
        return feed
