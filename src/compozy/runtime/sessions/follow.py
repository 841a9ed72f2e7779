"""Following a session: batches of stored events from a position on, for every kind of stream (contract §3.5).

A batch comes from the ring when it still reaches back that far, else from the store. An empty batch means that
nothing happened for a while: the caller may send a keep-alive.
"""

from collections.abc import AsyncIterator

from compozy.model.event import StoredEvent
from compozy.runtime.sessions.fanout import Ring
from compozy.store.interface import EventQuery, Store

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
