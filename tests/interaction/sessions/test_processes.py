"""Processes behind sessions of a real daemon: none survives, none is left as a zombie, no stranger is ended."""

import sys
from pathlib import Path

import pytest

from compozy.acp.processes import MARKER_NAME, read_process
from compozy.daemon import control
from tests.kit.daemons import Daemon, make_home, wait_until
from tests.kit.leftovers import left_after
from tests.kit.sessions import World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def _spawned(path: Path) -> int:
    wait_until(path.exists, f"{path.name} is written")
    return int(path.read_text())


def _is_alive(pid: int) -> bool:
    entry = read_process(pid)
    return entry is not None and not entry.is_zombie


@pytest.fixture
def world(own_world: World) -> World:
    """These tests end their daemon: none is shared."""
    return own_world


def test_an_agent_and_what_it_started_end_with_a_stopped_daemon(world: World) -> None:
    path = world.folder / "pid"
    spawn = {"spawn": "sleep", "new_session": True, "ignore_term": True, "pid_file": str(path)}
    world.agent("parent", {"deaf": ["eof", "term"], "prompts": [[spawn, {"text": "{pid}"}]]})
    agent = int(world.prompt(world.create("parent")).text)
    child = _spawned(path)
    assert _is_alive(agent) and _is_alive(child)
    world.daemon.stop()
    assert not _is_alive(agent) and not _is_alive(child)


def test_orphans_of_an_agent_become_the_daemons_and_are_collected_with_it(world: World) -> None:
    path = world.folder / "pid"
    # The shell in between ends at once, which makes its child an orphan.
    orphan = ["sh", "-c", f"setsid sleep 600 & echo $! > {path}.part; mv {path}.part {path}"]
    world.agent("parent", {"prompts": [[{"terminal": orphan, "release": False}, {"text": "said"}], [{"exit": 3}]]})
    session = world.create("parent", permissions="approve-all")
    world.prompt(session)
    pid = _spawned(path)
    entry = read_process(pid)
    assert entry is not None and entry.parent == world.daemon.pid, "the daemon is the subreaper"
    world.prompt(session, "die")
    wait_until(lambda: read_process(pid) is None, "the orphan is ended and collected")


def test_what_a_killed_daemon_left_is_ended_by_the_next_one(world: World) -> None:
    path = world.folder / "pid"
    spawn = {"spawn": "sleep", "new_session": True, "ignore_term": True, "pid_file": str(path)}
    world.agent("parent", {"deaf": ["eof", "term"], "prompts": [[spawn, {"text": "{pid}"}]]})
    agent = int(world.prompt(world.create("parent")).text)
    child = _spawned(path)
    world.daemon.kill()
    assert _is_alive(agent) and _is_alive(child)
    world.start()
    wait_until(lambda: not _is_alive(agent) and not _is_alive(child), "the next daemon ends what was left")


def test_a_stopped_session_leaves_the_processes_of_another_alone(world: World) -> None:
    world.agent("parent", {"deaf": ["eof"], "prompts": [[{"text": "{pid}"}]]})
    first, second = world.create("parent"), world.create("parent")
    pids = [int(world.prompt(session).text) for session in (first, second)]
    world.client.request("POST", world.path(first, "/stop"))
    wait_until(lambda: not _is_alive(pids[0]), "the first agent ends")
    assert _is_alive(pids[1])


def test_a_daemon_that_an_agent_starts_is_not_one_of_the_agents_processes(tmp_path: Path) -> None:
    daemon = Daemon(make_home(tmp_path / "home", http=False), extra_environment={MARKER_NAME: "marker-of-an-agent"})
    daemon.start()
    try:
        environment = Path(f"/proc/{daemon.pid}/environ").read_bytes()
        assert b"marker-of-an-agent" not in environment
    finally:
        daemon.end()
    assert left_after("marker-of-an-agent") == []
    assert not control.is_running(daemon.home)


def test_a_daemon_killed_in_a_turn_leaves_no_process_after_the_next_start(world: World) -> None:
    world.agent(
        "stuck", {"deaf": ["eof", "term"], "prompts": [[{"text": "{pid}"}, {"wait_file": "/nonexistent/go"}]]}
    )
    session = world.create("stuck")
    agent = 0
    for frame in world.frames(session):
        assert frame is not None
        if frame["type"] == "text-delta":
            agent = int(frame["delta"])
            break
    assert _is_alive(agent)
    world.daemon.kill()
    world.start()
    wait_until(lambda: not _is_alive(agent), "the agent of the old life ends")


def test_the_processes_of_sessions_are_listed_with_their_session_and_a_stop_empties_the_list(world: World) -> None:
    path = world.folder / "pid"
    spawn = {"spawn": "sleep", "new_session": True, "pid_file": str(path)}
    world.agent("parent", {"prompts": [[spawn, {"text": "{pid}"}]]})
    world.agent("plain", {"prompts": [[{"text": "{pid}"}]]})
    first, second = world.create("parent"), world.create("plain")
    pids = {int(world.prompt(first).text), _spawned(path), int(world.prompt(second).text)}
    listed = world.client.request("GET", "/api/daemon/processes").json()
    rows = {row["pid"]: row for row in listed["processes"]}
    assert set(rows) == pids and listed["total"] == 3
    child = rows[int(path.read_text())]
    assert child["session_id"] == first["id"] and child["is_leader"] is False and child["group"] == child["pid"]
    assert [row["is_leader"] for row in rows.values()].count(True) == 2
    assert all(row["rss_bytes"] > 0 and row["name"] and row["started_at"] for row in rows.values())
    assert {row["agent_name"] for row in rows.values()} == {"parent", "plain"}
    assert listed["rss_bytes"] == sum(row["rss_bytes"] for row in rows.values())
    for session in (first, second):
        world.post(session, "/stop")
    assert world.client.request("GET", "/api/daemon/processes").json()["processes"] == []


def test_forty_agents_of_a_killed_daemon_are_gone_after_the_next_start(world: World) -> None:
    world.agent("parent", {"deaf": ["eof", "term"], "prompts": [[{"text": "{pid}"}]]})
    pids = [int(world.prompt(world.create("parent")).text) for _ in range(40)]
    world.daemon.kill()
    world.end()
    assert all(_is_alive(pid) for pid in pids)
    world.start()
    assert not any(_is_alive(pid) for pid in pids)
    assert world.client.request("GET", "/api/daemon/processes").json()["total"] == 0


def test_a_child_that_forks_twice_into_a_session_of_its_own_ends_with_its_agent(world: World) -> None:
    path = world.folder / "pid"
    steps = [{"daemonise": str(path)}, {"text": "said"}]
    world.agent("parent", {"prompts": [steps, [{"die": 9}]]})
    session = world.create("parent")
    world.prompt(session)
    pid = _spawned(path)
    entry = read_process(pid)
    assert entry is not None and entry.parent == world.daemon.pid and entry.session == pid
    rows = world.client.request("GET", "/api/daemon/processes").json()["processes"]
    assert {row["session_id"] for row in rows if row["pid"] == pid} == {session["id"]}
    world.post(session, "/stop")
    assert not _is_alive(pid)
