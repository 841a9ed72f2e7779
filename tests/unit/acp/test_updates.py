"""Order, bounds and failure of the update lanes."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from compozy.acp.contract import SessionUpdate, WireLimits
from compozy.acp.updates import BATCH, UpdateLanes
from tests.kit.recording import until

pytestmark = pytest.mark.anyio


def _update(session: str, number: int) -> SessionUpdate:
    return SessionUpdate(session_id=session, kind=str(number), raw=msgspec.Raw(b"{}"))


class Sink:
    def __init__(self, limits: WireLimits | None = None) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.got: list[SessionUpdate] = []
        self.batches: list[int] = []
        self.flow: list[str] = []
        self.failures: list[Exception] = []
        self.error: Exception | None = None
        self.lanes = UpdateLanes(
            self.take,
            limits=limits or WireLimits(),
            pause=lambda: self.flow.append("pause"),
            resume=lambda: self.flow.append("resume"),
            failed=self.failures.append,
        )

    async def take(self, updates: Sequence[SessionUpdate]) -> None:
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        self.batches.append(len(updates))
        self.got.extend(updates)


async def test_the_updates_of_a_session_keep_their_order_over_slow_batches() -> None:
    sink = Sink()
    sink.gate.clear()
    for number in range(2500):
        sink.lanes.put(_update("a", number), 10)
        if number == 10:
            await asyncio.sleep(0)
    sink.gate.set()
    await sink.lanes.mark("a")
    assert [int(update.kind) for update in sink.got] == list(range(2500))
    assert max(sink.batches) <= BATCH
    assert len(sink.batches) < 10


async def test_a_mark_waits_for_what_came_before_it_and_for_nothing_else() -> None:
    sink = Sink()
    assert sink.lanes.mark("unknown").done()
    sink.gate.clear()
    sink.lanes.put(_update("a", 1), 10)
    mark = sink.lanes.mark("a")
    await asyncio.sleep(0)
    assert not mark.done()
    assert sink.lanes.mark("b").done()
    sink.gate.set()
    await mark
    assert [update.kind for update in sink.got] == ["1"]


async def test_reading_stops_above_the_bound_and_goes_on_when_half_is_handled() -> None:
    sink = Sink(WireLimits(queue=1000, queue_updates=100_000))
    sink.gate.clear()
    for number in range(11):
        sink.lanes.put(_update("a", number), 100)
    assert sink.flow == ["pause"] and sink.lanes.is_paused
    sink.gate.set()
    await sink.lanes.mark("a")
    assert sink.flow == ["pause", "resume"] and not sink.lanes.is_paused


async def test_the_number_of_waiting_updates_is_bounded_too() -> None:
    sink = Sink(WireLimits(queue_updates=10))
    for number in range(11):
        sink.lanes.put(_update("a", number), 0)
    assert sink.flow == ["pause"]
    await sink.lanes.mark("a")
    assert sink.flow == ["pause", "resume"]


async def test_a_slow_session_does_not_hold_up_another() -> None:
    slow, got = asyncio.Event(), []

    async def deliver(updates: Sequence[SessionUpdate]) -> None:
        if updates[0].session_id == "slow":
            await slow.wait()
        got.append(updates[0].session_id)

    lanes = UpdateLanes(
        deliver, limits=WireLimits(), pause=lambda: None, resume=lambda: None, failed=lambda error: None
    )
    lanes.put(_update("slow", 1), 1)
    lanes.put(_update("quick", 1), 1)
    await lanes.mark("quick")
    assert got == ["quick"]
    slow.set()
    await lanes.drain(5)
    assert got == ["quick", "slow"]


async def test_a_store_that_fails_is_told_once_and_lets_go_whoever_waits() -> None:
    sink = Sink()
    sink.error = OSError("disk full")
    sink.lanes.put(_update("a", 1), 10)
    await sink.lanes.mark("a")
    await until(lambda: sink.failures)
    sink.lanes.put(_update("a", 2), 10)
    assert sink.lanes.mark("a").done()
    assert [str(failure) for failure in sink.failures] == ["disk full"]
    assert sink.got == []


async def test_draining_is_bounded_when_a_store_hangs() -> None:
    sink = Sink()
    sink.gate.clear()
    sink.lanes.put(_update("a", 1), 10)
    mark = sink.lanes.mark("a")
    await asyncio.sleep(0)
    await sink.lanes.drain(0.05)
    assert mark.done()
