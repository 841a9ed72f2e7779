"""Stopping with work in flight: agents end, streams end with the last word, sessions say why; and it is bounded."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError, ServerSentEvent
from compozy.config.process_identity import start_time
from compozy.daemon import control
from tests.kit.daemons import PATIENCE, wait_until
from tests.kit.sessions import World

BUSY = {"prompts": [[{"text": "working {pid}"}, {"wait_cancel": True}]]}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path, http=True).start()
    yield made
    made.end()


def begin_turn(world: World, script: dict[str, object]) -> tuple[dict[str, Any], int]:
    """Start a turn that waits; return its session and the pid of its agent."""
    world.agent("busy", script)
    session = world.create("busy")
    frames = world.frames(session)
    text = next(frame["delta"] for frame in frames if frame is not None and frame["type"] == "text-delta")
    frames.close()  # type: ignore[attr-defined]
    return session, int(text.split()[1])


def test_a_stop_during_a_turn_ends_the_agent_and_the_session_says_why(world: World) -> None:
    session, agent = begin_turn(world, BUSY)
    assert start_time(agent)
    control.stop(world.daemon.home)
    assert not start_time(agent)
    world.end()
    world.start()
    after = world.refresh(session)
    assert (after["state"], after["stop_reason"]) == ("stopped", "shutdown")
    assert world.types(session)[-1] == "session_stopped"


def test_an_open_stream_ends_with_session_stopped_and_does_not_hold_the_daemon_up(world: World) -> None:
    session, _ = begin_turn(world, BUSY)
    events: list[ServerSentEvent | None] = []
    begun = threading.Event()

    def follow() -> None:
        path = world.path(session, "/stream")
        with world.daemon.client() as client, client.stream("GET", path, query={"frames": "raw"}) as stream:
            for event in stream:
                events.append(event)
                begun.set()

    reader = threading.Thread(target=follow, daemon=True)
    reader.start()
    assert begun.wait(PATIENCE)
    control.stop(world.daemon.home)
    reader.join(PATIENCE)
    assert not reader.is_alive()
    last = events[-1]
    assert last is not None and last.event == "session_stopped"


def test_an_agent_that_ignores_every_request_to_end_is_gone_too(world: World) -> None:
    _, agent = begin_turn(world, {**BUSY, "deaf": ["eof", "term", "int"], "cancel": "ignore"})
    control.stop(world.daemon.home)
    assert not start_time(agent)


def test_a_killed_daemon_leaves_no_agent_after_the_next_start_and_loses_nothing_shown(world: World) -> None:
    session, agent = begin_turn(world, {**BUSY, "deaf": ["eof", "term", "int"]})
    before = world.events(session)
    assert before
    world.daemon.kill()
    world.end()
    world.start()
    wait_until(lambda: not start_time(agent), "the old agent is gone")
    after = world.events(session)
    assert after[: len(before)] == before
    assert world.refresh(session)["state"] == "stopped"


def test_while_draining_no_session_is_created_and_a_running_turn_goes_on(world: World) -> None:
    session, agent = begin_turn(world, BUSY)
    drained = world.client.request("POST", "/api/drain").json()
    assert isinstance(drained, dict)
    assert (drained["active_session_executions"], drained["safe_to_stop"]) == (1, False)
    with pytest.raises(ApiError) as caught:
        world.create("busy")
    assert (caught.value.status, caught.value.code, caught.value.exit_code) == (503, "daemon_draining", 71)
    assert start_time(agent)
    world.post(session, "/prompt/cancel")
    wait_until(lambda: _settled(world), "the turn is over")
    world.client.request("POST", "/api/undrain")
    assert world.create("busy")["state"] == "active"


def _settled(world: World) -> bool:
    state = world.client.request("POST", "/api/drain").json()
    assert isinstance(state, dict)
    return bool(state["safe_to_stop"])


def test_the_status_counts_sessions(world: World) -> None:
    begin_turn(world, BUSY)
    status = world.client.request("GET", "/api/status").json()
    assert isinstance(status, dict)
    assert status["sessions"]["total"] == status["sessions"]["active"] == 1
    assert status["daemon"]["active_sessions"] == 1


def test_the_status_shows_why_sessions_failed(world: World) -> None:
    world.agent("dying", {"prompts": [[{"exit": 3}]]})
    session = world.create("dying")
    world.prompt(session)
    wait_until(lambda: world.refresh(session)["state"] == "stopped", "the session is stopped")
    status = world.client.request("GET", "/api/status").json()
    assert isinstance(status, dict)
    failures = status["health"]["failures"]
    assert failures["total"] == 1
    assert failures["recent"][0]["session_id"] == session["id"]
    assert failures["by_kind"] == {failures["recent"][0]["failure_kind"]: 1}


def test_the_doctor_names_a_definition_that_does_not_load(world: World) -> None:
    broken = world.daemon.home.agents / "broken" / "AGENT.md"
    broken.parent.mkdir()
    broken.write_text("no front matter")
    report = world.client.request("GET", "/api/doctor", query={"only": "agents"}).json()
    assert isinstance(report, dict)
    (item,) = [item for item in report["items"] if item["severity"] == "error"]
    assert item["code"] == "frontmatter.missing"
    assert item["suggested_command"] == f"compozy agent check {broken}"


def test_agents_inherit_the_users_umask(world: World) -> None:
    _, agent = begin_turn(world, BUSY)
    masks = [line for line in Path(f"/proc/{agent}/status").read_text().splitlines() if line.startswith("Umask")]
    own = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Umask")]
    assert masks == own


def test_a_daemon_started_by_an_agent_passes_that_agents_identity_to_nobody(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.daemon.environment |= {"COMPOZY_AGENT_NAME": "outer", "COMPOZY_MODEL": "outer", "COMPOZY_PEER_ID": "outer"}
    world.start()
    try:
        _, agent = begin_turn(world, BUSY)
        found = Path(f"/proc/{agent}/environ").read_bytes().split(b"\0")
    finally:
        world.end()
    assert b"COMPOZY_AGENT_NAME=busy" in found
    assert not any(line.endswith(b"=outer") for line in found)


def test_a_secret_bound_to_a_provider_is_masked_wherever_it_turns_up(tmp_path: Path) -> None:
    config = """
[providers.bound]
command = "unused"
[[providers.bound.credential_slots]]
name = "word"
target_env = "PLAIN_WORD"
"""
    world = World(tmp_path, config=config)
    world.daemon.environment["PLAIN_WORD"] = "hush-hush"
    world.start()
    try:
        world.agent("echo", {}, provider="bound")
        stream = world.prompt(world.create("echo"), "say hush-hush again")
    finally:
        world.end()
    assert "[REDACTED]" in stream.text and "hush-hush" not in stream.text
    for path in world.daemon.home.root.rglob("*"):
        if path.is_file():
            assert b"hush-hush" not in path.read_bytes(), path


def test_secrets_of_the_environment_never_reach_the_log(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.daemon.environment["SERVICE_TOKEN"] = "tok_7f3a9"
    world.start()
    try:
        begin_turn(world, BUSY)
    finally:
        world.end()
    for path in world.daemon.home.root.rglob("*"):
        if path.is_file():
            assert b"tok_7f3a9" not in path.read_bytes(), path
