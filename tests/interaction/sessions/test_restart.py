"""What survives the daemon: SIGKILL in a turn, a restart, an orderly stop (contract §5.9; D20; P48, P58)."""

import json
import os
from pathlib import Path
from typing import Any

from tests.kit.daemons import wait_until
from tests.kit.sessions import World


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _agents_of(world: World) -> set[int]:
    """Return the pids of the processes that the daemon of this home started for agents."""
    found = set()
    home = f"COMPOZY_HOME={world.daemon.home.root}".encode()
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                environment = (path / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if home in environment and any(line.startswith(b"COMPOZY_PROCESS_MARKER=") for line in environment):
                found.add(int(path.name))
    return found


def _killed_in_a_turn(world: World, steps: list[dict[str, object]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run a turn until its last text, kill the daemon, and return the session and every frame that was shown."""
    world.agent("slow", {"prompts": [[*steps, {"text": "LAST"}, {"never": True}]]})
    session = world.create("slow")
    shown: list[dict[str, Any]] = []
    for frame in world.frames(session):
        assert frame is not None
        shown.append(frame)
        if frame["type"] == "text-delta" and frame["delta"] == "LAST":
            break
    world.daemon.kill()
    world.end()
    return session, shown


def test_a_killed_daemon_loses_nothing_it_has_shown_and_leaves_no_agent(own_world: World) -> None:
    world = own_world
    spawn = {"spawn": "sleep", "new_session": True, "pid_file": str(world.folder / "sleeper")}
    session, shown = _killed_in_a_turn(
        world, [spawn, {"flood": 500}, {"tool_call": {"toolCallId": "t", "title": "dig"}}]
    )
    agents = _agents_of(world)
    sleeper = int((world.folder / "sleeper").read_text())
    assert agents and _lives(sleeper), "the killed daemon left them"
    world.start()
    assert not any(_lives(pid) for pid in (*agents, sleeper)), "the next start ends them"
    texts = [frame["delta"] for frame in shown if frame["type"] == "text-delta"]
    stored = [event["content"]["text"] for event in world.events(session, type="agent_message")]
    assert stored == texts
    events = [frame["data"] for frame in shown if frame["type"] == "data-compozy-event"]
    assert events == [event["content"] for event in world.events(session, type="tool_call")]


def test_a_turn_that_the_daemon_left_is_interrupted_and_its_session_resumable(own_world: World) -> None:
    world = own_world
    session, _ = _killed_in_a_turn(world, [{"tool_call": {"toolCallId": "t", "title": "dig"}}])
    world.start()
    after = world.refresh(session)
    assert after["state"] == "stopped" and after["stop_reason"] == "agent_crashed"
    assert after["stop_detail"] == "daemon crashed while session active"
    assert after["failure"]["kind"] == "process_exit" and after["attachable"] is True
    types = world.types(session)
    assert types[-3:] == ["tool_result", "error", "session_stopped"] and "done" not in types
    ended = world.events(session, type="error")[0]["content"]
    assert ended["stop_reason"] == "interrupted" and ended["error"] == "daemon stopped"
    last_heard = world.events(session, type="agent_message")[-1]["timestamp"]
    assert after["updated_at"] == last_heard
    assert world.prompt(session, '!steps [{"text": "back"}]').text == "back"


def test_a_question_that_was_open_is_orphaned_and_can_still_be_answered(own_world: World) -> None:
    world = own_world
    ask = {"permission": {"toolCallId": "c", "title": "write", "kind": "edit"}}
    world.agent("asker", {"prompts": [[ask]]}, permissions="approve-reads")
    session = world.create("asker")
    frames = world.frames(session)
    asked = next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    world.daemon.kill()
    world.end()
    world.start()
    pending = world.refresh(session)["pending_interactions"]
    assert [item["status"] for item in pending] == ["orphaned"]
    answer = world.post(
        session,
        "/approve",
        {"request_id": asked["id"], "turn_id": asked["data"]["turn_id"], "decision": "allow-once"},
    ).json()
    assert answer["outcome"] == "resolved-after-restart"
    assert world.refresh(session)["pending_interactions"] == []


def test_an_orderly_stop_ends_sessions_with_reason_shutdown(own_world: World) -> None:
    world = own_world
    world.agent("slow", {"prompts": [[{"text": "busy"}, {"wait_cancel": True}]]})
    world.agent("idle")
    busy, idle, unbound = world.create("slow"), world.create("idle"), world.create("idle")
    world.prompt(idle)
    frames = world.frames(busy)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    world.daemon.stop()
    world.end()
    world.start()
    for session in (busy, idle, unbound):
        after = world.refresh(session)
        assert (after["state"], after["stop_reason"]) == ("stopped", "shutdown"), after["agent_name"]
    assert world.events(busy, type="error")[0]["content"]["stop_reason"] == "interrupted"


def test_prompts_that_waited_run_after_a_restart_in_their_order(own_world: World) -> None:
    world = own_world
    world.agent("slow", {"prompts": [[{"text": "busy"}, {"never": True}]]})
    session = world.create("slow")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    quick = '!steps [{"text": "ok"}]'
    world.post(session, "/prompt", world.prompt_body(f"second\n{quick}"))
    world.daemon.kill()
    world.end()
    world.start()
    queued = world.post(session, "/prompt", world.prompt_body(f"third\n{quick}"))
    assert queued.status == 202 and queued.json()["prompt"]["status"] == "queued"
    wait_until(lambda: len(world.events(session, type="user_message")) == 3, "both prompts run")
    texts = [event["content"]["text"].split()[0] for event in world.events(session, type="user_message")]
    assert texts == ["go", "second", "third"]


def test_no_secret_of_the_daemons_environment_reaches_an_agent(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.daemon.environment["UNRELATED_SECRET"] = "s3cr3t-value-of-nobody"
    world.start()
    try:
        show = "import os, json; print(json.dumps(dict(os.environ)))"
        world.agent("shower", {"prompts": [[{"terminal": ["python3", "-c", show]}, {"text": "{last}"}]]})
        session = world.create("shower")
        environment = json.loads(world.prompt(session).text)
        assert "UNRELATED_SECRET" not in environment and "COMPOZY_SESSION_ID" not in environment
        assert os.environ["PATH"].split(":")[-1] in environment["PATH"]
    finally:
        world.end()
