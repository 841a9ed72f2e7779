"""Following a session: batches of stored events from a position on, for every kind of stream (contract §3.5).

A batch comes from the ring when it still reaches back that far, else from the store. An empty batch means that
nothing happened for a while: the caller may send a keep-alive.
"""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec

from compozy.model.event import StoredEvent
from compozy.runtime.sessions.fanout import Ring
from compozy.runtime.sessions.history import session_event
from compozy.store.interface import EventQuery, Store

if TYPE_CHECKING:
    from compozy.runtime.sessions.service import Sessions

_ENCODE = msgspec.json.Encoder().encode

# Events of one batch: large enough to amortise a write to the socket, small enough to keep others served.
BATCH = 512
# Streams send a comment every 20 s (contract §3.5).
KEEP_ALIVE_SECONDS = 20.0


async def follow(
    store: Store,
    session_id: str,
    ring: Ring,
    after: int,
    *,
    keep_alive: float = KEEP_ALIVE_SECONDS,
) -> AsyncIterator[tuple[StoredEvent, ...]]:
    """Yield batches in sequence order until the ring is closed and everything was delivered."""
    ring.followers += 1
    try:
        async for batch in _batches(store, session_id, ring, after, keep_alive):
            yield batch
    finally:
        ring.followers -= 1


async def _batches(
    store: Store, session_id: str, ring: Ring, after: int, keep_alive: float
) -> AsyncIterator[tuple[StoredEvent, ...]]:
    position = after
    while True:
        ended = ring.closed
        found = ring.after(position, BATCH)
        if found is None:
            batch = await store.read_events(
                session_id, EventQuery(after_sequence=position, limit=BATCH, archive="all")
            )
            if not batch:
                return  # the session was deleted under us
        else:
            batch = tuple(found)
        if batch:
            position = batch[-1].sequence
            yield batch
        elif ended:
            return
        else:
            await ring.wait(position, keep_alive)
            if ring.last_sequence <= position and not ring.closed:
                yield ()


async def raw_frames(sessions: "Sessions", session_id: str, after: int) -> AsyncIterator[bytes]:
    """Yield the frames of every stored event after a sequence; each is made once for all who follow."""
    live = await sessions.live(session_id)
    session, ring = live.record.session, live.journal.ring

    def make(event: StoredEvent) -> bytes:
        data = _ENCODE(session_event(event, session))
        return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.sequence, event.type.encode(), data)

    async for batch in sessions.follow(session_id, after):
        if batch:
            yield b"".join([ring.frame(event, make) for event in batch])
