"""What ends a process waits for it also in a task that is being cancelled."""

import asyncio

import pytest

from compozy.acp.waiting import wait_any


@pytest.mark.anyio
async def test_a_cancelled_task_can_wait_for_an_event_and_go_on() -> None:
    # With asyncio.timeout this fails under Python 3.11.2, where its end is a second cancellation.
    steps: list[object] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            steps.append(await wait_any((asyncio.Event(),), 0.01))
            steps.append("ended")

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == [False, "ended"]


@pytest.mark.anyio
async def test_the_first_of_several_events_ends_the_wait() -> None:
    first, second = asyncio.Event(), asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, second.set)
    assert await wait_any((first, second), 30)
    assert await wait_any((first, second), 0)
