"""One suite over agents that share no code: the scripted one, one on the official SDK, and the embedded one."""

import sys
from pathlib import Path

import pytest

from tests.kit.agents import fake_agent
from tests.kit.recording import BOUND, chunk_texts, open_session, running, text_block, until

pytestmark = pytest.mark.anyio
SDK_AGENT = Path(__file__).parents[2] / "kit" / "sdk_agent.py"


def agent_argv(name: str, folder: Path) -> tuple[str, ...]:
    if name == "scripted":
        return fake_agent(folder)
    if name == "sdk":
        return (sys.executable, str(SDK_AGENT))
    return (sys.executable, "-m", "compozy_offline_agent")


@pytest.fixture(params=["scripted", "sdk", "offline"])
def argv(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ...]:
    return agent_argv(request.param, tmp_path)


async def test_a_task_is_done_in_order_and_ends(argv: tuple[str, ...], tmp_path: Path) -> None:
    async with running(tmp_path, argv=argv) as (client, seen):
        info = await client.initialize(client_version="0", timeout=BOUND)
        assert info.protocol_version == 1
        options = await client.new_session(cwd=str(tmp_path), mcp_servers=[], additional_dirs=[], timeout=BOUND)
        outcome = await client.prompt(options.session_id, text_block("find the needle"), meta={})
        assert outcome.stop_reason == "end_turn"
        assert seen.text()
        assert {update.session_id for update in seen.updates} == {options.session_id}
    assert seen.diagnostics == []


async def test_two_sessions_of_one_process_are_kept_apart(argv: tuple[str, ...], tmp_path: Path) -> None:
    async with running(tmp_path, argv=argv) as (client, seen):
        first = await open_session(client, tmp_path)
        options = await client.new_session(cwd=str(tmp_path), mcp_servers=[], additional_dirs=[], timeout=BOUND)
        assert options.session_id != first
        for session in (first, options.session_id):
            await client.prompt(session, text_block("find the needle"), meta={})
            assert any(update.session_id == session for update in seen.updates)


async def test_it_leaves_when_its_input_closes_without_any_signal(argv: tuple[str, ...], tmp_path: Path) -> None:
    from compozy.acp.contract import StopBounds

    async with running(tmp_path, argv=argv, bounds=StopBounds(eof=BOUND)) as (client, _):
        await open_session(client, tmp_path)
        await client.close()
        assert client._child.exit_code == 0


async def test_the_sdk_accepts_every_request_and_answer_of_ours(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("inside")
    async with running(tmp_path, argv=agent_argv("sdk", tmp_path)) as (client, seen):
        await client.initialize(client_version="0", timeout=BOUND)
        options = await client.new_session(
            cwd=str(tmp_path), mcp_servers=[], additional_dirs=["/extra"], timeout=BOUND
        )
        session = options.session_id
        for text in ("read in.txt", "write out.txt hello", "ask", "sh echo hi; exit 3", "dirs"):
            assert (
                await client.prompt(session, text_block(text), meta={"turn_source": "user"})
            ).stop_reason == "end_turn"
        assert chunk_texts(seen.updates) == ["inside", "written", "yes", "3:hi\n", "/extra"]
        assert (tmp_path / "out.txt").read_text() == "hello"
        assert options.config_options[0].current == "false"
        changed = await client.set_config_option(session, "fast", True, timeout=BOUND)
        assert changed.config_options[0].current == "true"
        await client.set_mode(session, "code", timeout=BOUND)
        await client.close_session(session, timeout=BOUND)
    assert seen.diagnostics == []


async def test_the_sdk_replays_a_loaded_session_and_resumes_without_replay(tmp_path: Path) -> None:
    async with running(tmp_path, argv=agent_argv("sdk", tmp_path)) as (client, seen):
        await client.initialize(client_version="0", timeout=BOUND)
        where = {"cwd": str(tmp_path), "mcp_servers": [], "additional_dirs": []}
        assert (await client.load_session("old-1", **where, timeout=BOUND)).session_id == "old-1"
        assert [update.replay for update in seen.updates] == [True]
        assert (await client.resume_session("old-2", **where, timeout=BOUND)).session_id == "old-2"
        await client.prompt("old-2", text_block("hello"), meta={})
        assert [update.replay for update in seen.updates] == [True, False]


async def test_the_sdk_is_cancelled_while_it_waits(tmp_path: Path) -> None:
    import asyncio

    async with running(tmp_path, argv=agent_argv("sdk", tmp_path)) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = asyncio.ensure_future(client.prompt(session, text_block("wait"), meta={}))
        await until(lambda: seen.updates)
        await client.cancel(session)
        assert (await turn).stop_reason == "cancelled"
