"""Identity and membership: nothing of a launch survives, and nothing else is ever touched."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from compozy.acp import processes
from compozy.acp.contract import ProcessIdentity
from compozy.acp.processes import (
    MARKER_NAME,
    AdoptedReaper,
    end_members_blocking,
    end_recorded,
    find_members,
    identify,
    is_same_process,
    read_process,
)
from compozy.config import process_identity
from compozy.config.process_identity import parse_stat

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="membership by marker needs /proc")
BOUND = 30.0


@contextmanager
def leader(
    code: str, marker: str = "", *, reap: bool = True
) -> Iterator[tuple[subprocess.Popen[bytes], ProcessIdentity]]:
    """Start a Python program that leads its own group and says `ready` on a line of its own."""
    program = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", textwrap.dedent(code)],
        env={"PATH": os.environ["PATH"], MARKER_NAME: marker},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert program.stdout is not None
    try:
        assert program.stdout.readline().strip() == b"ready"
        yield program, identify(program.pid, marker)
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


SLEEP = "import time; print('ready', flush=True); time.sleep(600)"
# Starts a child in a session of its own and writes its pid into a file.
ESCAPED = """
import subprocess, sys, time
child = subprocess.Popen(["sleep", "600"], start_new_session=True, env={env}, stdout=subprocess.DEVNULL)
open({path!r}, "w").write(str(child.pid))
print("ready", flush=True)
{then}
"""


def gone(pid: int) -> bool:
    entry = read_process(pid)
    return entry is None or entry.is_zombie


def wait_gone(pid: int) -> None:
    deadline = time.monotonic() + BOUND
    while not gone(pid):
        assert time.monotonic() < deadline, f"{pid} still lives"
        time.sleep(0.01)


def test_a_name_with_brackets_and_spaces_does_not_confuse_the_reader() -> None:
    stat = b"7 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20"
    entry = parse_stat(7, stat, "boot")
    assert (entry.state, entry.parent, entry.group, entry.session, entry.start_time) == ("S", 1, 2, 3, "boot:4242")
    assert entry.name == "a) b) (c" and entry.memory == 0


def test_a_process_is_the_same_only_with_its_start_time() -> None:
    with leader(SLEEP) as (program, identity):
        assert is_same_process(identity)
        assert not is_same_process(replace(identity, start_time="1@other"))
        assert not is_same_process(replace(identity, start_time=""))
        program.kill()
        wait_gone(program.pid)
        assert not is_same_process(identity), "a zombie does not live"


@pytest.mark.anyio
async def test_a_recorded_process_of_an_earlier_life_is_ended() -> None:
    with leader(SLEEP, "m-recorded") as (program, identity):
        assert await end_recorded(identity)
        assert program.wait(BOUND) == -signal.SIGTERM
    assert not await end_recorded(identity)


@pytest.mark.anyio
async def test_another_process_with_the_recorded_pid_is_never_signalled() -> None:
    with leader(SLEEP, "m-other") as (program, identity):
        recorded = replace(identity, start_time="1@other", marker="m-earlier")
        assert not await end_recorded(recorded)
        assert program.poll() is None


def test_a_descendant_in_another_session_is_found_by_its_ancestry_without_any_marker(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    code = ESCAPED.format(env="{'PATH': '/usr/bin:/bin'}", path=str(path), then="time.sleep(600)")
    with leader(code, "m-ancestry") as (program, identity):
        child = int(path.read_text())
        assert {entry.pid for entry in find_members(identity)} == {program.pid, child}
        end_members_blocking(identity, term_grace=BOUND)
        wait_gone(child)


@pytest.mark.anyio
async def test_an_orphan_in_another_session_is_found_by_its_marker(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    with leader(ESCAPED.format(env="None", path=str(path), then=""), "m-orphan") as (program, identity):
        program.wait(BOUND)
        child = int(path.read_text())
        assert not gone(child)
        assert await end_recorded(identity)
        wait_gone(child)


def test_terminals_are_ended_without_the_marker_they_share_with_the_agent(tmp_path: Path) -> None:
    with leader(SLEEP, "m-shared") as (agent, _), leader(SLEEP, "m-shared") as (terminal, identity):
        end_members_blocking(identity, term_grace=BOUND, use_marker=False)
        assert terminal.wait(BOUND) == -signal.SIGTERM
        assert agent.poll() is None


def test_what_ignores_sigterm_is_killed_and_named() -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
    with leader(code, "m-deaf") as (program, identity):
        ended = end_members_blocking(identity, term_grace=0.1)
        assert program.wait(BOUND) == -signal.SIGKILL
        assert (ended.met, ended.killed) == ((program.pid,), (program.pid,))


def test_a_program_that_forks_while_it_is_ended_is_ended_too() -> None:
    code = """
    import os, signal, time
    def fork_again(*_):
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
    signal.signal(signal.SIGTERM, fork_again)
    print("ready", flush=True)
    while True: time.sleep(600)
    """
    with leader(code, "m-fork") as (_, identity):
        end_members_blocking(identity, term_grace=0.2)
        assert find_members(identity) == []


def test_a_subreaper_inherits_orphans_and_collects_them_once_nobody_else_does() -> None:
    code = """
    import subprocess, sys, time
    from compozy.acp.processes import AdoptedReaper, become_subreaper, process_table, read_process
    import os
    assert become_subreaper()
    orphan = "import subprocess, sys; p = subprocess.Popen(['sleep', '0.05']); print(p.pid, flush=True)"
    out = subprocess.run([sys.executable, "-I", "-S", "-c", orphan], stdout=subprocess.PIPE).stdout
    pid = int(out)
    own = subprocess.Popen(["true"])
    deadline = time.monotonic() + 30
    def is_zombie(p):
        e = read_process(p)
        return e is not None and e.is_zombie and e.parent == os.getpid()
    while not (is_zombie(pid) and is_zombie(own.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    reaper = AdoptedReaper()
    assert reaper.collect({own.pid}) == 0
    assert reaper.collect({own.pid}) == 1
    assert read_process(pid) is None
    assert own.wait() == 0
    print("fine")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("fine\n", "")


def test_the_reaper_leaves_its_own_children_and_living_ones_alone() -> None:
    with leader(SLEEP) as (program, _):
        assert AdoptedReaper().collect({program.pid}) == 0
        assert program.poll() is None


@pytest.mark.skipif(shutil.which("ps") is None, reason="no ps on this machine")
def test_without_proc_the_table_comes_from_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_identity, "HAS_PROC", False)
    monkeypatch.setattr(processes, "HAS_PROC", False)
    with leader(SLEEP) as (program, identity):
        assert identity.start_time
        assert is_same_process(identity)
        assert [entry.pid for entry in find_members(identity)] == [program.pid]
        end_members_blocking(identity, term_grace=BOUND)
        assert program.wait(BOUND) == -signal.SIGTERM
