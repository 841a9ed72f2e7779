"""Deliver session updates in order and with back-pressure: one lane per session, one bound for the whole process.

Knows nothing of JSON-RPC. Each lane has one worker task while it holds updates, so a batch grows while the one before
it is stored. Above the bound the pipe is not read any more, which stops the agent. spec/acp.md: fault groups 9, 11.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from compozy.acp.contract import SessionUpdate, WireLimits

# One store transaction takes it in a few milliseconds; larger batches only delay the first update in them.
BATCH = 1000


class _Lane:
    """The updates of one session on their way."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[SessionUpdate, int]] = deque()
        self.put = 0
        self.handled = 0
        self.last_put = 0.0
        self.task: asyncio.Task[None] | None = None
        self.marks: deque[tuple[int, asyncio.Future[None]]] = deque()

    def release_marks(self) -> None:
        while self.marks and self.marks[0][0] <= self.handled:
            future = self.marks.popleft()[1]
            if not future.done():
                future.set_result(None)


class UpdateLanes:
    """Ordered delivery of updates.

    Args:
        deliver: takes a batch of one session; returning means it is stored.
        pause, resume: stop and restart reading the agent's output.
        failed: told once when `deliver` raises; nothing is delivered afterwards.
    """

    def __init__(
        self,
        deliver: Callable[[Sequence[SessionUpdate]], Awaitable[None]],
        *,
        limits: WireLimits,
        pause: Callable[[], None],
        resume: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._deliver = deliver
        # Kept, because asking for it costs a system call for each update.
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._pause, self._resume, self._failed = pause, resume, failed
        self._lanes: dict[str, _Lane] = {}
        self._bytes = self._count = 0
        self._is_paused = self._is_broken = False

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def put(self, update: SessionUpdate, size: int) -> None:
        """Take one update of `size` bytes; never blocks."""
        if self._is_broken:
            return
        lane = self._lanes.get(update.session_id)
        if lane is None:
            lane = self._lanes[update.session_id] = _Lane()
        lane.waiting.append((update, size))
        lane.put += 1
        lane.last_put = self._loop.time()
        self._bytes += size
        self._count += 1
        if lane.task is None:
            lane.task = self._loop.create_task(self._work(lane))
        if not self._is_paused and (self._bytes > self._limits.queue or self._count > self._limits.queue_updates):
            self._is_paused = True
            self._pause()

    def mark(self, session_id: str) -> asyncio.Future[None]:
        """Return a future that is done when everything put so far for the session was handled."""
        future: asyncio.Future[None] = self._loop.create_future()
        lane = self._lanes.get(session_id)
        if lane is None or lane.handled >= lane.put or self._is_broken:
            future.set_result(None)
        else:
            lane.marks.append((lane.put, future))
        return future

    def last_put(self, session_id: str) -> float:
        """Return the loop time of the session's latest update, 0 when it had none."""
        lane = self._lanes.get(session_id)
        return lane.last_put if lane else 0.0

    async def drain(self, timeout: float) -> None:
        """Wait until all lanes are empty, at most `timeout` seconds; then stop every worker."""
        tasks = [lane.task for lane in self._lanes.values() if lane.task is not None]
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=timeout)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=timeout)

    async def _work(self, lane: _Lane) -> None:
        try:
            while lane.waiting:
                taken = [lane.waiting.popleft() for _ in range(min(BATCH, len(lane.waiting)))]
                await self._deliver([update for update, _ in taken])
                lane.handled += len(taken)
                self._count -= len(taken)
                self._bytes -= sum(size for _, size in taken)
                lane.release_marks()
                self._resume_if_room()
        except asyncio.CancelledError:
            self._break()
            raise
        except Exception as error:  # noqa: BLE001 - supervisor: a store that fails ends the connection, not the daemon
            self._break()
            self._failed(error)
        finally:
            lane.task = None

    def _resume_if_room(self) -> None:
        # Half full: resuming at the brim would stop and start with every batch.
        if (
            self._is_paused
            and self._bytes * 2 <= self._limits.queue
            and self._count * 2 <= self._limits.queue_updates
        ):
            self._is_paused = False
            self._resume()

    def _break(self) -> None:
        """Give up what waits and let go whoever waits for it."""
        self._is_broken = True
        for lane in self._lanes.values():
            lane.waiting.clear()
            lane.handled = lane.put
            lane.release_marks()
        self._count = self._bytes = 0
        self._resume_if_room()
