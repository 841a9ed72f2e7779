"""Floods, slow stores and agents that do not read (fault group 9)."""

import asyncio
import resource
from pathlib import Path

import pytest

from compozy.acp.contract import AgentDied, AgentTimeout, WireLimits
from tests.kit.recording import BOUND, chunk_texts, open_session, running, text_block, until

pytestmark = pytest.mark.anyio


async def test_a_flood_arrives_complete_and_in_order(tmp_path: Path) -> None:
    async with running(tmp_path, {"prompts": [[{"flood": 50_000}]]}) as (client, seen):
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
        assert chunk_texts(seen.updates) == [str(n) for n in range(50_000)]


async def test_a_store_that_stands_still_stops_the_agent_and_memory_stays_bounded(tmp_path: Path) -> None:
    limits = WireLimits(queue=200_000, queue_updates=500)
    script = {"prompts": [[{"flood": 100_000, "text": "x" * 1000}]]}
    async with running(tmp_path, script, limits=limits) as (client, seen):
        gate = asyncio.Event()

        async def wait() -> None:
            await gate.wait()

        seen.before_updates = wait
        session = await open_session(client, tmp_path)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        turn = asyncio.ensure_future(client.prompt(session, text_block("x"), meta={}))
        await until(lambda: client._lanes.is_paused)
        read = client._child.bytes_read
        # Nothing is read while the store stands still: give the loop every chance to do it wrong.
        for _ in range(50):
            await asyncio.sleep(0)
        await asyncio.sleep(0.1)
        assert client._child.bytes_read == read
        # The bound, one read of the pipe beyond it, and no 100 MB.
        assert read < 200_000 + 600_000
        assert client.is_alive
        gate.set()
        assert (await turn).stop_reason == "end_turn"
        assert len(seen.updates) == 100_000
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        # What the test itself keeps is about 130 MB; a queue without bound would double it.
        assert grown < 400_000


async def test_a_cancel_gets_through_while_updates_wait(tmp_path: Path) -> None:
    limits = WireLimits(queue_updates=10)
    script = {"prompts": [[{"flood": 10_000_000, "text": "x" * 100}]]}
    async with running(tmp_path, script, limits=limits) as (client, seen):
        gate = asyncio.Event()

        async def wait() -> None:
            await gate.wait()

        seen.before_updates = wait
        session = await open_session(client, tmp_path)
        turn = asyncio.ensure_future(client.prompt(session, text_block("x"), meta={}))
        await until(lambda: client._lanes.is_paused)
        await client.cancel(session)
        gate.set()
        assert (await turn).stop_reason == "cancelled"


async def test_an_agent_that_does_not_read_blocks_nobody_and_its_requests_end(tmp_path: Path) -> None:
    script = {"on": {"session/set_mode": [{"stop_reading": True}]}}
    limits = WireLimits(write_stall=0.1)
    async with running(tmp_path, script, limits=limits) as (client, _):
        session = await open_session(client, tmp_path)
        await client.set_mode(session, "x", timeout=BOUND)
        blocks = text_block("x" * 5_000_000)
        with pytest.raises(AgentTimeout, match=r"session/prompt: no answer within 0\.1 s"):
            await client.prompt(session, blocks, meta={})
        assert client.is_alive


async def test_an_agent_that_never_reads_is_ended_when_too_much_waits_for_it(tmp_path: Path) -> None:
    limits = WireLimits(unread=1_000_000)
    async with running(tmp_path, {"stop_reading": True}, limits=limits) as (client, seen):
        turns = [asyncio.ensure_future(client.prompt(f"s{n}", text_block("x" * 900_000), meta={})) for n in range(4)]
        for turn in turns:
            with pytest.raises(AgentDied, match="left more than 1000000 bytes of its input unread"):
                await turn
        await until(lambda: seen.exits)


async def test_an_agent_that_closes_its_input_is_ended_when_it_is_spoken_to(tmp_path: Path) -> None:
    script = {"prompts": [[{"close_stdin": True}]]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
        with pytest.raises(AgentDied, match="closed its input"):
            await client.prompt(session, text_block("y"), meta={})
        await until(lambda: seen.exits)


async def test_a_flood_of_requests_is_refused_beyond_a_bound_and_none_is_forgotten(tmp_path: Path) -> None:
    from tests.kit.agents import received

    record, done = tmp_path / "record", tmp_path / "done"
    params = {"sessionId": "fake-1", "toolCall": {"toolCallId": "t"}, "options": []}
    asks = {"repeat": 300, "steps": [{"request": "session/request_permission", "params": params, "async": True}]}
    script = {"record": str(record), "prompts": [[asks, {"wait_file": str(done)}]]}
    async with running(tmp_path, script) as (client, seen):
        gate = asyncio.Event()

        async def choose(_: object) -> None:
            await gate.wait()

        seen.choose = choose
        session = await open_session(client, tmp_path)
        turn = asyncio.ensure_future(client.prompt(session, text_block("x"), meta={}))
        await until(lambda: len([m for m in received(record) if "error" in m]) == 300 - 256)
        gate.set()
        await until(lambda: len([m for m in received(record) if "result" in m]) == 256)
        done.touch()
        await turn
