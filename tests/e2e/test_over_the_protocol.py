"""Each real agent over bare ACP, driven by the SDK's client.

A recipe must work here before our daemon is blamed.
"""

import asyncio

import pytest

from tests.e2e.conftest import Prepared, turn_script
from tests.kit.leftovers import left_after
from tests.kit.sdk_client import SdkClient, connect, reject

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

# The slowest agent needs nine seconds on an idle machine.
START, TURN = 120.0, 120.0


async def test_a_turn_streams_text_asks_and_has_its_effect(prepared: Prepared) -> None:
    client, agent = SdkClient(prepared.workspace), prepared.agent
    async with connect(prepared.argv, client, env=prepared.env, bound=START) as session:
        if agent.mode:
            await session.set_mode(agent.mode)
        outcome = await session.prompt(turn_script(prepared), TURN)
    assert outcome.stop_reason == "end_turn"
    assert {call.kind for call in client.asked} == agent.asks
    assert all(client.last_status(call.tool_call_id) == "completed" for call in client.tool_calls)
    if agent.has_model:
        assert "All is done here" in client.text
        assert (prepared.workspace / "out.txt").read_text() == "written by the model"
        assert (prepared.workspace / "made.txt").exists()
    else:
        assert "The changes have been applied" in client.text
    assert ("out.txt" in client.written) == agent.writes_through_client
    assert bool(client.read_paths) == agent.reads_through_client
    assert bool(client.commands) == agent.uses_terminal
    assert left_after(prepared.marker) == []


async def test_a_denied_permission_has_no_effect(prepared: Prepared) -> None:
    client, agent = SdkClient(prepared.workspace, permit=reject), prepared.agent
    async with connect(prepared.argv, client, env=prepared.env, bound=START) as session:
        if agent.mode:
            await session.set_mode(agent.mode)
        outcome = await session.prompt(f"[[sh touch {prepared.workspace}/made.txt]] [[say Then not]]", TURN)
    assert outcome.stop_reason in ("end_turn", "refusal", "cancelled")
    assert client.asked and not (prepared.workspace / "made.txt").exists()
    if not agent.has_model:
        assert "The changes have been applied" not in client.text
    assert left_after(prepared.marker) == []


async def test_a_cancel_ends_a_streaming_turn(prepared: Prepared) -> None:
    client = SdkClient(prepared.workspace)
    async with connect(prepared.argv, client, env=prepared.env, bound=START) as session:
        running = asyncio.create_task(session.prompt("[[slow 2000 50]]", TURN))
        async with asyncio.timeout(TURN):
            while not client.text:
                await asyncio.sleep(0.02)
        await session.cancel()
        assert (await running).stop_reason == "cancelled"
    assert left_after(prepared.marker) == []
