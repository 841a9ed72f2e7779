"""Agents that die, never start or only half leave: whoever waits learns it, nothing survives (groups 1, 5, 16)."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from compozy.acp.client import launch
from compozy.acp.contract import (
    AgentDied,
    AgentError,
    AgentProtocolError,
    AgentStartError,
    AgentTimeout,
    LaunchSpec,
    StopBounds,
)
from compozy.acp.processes import end_recorded, find_members, read_process
from tests.kit.agents import received
from tests.kit.recording import BOUND, Recording, open_session, running, text_block, until

pytestmark = pytest.mark.anyio


def lives(pid: int) -> bool:
    entry = read_process(pid)
    return entry is not None and not entry.is_zombie


async def _wait_pid(path: Path) -> int:
    await until(path.exists, f"{path.name}")
    return int(path.read_text())


def _spec(folder: Path, *argv: str, cwd: str = "") -> LaunchSpec:
    return LaunchSpec(argv=argv, env={"PATH": os.environ["PATH"]}, cwd=cwd or str(folder), marker="m-start")


async def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(AgentStartError, match=r"the program 'no-such-agent' was not found: install it"):
        await launch(_spec(tmp_path, "no-such-agent"), Recording(tmp_path))


async def test_a_missing_working_folder_is_named_and_not_taken_for_a_missing_program(tmp_path: Path) -> None:
    with pytest.raises(AgentStartError, match=r"working folder '.*/gone' does not exist"):
        await launch(_spec(tmp_path, sys.executable, cwd=str(tmp_path / "gone")), Recording(tmp_path))


async def test_a_file_that_cannot_be_executed_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text")
    with pytest.raises(AgentStartError, match="may not be executed"):
        await launch(_spec(tmp_path, str(tmp_path / "plain")), Recording(tmp_path))


async def test_a_program_that_prints_and_exits_0_is_reported_with_what_it_printed(tmp_path: Path) -> None:
    script = {"start": [{"line": "this package has moved"}, {"exit": 0}]}
    async with running(tmp_path, script) as (client, seen):
        with pytest.raises(AgentDied, match="exited with code 0; it had printed 'this package has moved'") as caught:
            await client.initialize(client_version="0", timeout=BOUND)
        assert caught.value.exit_code == 0
        await until(lambda: seen.exits)
    assert seen.exits == [(0, "")]
    assert seen.diagnostics == [("stdout_noise", "this package has moved")]


async def test_a_crash_in_initialize_carries_the_end_of_stderr(tmp_path: Path) -> None:
    script = {"on": {"initialize": [{"stderr": "SyntaxError: wrong Node\n"}, {"exit": 1}]}}
    async with running(tmp_path, script) as (client, _):
        with pytest.raises(AgentDied) as caught:
            await client.initialize(client_version="0", timeout=BOUND)
    assert (caught.value.exit_code, caught.value.stderr_tail) == (1, "SyntaxError: wrong Node\n")


async def test_an_initialize_that_is_never_answered_ends_at_its_bound_and_is_withdrawn(tmp_path: Path) -> None:
    record = tmp_path / "record"
    script = {"record": str(record), "on": {"initialize": [{"never": True}]}}
    async with running(tmp_path, script) as (client, _):
        with pytest.raises(AgentTimeout, match=r"initialize: no answer within 0\.05 s"):
            await client.initialize(client_version="0", timeout=0.05)
        await until(lambda: len(received(record)) == 2)
        assert received(record)[1] == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}


async def test_version_2_and_an_error_are_two_clear_failures(tmp_path: Path) -> None:
    async with running(tmp_path, {"protocol_version": 2}) as (client, _):
        with pytest.raises(AgentProtocolError, match="answered ACP version 2, compozy speaks 1"):
            await client.initialize(client_version="0", timeout=BOUND)
    script = {"on": {"initialize": [{"error": {"code": -32602, "message": "unsupported"}}]}}
    async with running(tmp_path, script) as (client, _):
        with pytest.raises(AgentError, match=r"initialize: unsupported \(-32602\)"):
            await client.initialize(client_version="0", timeout=BOUND)


async def test_a_session_that_needs_a_sign_in_says_so_with_its_code(tmp_path: Path) -> None:
    script = {"on": {"session/new": [{"error": {"code": -32000, "message": "Authentication required"}}]}}
    async with running(tmp_path, script) as (client, _):
        with pytest.raises(AgentError) as caught:
            await open_session(client, tmp_path)
    assert (caught.value.method, caught.value.code) == ("session/new", -32000)


async def test_every_pending_call_fails_when_the_agent_is_killed(tmp_path: Path) -> None:
    script = {"prompts": [[{"text": "here"}, {"wait_file": str(tmp_path / "never")}]]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        second = (
            await client.new_session(cwd=str(tmp_path), mcp_servers=[], additional_dirs=[], timeout=BOUND)
        ).session_id
        turns = [asyncio.ensure_future(client.prompt(s, text_block("x"), meta={})) for s in (session, second)]
        await until(lambda: len(seen.updates) == 2)
        os.kill(client.process.pid, signal.SIGKILL)
        for turn in turns:
            with pytest.raises(AgentDied, match="ended by signal 9") as caught:
                await turn
            assert caught.value.exit_code == -9
        await until(lambda: seen.exits)
        assert not client.is_alive
        with pytest.raises(AgentDied):
            await client.set_mode(session, "x", timeout=BOUND)
    assert seen.exits == [(-9, "")]


async def test_what_was_said_before_the_death_is_delivered_before_the_failure(tmp_path: Path) -> None:
    script = {"prompts": [[{"flood": 3000, "text": "n"}, {"exit": 1}]]}
    async with running(tmp_path, script) as (client, seen):

        async def slowly() -> None:
            await asyncio.sleep(0.02)

        seen.before_updates = slowly
        session = await open_session(client, tmp_path)
        with pytest.raises(AgentDied):
            await client.prompt(session, text_block("x"), meta={})
        assert len(seen.updates) == 3000
        await until(lambda: seen.exits)
        assert seen.log[-1] == ("exit", 1)


async def test_an_output_that_closes_while_the_process_lives_is_a_death(tmp_path: Path) -> None:
    script = {"prompts": [[{"close_stdout": True}, {"wait_file": str(tmp_path / "never")}]]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        with pytest.raises(AgentDied, match="closed its output"):
            await client.prompt(session, text_block("x"), meta={})
        await until(lambda: seen.exits)
        assert not lives(client.process.pid)


async def test_a_killed_launcher_whose_child_holds_the_output_ends_the_session_and_the_child(tmp_path: Path) -> None:
    script = {"wrap": True, "prompts": [[{"text": "{pid}"}, {"wait_file": str(tmp_path / "never")}]]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = asyncio.ensure_future(client.prompt(session, text_block("x"), meta={}))
        await until(lambda: seen.updates)
        real = int(seen.text())
        assert real != client.process.pid and lives(real)
        os.kill(client.process.pid, signal.SIGKILL)
        with pytest.raises(AgentDied, match="ended by signal 9"):
            await turn
        await until(lambda: seen.exits)
        assert not lives(real)


async def test_an_agent_that_leaves_by_itself_while_idle_is_told_once(tmp_path: Path) -> None:
    script = {"late": [{"exit": 0}]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
        await until(lambda: seen.exits)
    assert seen.exits == [(0, "")]


async def test_closing_inside_on_exit_does_not_wait_for_itself(tmp_path: Path) -> None:
    closed = asyncio.Event()

    class Closing(Recording):
        async def on_exit(self, exit_code: int | None, stderr_tail: str) -> None:
            await client.close()
            closed.set()

    async with running(tmp_path, {"late": [{"exit": 0}]}, requests=Closing(tmp_path)) as (client, _):
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
        async with asyncio.timeout(BOUND):
            await closed.wait()


@pytest.mark.parametrize("deaf", [["eof"], ["eof", "term"]])
async def test_an_agent_deaf_to_its_closed_input_or_to_sigterm_does_not_survive(
    tmp_path: Path, deaf: list[str]
) -> None:
    # One that hears SIGTERM gets the time for it, however busy the machine is.
    bounds = StopBounds(cancel=0.1, eof=0.1, term=0.1 if "term" in deaf else BOUND)
    async with running(tmp_path, {"deaf": deaf}, bounds=bounds) as (client, seen):
        await open_session(client, tmp_path)
        pid = client.process.pid
        assert lives(pid)
        await client.close()
        assert read_process(pid) is None, "it is reaped too"
        assert [kind for kind, _ in seen.diagnostics] == (["process"] if "term" in deaf else [])
    assert seen.exits == [], "an end we asked for is not reported as a death"


@pytest.mark.parametrize("ending", ["close", "crash"])
async def test_a_descendant_in_its_own_session_without_the_environment_does_not_survive(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / "pid"
    spawn = {"spawn": "sleep", "new_session": True, "ignore_term": True, "pid_file": str(path)}
    # Without the environment it is found by ancestry, after a crash of its parent only by the marker.
    spawn["clean_env"] = ending == "close"
    after = [{"exit": 1}] if ending == "crash" else []
    async with running(tmp_path, {"prompts": [[spawn, *after]]}) as (client, seen):
        session = await open_session(client, tmp_path)
        turn = asyncio.ensure_future(client.prompt(session, text_block("x"), meta={}))
        child = await _wait_pid(path)
        if ending == "crash":
            with pytest.raises(AgentDied):
                await turn
            await until(lambda: seen.exits)
        else:
            await turn
            assert lives(child)
            await client.close()
        assert not lives(child)
        assert find_members(client.process) == []


async def test_a_background_process_beside_an_exec_leaves_with_the_group(tmp_path: Path) -> None:
    """P47: `sh -c 'sleep 600 & exec agent'`, as npx-like launchers do."""
    from tests.kit.agents import fake_agent_command

    argv = ("sh", "-c", f"sleep 600 & echo $! > {tmp_path}/pid; exec {fake_agent_command(tmp_path)}")
    async with running(tmp_path, argv=argv) as (client, _):
        await open_session(client, tmp_path)
        sleeper = int((tmp_path / "pid").read_text())
        assert lives(sleeper)
        await client.close()
        assert not lives(sleeper)


async def test_what_a_killed_daemon_leaves_behind_is_found_by_its_record(tmp_path: Path) -> None:
    """P48: the record is all the next daemon has; agent, terminal and their descendants go."""
    path = tmp_path / "pid"
    script = {"deaf": ["eof", "term"], "prompts": [[{"spawn": "sleep", "new_session": True, "pid_file": str(path)}]]}
    async with running(tmp_path, script) as (client, seen):
        session = await open_session(client, tmp_path)
        await client.prompt(session, text_block("x"), meta={})
        child, record = int(path.read_text()), client.process
        assert await end_recorded(record, term_grace=0.1)
        await until(lambda: seen.exits)
        assert not lives(child) and not lives(record.pid)


async def test_closing_twice_and_at_once_is_one_end(tmp_path: Path) -> None:
    async with running(tmp_path) as (client, seen):
        await open_session(client, tmp_path)
        await asyncio.gather(client.close(), client.close())
        await client.close()
    assert seen.exits == []


async def test_closing_right_after_the_start_leaves_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as (client, _):
        await client.close()
        assert read_process(client.process.pid) is None


async def test_without_free_descriptors_the_group_is_ended_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compozy.acp import child as module

    def fail(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")

    async with running(tmp_path, {"deaf": ["eof", "term"]}, bounds=StopBounds(eof=0.1)) as (client, _):
        await open_session(client, tmp_path)
        monkeypatch.setattr(module, "end_members_blocking", fail)
        await client.close()
        assert read_process(client.process.pid) is None


def test_a_launch_never_shows_its_environment() -> None:
    spec = LaunchSpec(argv=("a",), env={"KEY": "sk-secret"}, cwd="/", marker="m")
    assert "sk-secret" not in repr(spec) and "sk-secret" not in str(spec)
