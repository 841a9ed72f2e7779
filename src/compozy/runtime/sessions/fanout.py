"""The newest events of one session in memory, and the wake-up call for those who follow it.

There are no queues per subscriber: a follower keeps its own position, takes what the ring still has, and reads the
store for the rest. A follower that is slow, stuck or gone therefore costs nothing (issue 2, speed and memory).
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from compozy.model.event import StoredEvent

# Enough for a follower that keeps up; whoever falls further behind reads the store.
RING_EVENTS = 2048
# Bounds the memory of one session whatever the size of its events; frames made of them take about as much again.
RING_BYTES = 2 * 1024 * 1024
# What stays of a session at rest.
_AT_REST = 64
# Frames are kept when at least so many want them.
_SHARED = 2


class Ring:
    """The tail of one session's events. Used on the event loop only."""

    def __init__(self, last_sequence: int = 0) -> None:
        self._events: deque[StoredEvent] = deque()
        self._bytes = 0
        self._last = last_sequence
        self._waiters: set[asyncio.Future[None]] = set()
        self._closed = False
        self._frames: dict[int, bytes] = {}
        self.followers = 0
        """How many follow now."""
        self.problem = ""
        """Why the ring was closed, when that was no ordinary end."""

    @property
    def last_sequence(self) -> int:
        """The sequence of the newest event that was published."""
        return self._last

    @property
    def closed(self) -> bool:
        """Whether no event will follow."""
        return self._closed

    def publish(self, events: Sequence[StoredEvent]) -> None:
        """Add events that are stored, in sequence order, and wake the followers."""
        if not events:
            return
        if events[0].sequence != self._last + 1:
            # A gap (a write that was stored but never published): followers read it from the store.
            self._events.clear()
            self._frames.clear()
            self._bytes = 0
        self._events.extend(events)
        self._bytes += sum(len(event.content) for event in events)
        self._last = events[-1].sequence
        self._drop(RING_EVENTS)
        self._wake()

    def rest(self) -> None:
        """Keep only a few events: nothing happens now, and who is behind reads the store."""
        self._drop(_AT_REST)

    def _drop(self, keep: int) -> None:
        while len(self._events) > keep or (self._bytes > RING_BYTES and len(self._events) > 1):
            event = self._events.popleft()
            self._bytes -= len(event.content)
            self._frames.pop(event.sequence, None)

    def frame(self, event: StoredEvent, make: Callable[[StoredEvent], bytes]) -> bytes:
        """Return what `make` makes of an event, made once for all who follow."""
        if self.followers < _SHARED:
            return make(event)
        found = self._frames.get(event.sequence)
        if found is None:
            found = make(event)
            if self._events and event.sequence >= self._events[0].sequence:
                self._frames[event.sequence] = found
        return found

    def close(self, problem: str = "") -> None:
        """Say that no event will follow, and why when that is no ordinary end; followers drain and end."""
        self._closed = True
        self.problem = problem
        self._wake()

    def reopen(self) -> None:
        """Say that events follow again: the session was started anew."""
        self._closed = False
        self.problem = ""

    def after(self, sequence: int, limit: int) -> list[StoredEvent] | None:
        """Return up to `limit` events after `sequence`, or None when the ring no longer reaches back that far."""
        if sequence >= self._last:
            return []
        if not self._events or self._events[0].sequence > sequence + 1:
            return None
        skip = sequence + 1 - self._events[0].sequence
        if skip == 0 and len(self._events) <= limit:
            return list(self._events)
        if skip > len(self._events) // 2:
            # Near the end, walking from the right is shorter: the common case of a follower that keeps up.
            newest = [
                event for event, _ in zip(reversed(self._events), range(len(self._events) - skip), strict=False)
            ]
            newest.reverse()
            return newest[:limit]
        return [event for index, event in enumerate(self._events) if skip <= index < skip + limit]

    async def wait(self, sequence: int, seconds: float) -> None:
        """Return when there is an event after `sequence`, the ring closes, or the time is over."""
        if self._last > sequence or self._closed:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await asyncio.wait((waiter,), timeout=seconds)
        finally:
            self._waiters.discard(waiter)

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()
