"""The main path of the ACP client against the scripted agent."""

from pathlib import Path

import pytest

from tests.kit.recording import BOUND, open_session, running, text_block, until

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """The daemon runs on uvloop, the other tests on asyncio: the main path on both."""
    return "asyncio", {"use_uvloop": request.param}


async def test_a_turn_delivers_its_updates_in_order_before_it_returns(tmp_path: Path) -> None:
    steps = [{"plan": ["look"]}, {"tool_call": {"kind": "read"}}, {"tool_update": {}}, {"text": "a"}, {"text": "b"}]
    async with running(tmp_path, {"prompts": [steps]}) as (client, seen):
        session = await open_session(client, tmp_path)
        outcome = await client.prompt(session, text_block("go"), meta={})
        assert outcome.stop_reason == "end_turn"
        assert [u.kind for u in seen.updates] == [
            "plan",
            "tool_call",
            "tool_call_update",
            "agent_message_chunk",
            "agent_message_chunk",
        ]
        assert seen.text() == "ab"
    assert seen.exits == []
    assert not client.is_alive


async def test_files_permissions_and_terminals_are_asked_of_the_client(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("one\ntwo\nthree\n")
    steps = [
        {"read": "in.txt", "line": 2, "limit": 1},
        {"text": "{last}"},
        {"permission": {"title": "write", "kind": "edit"}, "then": [{"write": "out.txt", "content": "done"}]},
        {"terminal": ["sh", "-c", "echo out; echo err >&2; exit 3"]},
        {"text": "{last}"},
        {"read": "missing"},
        {"text": "{last}"},
    ]
    async with running(tmp_path, {"prompts": [steps]}) as (client, seen):
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("go"), meta={})
    assert seen.text() == "two\nout\nerr\nerror -32002: no such file: 'missing'"
    assert (tmp_path / "out.txt").read_text() == "done"


async def test_the_agent_dying_in_a_turn_fails_the_prompt_with_code_and_stderr(tmp_path: Path) -> None:
    from compozy.acp.contract import AgentDied

    steps = [{"text": "last words"}, {"stderr": "boom\n"}, {"exit": 7}]
    async with running(tmp_path, {"prompts": [steps]}) as (client, seen):
        session = await open_session(client, tmp_path)
        with pytest.raises(AgentDied) as caught:
            await client.prompt(session, text_block("go"), meta={})
        assert (caught.value.exit_code, caught.value.stderr_tail) == (7, "boom\n")
        assert seen.text() == "last words"
        await until(lambda: seen.exits)
    assert seen.exits == [(7, "boom\n")]


async def test_initialize_says_what_the_agent_can(tmp_path: Path) -> None:
    async with running(tmp_path) as (client, _):
        info = await client.initialize(client_version="0", timeout=BOUND)
    assert (info.name, info.load_session, info.prompt_image, info.close_session) == ("fake-agent", True, True, False)
