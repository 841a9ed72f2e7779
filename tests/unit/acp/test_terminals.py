"""Terminals: output, exit, kill, release and ownership (fault group 6)."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from compozy.acp import terminals as module
from compozy.acp.contract import LaunchSpec, RequestRefused
from compozy.acp.processes import MARKER_NAME, read_process
from compozy.acp.streams import Tail
from compozy.acp.terminals import Terminals
from tests.kit.recording import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that hears SIGTERM gets the time for it, however busy the machine is."""
    monkeypatch.setattr(module, "TERM_GRACE", 30.0)


@pytest.fixture
async def terminals() -> AsyncIterator[Terminals]:
    made = Terminals("agent-marker")
    yield made
    await made.close()


def shell(folder: Path, script: str, **env: str) -> LaunchSpec:
    return LaunchSpec(
        argv=("sh", "-c", script), env={"PATH": os.environ["PATH"], **env}, cwd=str(folder), marker="own"
    )


def lives(pid: int) -> bool:
    entry = read_process(pid)
    return entry is not None and not entry.is_zombie


async def test_output_of_both_streams_and_the_exit_code(terminals: Terminals, tmp_path: Path) -> None:
    made = await terminals.create("s", shell(tmp_path, 'echo out; echo err >&2; echo "$A"; exit 3', A="é"), None)
    assert made == "term-1"
    assert await terminals.wait_for_exit("s", made) == {"exitCode": 3, "signal": None}
    assert terminals.output("s", made) == {
        "output": "out\nerr\né\n",
        "truncated": False,
        "exitStatus": {"exitCode": 3, "signal": None},
    }


async def test_a_running_terminal_has_output_and_no_exit_status(terminals: Terminals, tmp_path: Path) -> None:
    made = await terminals.create("s", shell(tmp_path, "echo ready; sleep 600"), None)
    await until(lambda: terminals.output("s", made)["output"] == "ready\n")
    assert "exitStatus" not in terminals.output("s", made)


async def test_the_output_limit_keeps_the_end_and_no_half_character(terminals: Terminals, tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 500 ]; do printf 'é'; i=$((i+1)); done; printf x"
    made = await terminals.create("s", shell(tmp_path, script), 100)
    await terminals.wait_for_exit("s", made)
    answer = terminals.output("s", made)
    assert (answer["output"], answer["truncated"]) == ("é" * 49 + "x", True)


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 7, 1000])
def test_a_tail_is_at_most_its_limit_and_a_suffix_of_what_was_written(limit: int) -> None:
    text = "aé🎈" * 3000
    tail = Tail(limit)
    data = text.encode()
    for start in range(0, len(data), 7):
        tail.add(data[start : start + 7])
    assert len(tail.text().encode()) <= limit
    assert text.endswith(tail.text())
    assert tail.is_truncated


def test_a_character_that_is_not_complete_yet_is_not_shown_as_garbage() -> None:
    tail = Tail(100)
    tail.add("aé".encode()[:2])
    assert tail.text() == "a"
    tail.add("é".encode()[1:])
    assert tail.text() == "aé"


@pytest.mark.usefixtures("patient")
async def test_killing_ends_the_wait_and_keeps_the_output(terminals: Terminals, tmp_path: Path) -> None:
    made = await terminals.create("s", shell(tmp_path, "echo said; exec sleep 600"), None)
    await until(lambda: terminals.output("s", made)["output"])
    waiting = asyncio.ensure_future(terminals.wait_for_exit("s", made))
    await terminals.kill("s", made)
    assert await waiting == {"exitCode": None, "signal": "SIGTERM"}
    assert terminals.output("s", made)["output"] == "said\n"
    await terminals.kill("s", made)


async def test_a_program_deaf_to_sigterm_is_killed(terminals: Terminals, tmp_path: Path) -> None:
    made = await terminals.create("s", shell(tmp_path, "trap '' TERM; echo deaf; while :; do sleep 1; done"), None)
    await until(lambda: terminals.output("s", made)["output"])
    await terminals.kill("s", made)
    assert (await terminals.wait_for_exit("s", made))["signal"] == "SIGKILL"


@pytest.mark.usefixtures("patient")
async def test_releasing_ends_program_and_wait_and_forgets_the_id(terminals: Terminals, tmp_path: Path) -> None:
    made = await terminals.create("s", shell(tmp_path, "exec sleep 600"), None)
    waiting = asyncio.ensure_future(terminals.wait_for_exit("s", made))
    await asyncio.sleep(0)
    await terminals.release("s", made)
    assert (await waiting)["signal"] == "SIGTERM"
    with pytest.raises(RequestRefused, match="no terminal 'term-1' in this session"):
        terminals.output("s", made)


async def test_a_background_grandchild_that_holds_the_pipe_delays_no_exit_and_leaves_with_the_release(
    terminals: Terminals, tmp_path: Path
) -> None:
    made = await terminals.create("s", shell(tmp_path, "sleep 600 & echo $!; exit 4"), None)
    assert await terminals.wait_for_exit("s", made) == {"exitCode": 4, "signal": None}
    pid = int(str(terminals.output("s", made)["output"]))
    assert lives(pid)
    await terminals.release("s", made)
    assert not lives(pid)


async def test_a_terminal_belongs_to_its_session(terminals: Terminals, tmp_path: Path) -> None:
    made = await terminals.create("s", shell(tmp_path, "exec sleep 600"), None)
    for call in (terminals.wait_for_exit, terminals.kill, terminals.release):
        with pytest.raises(RequestRefused) as caught:
            await call("other", made)
        assert caught.value.code == -32002
    with pytest.raises(RequestRefused):
        terminals.output("other", made)
    with pytest.raises(RequestRefused):
        terminals.output("s", "term-99")


async def test_ending_the_terminals_of_one_session_spares_the_others(terminals: Terminals, tmp_path: Path) -> None:
    mine = await terminals.create("s", shell(tmp_path, "exec sleep 600"), None)
    other = await terminals.create("o", shell(tmp_path, "exec sleep 600"), None)
    await terminals.kill_all("s")
    assert "exitStatus" in terminals.output("s", mine)
    assert "exitStatus" not in terminals.output("o", other)


async def test_every_terminal_carries_the_marker_of_its_agent(terminals: Terminals, tmp_path: Path) -> None:
    made = await terminals.create("s", shell(tmp_path, f'echo "${MARKER_NAME}"'), None)
    await terminals.wait_for_exit("s", made)
    assert terminals.output("s", made)["output"] == "agent-marker\n"


async def test_a_program_that_does_not_exist_is_refused_in_a_sentence(terminals: Terminals, tmp_path: Path) -> None:
    with pytest.raises(RequestRefused, match="the program 'no-such' was not found"):
        await terminals.create("s", LaunchSpec(argv=("no-such",), env={}, cwd=str(tmp_path), marker=""), None)
    with pytest.raises(RequestRefused, match="does not exist"):
        await terminals.create("s", shell(tmp_path / "gone", "true"), None)


async def test_the_number_of_terminals_is_bounded_and_ended_ones_make_room(
    terminals: Terminals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_TERMINALS", 2)
    first = await terminals.create("s", shell(tmp_path, "true"), None)
    await terminals.wait_for_exit("s", first)
    for _ in range(2):
        await terminals.create("s", shell(tmp_path, "exec sleep 600"), None)
    with pytest.raises(RequestRefused):
        terminals.output("s", first)
    with pytest.raises(RequestRefused, match="2 terminals are running"):
        await terminals.create("s", shell(tmp_path, "true"), None)


async def test_no_terminal_can_be_made_after_the_end(tmp_path: Path) -> None:
    terminals = Terminals("m")
    await terminals.close()
    with pytest.raises(RequestRefused, match="being stopped"):
        await terminals.create("s", shell(tmp_path, "exec sleep 600"), None)
