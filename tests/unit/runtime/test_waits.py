"""Waits in memory: how many there may be, what is kept of one that ran out, and how they all end."""

import asyncio

import msgspec
import pytest

from compozy.model.errors import Conflict, Gone
from compozy.runtime.sessions.waits import DEFAULT_UNTIL, MOST_WAITS, Waits, is_reached
from compozy.store.interface import QueuedPrompt
from tests.kit.store_records import make_session

pytestmark = pytest.mark.anyio
RUNNING = make_session("sess-1", badge="running")
QUEUED = QueuedPrompt(id="q", text="t", turn_id="t", message_id="m", idempotency_key="k", enqueued_at="")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_done_counts_as_idle_and_a_session_with_waiting_prompts_does_not() -> None:
    done = make_session("sess-1", badge="done")
    assert is_reached(done, ("idle",)) and is_reached(done, ("done",)) and not is_reached(done, ("failed",))
    assert not is_reached(msgspec.structs.replace(done, queue=(QUEUED,)), DEFAULT_UNTIL)


async def _begin(waits: Waits, count: int) -> "list[asyncio.Task[object]]":
    tasks = [asyncio.create_task(waits.wait(RUNNING, 60_000, ("idle",))) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


async def test_one_wait_too_many_is_refused_and_all_end_together() -> None:
    waits = Waits()
    tasks = await _begin(waits, MOST_WAITS)
    with pytest.raises(Conflict):
        await waits.wait(RUNNING, 60_000, ("idle",))
    waits.changed(make_session("sess-1", badge="idle"))
    answers = await asyncio.gather(*tasks)
    assert {answer[0].outcome for answer in answers} == {"state-reached"}
    answer, _ = await waits.wait(RUNNING, 1, ("idle",))
    assert answer.outcome == "timeout"


async def test_a_deleted_session_and_a_daemon_that_stops_end_the_waits() -> None:
    waits = Waits()
    (gone,) = await _begin(waits, 1)
    waits.gone("sess-1")
    answer, is_gone = await gone
    assert is_gone and answer.outcome == "session-gone"
    (closed,) = await _begin(waits, 1)
    waits.close()
    answer, _ = await closed
    assert answer.outcome == "canceled"
    late, _ = await waits.wait(RUNNING, 60_000, ("idle",))
    assert late.outcome == "canceled"


async def test_waits_that_ran_out_make_room_for_new_ones() -> None:
    waits = Waits()
    first, _ = await waits.wait(RUNNING, 1, ("idle",))
    for _ in range(MOST_WAITS):
        await waits.wait(RUNNING, 1, ("idle",))
    with pytest.raises(Gone):
        await waits.wait(RUNNING, 1, DEFAULT_UNTIL, first.resume_id)


async def test_a_wait_cannot_be_resumed_for_other_badges() -> None:
    waits = Waits()
    first, _ = await waits.wait(RUNNING, 1, ("idle",))
    with pytest.raises(Conflict):
        await waits.wait(RUNNING, 1, ("failed",), first.resume_id)
    again, _ = await waits.wait(RUNNING, 1, ("idle",), first.resume_id)
    assert again.resume_id == first.resume_id
