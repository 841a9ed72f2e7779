"""An agent that dies during a turn is started again: the same turn, nothing said twice, nothing left behind."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.config.process_identity import start_time
from compozy.config.sections import RecoverySection
from tests.kit.agents import received
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

SLOW = '[session.recovery]\ndelays = ["10m"]\n'
MakeWorld = Callable[[str], World]


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[MakeWorld]:
    made: list[World] = []

    def make(config: str) -> World:
        made.append(World(tmp_path, config=config).start())
        return made[-1]

    yield make
    for world in made:
        world.end()


def dies_once(world: World, before: list[dict[str, object]], after: list[dict[str, object]]) -> dict[str, object]:
    """Return a step whose first process says `before` and dies, and whose next one says `after`."""
    return {"first_time": str(world.folder / "died"), "then": [*before, {"exit": 7}], "else": after}


def prompts_of(record: Path) -> list[str]:
    """Return the texts of the prompts an agent was sent."""
    asked = [message["params"] for message in received(record) if message.get("method") == "session/prompt"]
    return [params["prompt"][0]["text"] for params in asked if isinstance(params, dict)]


def content(world: World, session: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [event["content"] for event in world.events(session, type=kind)]


def wait_for_recovery(world: World, session: dict[str, Any]) -> dict[str, Any]:
    """Return the session once it waits for the next attempt."""
    wait_until(lambda: world.refresh(session)["runtime"]["status"] == "recovering", "the death is noticed")
    return world.refresh(session)


def test_a_turn_goes_on_in_a_new_process_that_loads_its_session(world: World) -> None:
    record = world.folder / "wire"
    step = dies_once(world, [{"text": "half"}], [{"text": " and whole"}])
    world.agent("phoenix", {"record": str(record), "prompts": [[step], [{"text": "next"}]]})
    session = world.create("phoenix")
    stream = world.prompt(session, "build it")
    assert stream.text == "half and whole" and stream.finish == "stop" and stream.done
    types = world.types(session)
    assert types == [
        "user_message",
        "agent_message",
        "runtime_recovery_started",
        "runtime_recovery_succeeded",
        "agent_message",
        "done",
    ]
    assert {event["turn_id"] for event in world.events(session)} == {stream.turn_id}
    started, succeeded = (
        content(world, session, "runtime_recovery_started"),
        content(world, session, "runtime_recovery_succeeded"),
    )
    assert started[0]["raw"] == {"attempt": 1, "max_attempts": 3, "delay_ms": 10}
    assert "exit code 7" in started[0]["text"]
    assert succeeded[0]["raw"]["method"] == "load"
    first, second = prompts_of(record)
    assert "build it" in first and "You said: half" in second and second.endswith("User request:\nbuild it")
    methods = [message.get("method") for message in received(record)]
    assert methods.count("session/new") == 1 and methods.count("session/load") == 1
    after = world.refresh(session)
    assert (after["state"], after["badge"], after["runtime"]["status"]) == ("active", "idle", "ready")
    assert "recovery" not in after["runtime"] and "activity" not in after


def test_an_agent_that_resumes_is_resumed_and_nothing_is_replayed(world: World) -> None:
    record = world.folder / "wire"
    step = dies_once(world, [], [{"text": "back"}])
    capabilities = {"sessionCapabilities": {"resume": {}}, "loadSession": True}
    world.agent("phoenix", {"record": str(record), "capabilities": capabilities, "prompts": [[step]]})
    session = world.create("phoenix")
    assert world.prompt(session, "go").text == "back"
    methods = [message.get("method") for message in received(record)]
    assert "session/resume" in methods and "session/load" not in methods
    # Nothing was said or done before, so there is nothing to look at first.
    told = prompts_of(record)[1]
    assert told.endswith("go") and "process ended" not in told
    assert content(world, session, "runtime_recovery_succeeded")[0]["raw"]["method"] == "resume"


def test_an_agent_that_cannot_load_is_told_what_was_said_and_done(world: World) -> None:
    record = world.folder / "wire"
    step = dies_once(world, [{"text": "I begin"}, {"tool_call": {"toolCallId": "t", "title": "rm -r build"}}], [])
    world.agent(
        "phoenix",
        {"record": str(record), "capabilities": {"loadSession": False}, "prompts": [[{"text": "four"}], [step]]},
    )
    session = world.create("phoenix")
    world.prompt(session, "two and two")
    # The second prompt of the first process; the new process counts its prompts anew and answers "four" again.
    assert world.prompt(session, "clean up").text == "I beginfour"
    told = prompts_of(record)[2]
    assert "user: two and two" in told and "assistant: four" in told
    assert "You said: I begin" in told and "- rm -r build: without a result" in told
    assert told.count("clean up") == 1 and told.endswith("User request:\nclean up")
    markers = content(world, session, "transcript_marker.created")
    assert markers[0]["title"] == "context_lost"
    assert markers[0]["raw"]["ladder"] == [
        {"rung": "resume", "outcome": "not offered by the agent"},
        {"rung": "load", "outcome": "not offered by the agent"},
    ]
    results = content(world, session, "tool_result")
    assert [result["tool_call_id"] for result in results] == ["t"] and results[0]["error"]
    assert len(content(world, session, "user_message")) == 2


def test_after_the_last_attempt_the_turn_fails_and_the_session_stops_resumable(world: World) -> None:
    world.agent("mortal", {"prompts": [[{"text": "x"}, {"exit": 4}]]})
    session = world.create("mortal")
    stream = world.prompt(session)
    assert stream.done and "exit code 4" in stream.of("error")[0]["errorText"]
    attempts = [started["raw"]["attempt"] for started in content(world, session, "runtime_recovery_started")]
    assert attempts == [1, 2, 3]
    exhausted = content(world, session, "runtime_recovery_exhausted")
    assert len(exhausted) == 1 and "3 attempts" in exhausted[0]["text"]
    after = world.refresh(session)
    assert after["state"] == "stopped" and after["stop_reason"] == "agent_crashed" and after["attachable"] is True
    assert after["failure"]["kind"] == "process_exit" and after["runtime"]["status"] == "failed"
    assert world.prompt(session, '!steps [{"text": "alive"}]').text == "alive"


def test_an_agent_that_cannot_be_started_again_uses_up_its_attempts(world: World) -> None:
    once = {"first_time": str(world.folder / "started"), "else": [{"stderr": "no licence\n"}, {"exit": 3}]}
    world.agent("brief", {"start": [once], "prompts": [[{"exit": 9}]]})
    session = world.create("brief")
    assert world.prompt(session).of("error")
    errors = [started["text"] for started in content(world, session, "runtime_recovery_started")]
    assert "exit code 9" in errors[0] and "no licence" in errors[1] and "no licence" in errors[2]
    assert world.types(session)[-3:] == ["runtime_recovery_exhausted", "error", "session_stopped"]


def test_while_it_waits_the_session_says_so_and_a_cancel_ends_the_turn_at_once(make_world: MakeWorld) -> None:
    world = make_world(SLOW)
    world.agent("mortal", {"prompts": [[{"text": "x"}, {"exit": 4}], [{"text": "fresh"}]]})
    session = world.create("mortal")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    waiting = wait_for_recovery(world, session)
    assert waiting["badge"] == "unhealthy" and waiting["runtime"]["transition"] == "automatic_recovery"
    recovery = waiting["runtime"]["recovery"]
    assert recovery["attempt"] == 1 and recovery["max_attempts"] == 1 and recovery["next_attempt_at"]
    assert "exit code 4" in recovery["last_error"]
    outcome = world.post(session, "/prompt/cancel").json()
    assert outcome["outcome"] == "canceled"
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    ended = content(world, session, "done")[0]
    assert ended["stop_reason"] == "cancelled" and "started again" in ended["text"]
    after = world.refresh(session)
    assert (after["state"], after["badge"]) == ("active", "idle") and "recovery" not in after["runtime"]
    assert world.prompt(session, '!steps [{"text": "on"}]').text == "on"


def test_a_stop_during_the_wait_stops_at_once_and_leaves_no_process(make_world: MakeWorld) -> None:
    world = make_world(SLOW)
    world.agent("mortal", {"prompts": [[{"text": "{pid}"}, {"exit": 4}]]})
    session = world.create("mortal")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    wait_for_recovery(world, session)
    world.post(session, "/stop")
    after = world.refresh(session)
    assert (after["state"], after["stop_reason"]) == ("stopped", "user_canceled")
    assert content(world, session, "done")[0]["stop_reason"] == "cancelled"


def test_a_stop_while_it_starts_again_ends_the_start(world: World) -> None:
    started = world.folder / "second"
    hang = {
        "first_time": str(world.folder / "began"),
        "else": [{"touch": str(started), "content": "{pid}"}, {"never": True}],
    }
    world.agent("mortal", {"on": {"initialize": [hang]}, "prompts": [[{"exit": 4}]]})
    session = world.create("mortal")
    frames = world.frames(session)
    assert next(frames) is not None
    wait_until(started.exists, "the second process starts")
    assert world.refresh(session)["runtime"]["status"] == "recovering"
    world.post(session, "/stop")
    assert world.refresh(session)["state"] == "stopped"
    wait_until(lambda: not Path(f"/proc/{started.read_text()}/fd").exists(), "the second process is gone")
    assert world.types(session)[-2:] == ["done", "session_stopped"]


def test_a_daemon_killed_during_the_wait_leaves_an_interrupted_turn(make_world: MakeWorld) -> None:
    world = make_world(SLOW)
    steps = [{"tool_call": {"toolCallId": "t", "title": "dig"}}, {"text": "x"}, {"exit": 4}]
    world.agent("mortal", {"prompts": [steps]})
    session = world.create("mortal")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    wait_for_recovery(world, session)
    world.daemon.kill()
    world.end()
    world.start()
    after = world.refresh(session)
    assert (after["state"], after["stop_reason"]) == ("stopped", "agent_crashed") and after["attachable"] is True
    assert after["runtime"]["status"] == "unbound" and "recovery" not in after["runtime"]
    assert len(content(world, session, "tool_result")) == 1, "closed once, not again"
    assert content(world, session, "error")[0]["stop_reason"] == "interrupted"
    assert world.prompt(session, '!steps [{"text": "back"}]').text == "back"


def test_a_daemon_killed_while_an_agent_is_started_again_leaves_no_process(own_world: World) -> None:
    world = own_world
    started = world.folder / "second"
    never = [{"touch": str(started), "content": "{pid}"}, {"never": True}]
    hang = {"first_time": str(world.folder / "began"), "else": never}
    world.agent("mortal", {"deaf": ["eof", "term"], "on": {"initialize": [hang]}, "prompts": [[{"exit": 4}]]})
    session = world.create("mortal")
    frames = world.frames(session)
    assert next(frames) is not None
    wait_until(started.exists, "the second process starts")
    world.daemon.kill()
    world.end()
    assert start_time(int(started.read_text())), "the killed daemon left it"
    world.start()
    assert not start_time(int(started.read_text())), "the next start ends it"
    after = world.refresh(session)
    assert (after["state"], after["stop_reason"], after["badge"]) == ("stopped", "agent_crashed", "failed")
    assert content(world, session, "error")[0]["stop_reason"] == "interrupted"


def test_a_prompt_that_came_meanwhile_runs_after_the_recovered_turn(world: World) -> None:
    go = world.folder / "go"
    step = dies_once(world, [{"text": "a"}, {"wait_file": str(go)}], [{"text": "b"}])
    world.agent("phoenix", {"prompts": [[step], [{"text": "c"}]]})
    session = world.create("phoenix")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    queued = world.post(session, "/prompt", world.prompt_body("second"))
    assert queued.status == 202
    go.touch()
    wait_until(lambda: world.types(session).count("done") == 2, "both turns end")
    texts = [event["content"]["text"] for event in world.events(session, type="agent_message")]
    assert texts[:2] == ["a", "b"] and len(texts) == 3


def test_a_question_of_the_dead_process_is_withdrawn_and_its_answer_refused(world: World) -> None:
    pid_file = world.folder / "pid"
    ask = {"permission": {"toolCallId": "c", "title": "write", "kind": "edit"}}
    step = {
        "first_time": str(world.folder / "died"),
        "then": [{"touch": str(pid_file), "content": "{pid}"}, ask],
        "else": [{"text": "done without"}],
    }
    world.agent("phoenix", {"prompts": [[step]]}, permissions="approve-reads")
    session = world.create("phoenix")
    frames = world.frames(session)
    asked = next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    os.kill(int(pid_file.read_text()), signal.SIGKILL)
    rest = [f for f in frames if f is not None]
    assert [f["delta"] for f in rest if f["type"] == "text-delta"] == ["done without"]
    assert world.refresh(session)["pending_interactions"] == []
    body = {"request_id": asked["id"], "turn_id": asked["data"]["turn_id"], "decision": "allow-once"}
    with pytest.raises(Exception, match="pending"):
        world.post(session, "/approve", body)


def test_recovery_can_be_switched_off(make_world: MakeWorld) -> None:
    world = make_world("[session.recovery]\ndelays = []\n")
    world.agent("mortal", {"prompts": [[{"exit": 4}]]})
    session = world.create("mortal")
    world.prompt(session)
    assert world.types(session) == ["user_message", "error", "session_stopped"]


def test_an_agent_that_forgot_its_session_is_started_again(world: World) -> None:
    forgot = {"error": {"code": -32603, "message": "Session not found"}}
    step = {"first_time": str(world.folder / "forgot"), "then": [forgot], "else": [{"text": "here"}]}
    world.agent("sieve", {"prompts": [[step]]})
    session = world.create("sieve")
    assert world.prompt(session).text == "here"
    assert world.types(session)[-1] == "done"


def test_the_default_pauses_are_one_two_and_four_seconds() -> None:
    assert [float(delay) for delay in RecoverySection().delays] == [1, 2, 4]
