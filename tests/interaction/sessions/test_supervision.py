"""A turn is watched: what it does is shown, silence is told and then ended, long turns report, deadlines hold."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.daemons import wait_until
from tests.kit.sessions import World

MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[MakeWorld]:
    made: list[World] = []

    def make(**rules: str) -> World:
        lines = "".join(f'{key} = "{value}"\n' for key, value in rules.items())
        made.append(World(tmp_path, config=f"[session.supervision]\n{lines}").start())
        return made[-1]

    yield make
    for world in made:
        world.end()


def begun(world: World, session: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    """Return the frames of a prompt after its first text."""
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    return frames


def contents(world: World, session: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [event["content"] for event in world.events(session, type=kind)]


def test_a_running_turn_says_what_it_does(world: World) -> None:
    steps = [{"text": "hm"}, {"tool_call": {"toolCallId": "t7", "title": "grep -r x"}}, {"wait_cancel": True}]
    world.agent("digger", {"prompts": [steps]})
    session = world.create("digger")
    assert "activity" not in world.refresh(session)
    frames = begun(world, session)
    wait_until(lambda: world.refresh(session)["activity"].get("current_tool"), "the tool is seen")
    activity = world.refresh(session)["activity"]
    assert activity["current_tool"] == "grep -r x" and activity["tool_call_id"] == "t7"
    assert activity["last_activity_kind"] == "tool_call" and activity["turn_source"] == "user"
    assert activity["turn_id"] == world.events(session)[0]["turn_id"]
    assert activity["turn_started_at"] <= activity["last_activity_at"]
    assert activity["elapsed_ms"] >= 0 and "deadline_at" not in activity
    listed = world.client.request("GET", "/api/sessions").json()["sessions"]
    assert next(row for row in listed if row["id"] == session["id"])["activity"]["tool_call_id"] == "t7"
    world.post(session, "/prompt/cancel")
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    assert "activity" not in world.refresh(session)


def test_a_stalled_agent_is_reported_as_hung_until_it_shows_a_sign_of_life(make_world: MakeWorld) -> None:
    world = make_world(inactivity_warning_after="100ms", inactivity_timeout="10m")
    go = world.folder / "go"
    world.agent(
        "sleepy", {"prompts": [[{"text": "a"}, {"wait_file": str(go)}, {"text": "b"}, {"wait_cancel": True}]]}
    )
    session = world.create("sleepy")
    frames = begun(world, session)
    wait_until(lambda: world.refresh(session)["badge"] == "hung", "the silence is noticed")
    told = len(contents(world, session, "runtime_warning"))
    go.touch()
    wait_until(lambda: world.types(session).count("agent_message") == 2, "the agent speaks again")
    wait_until(lambda: len(contents(world, session, "runtime_warning")) > told, "the next silence is a new one")
    wait_until(lambda: world.refresh(session)["badge"] == "hung", "it shows")
    world.post(session, "/prompt/cancel")
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    assert world.refresh(session)["badge"] == "idle"
    warning = contents(world, session, "runtime_warning")[-1]
    assert warning["title"] == "inactivity" and "agent_message_chunk" in warning["text"]


def test_a_silent_agent_is_cancelled_and_its_session_stops_with_reason_timeout(make_world: MakeWorld) -> None:
    world = make_world(inactivity_warning_after="100ms", inactivity_timeout="300ms", timeout_cancel_grace="5s")
    world.agent("silent", {"deaf": ["eof"], "prompts": [[{"text": "{pid}"}, {"wait_cancel": True}]]})
    session = world.create("silent")
    stream = world.prompt(session)
    after = world.refresh(session)
    assert (after["state"], after["stop_reason"]) == ("stopped", "timeout")
    assert after["stop_detail"] == "activity_timeout" and after["failure"]["kind"] == "timeout"
    assert after["badge"] == "failed" and after["attachable"] is True
    assert world.types(session)[-3:] == ["runtime_warning", "error", "session_stopped"]
    assert not Path(f"/proc/{stream.text}/fd").exists(), "its process is ended"
    assert world.prompt_until(session, "again", '!steps [{"text": "again"}]').text == "again"


def test_a_silent_agent_that_ignores_the_cancel_is_ended(make_world: MakeWorld) -> None:
    world = make_world(inactivity_warning_after="100ms", inactivity_timeout="200ms", timeout_cancel_grace="100ms")
    steps = [{"text": "{pid}"}, {"wait_file": "/nonexistent/go"}]
    world.agent("deaf", {"deaf": ["eof", "term"], "cancel": "ignore", "prompts": [steps]})
    session = world.create("deaf")
    pid = world.prompt(session).text
    after = world.refresh(session)
    assert (after["stop_reason"], after["stop_detail"]) == ("timeout", "activity_timeout")
    assert not Path(f"/proc/{pid}/fd").exists()


def test_silence_from_the_start_is_noticed_too(make_world: MakeWorld) -> None:
    world = make_world(inactivity_warning_after="50ms", inactivity_timeout="100ms", timeout_cancel_grace="100ms")
    world.agent("mute", {"prompts": [[{"never": True}]]})
    session = world.create("mute")
    assert "silent for too long" in world.prompt(session).of("error")[0]["errorText"]
    assert contents(world, session, "runtime_warning")[0]["text"].endswith("s")


def test_a_long_turn_reports_its_progress(make_world: MakeWorld) -> None:
    world = make_world(progress_notify_interval="50ms", activity_heartbeat_interval="50ms")
    world.agent("busy", {"prompts": [[{"text": "x"}, {"tool_call": {"title": "dig"}}, {"wait_cancel": True}]]})
    session = world.create("busy")
    begun(world, session)
    wait_until(lambda: "tool_call" in world.types(session), "the tool is at work")
    before = len(contents(world, session, "runtime_progress"))
    wait_until(lambda: len(contents(world, session, "runtime_progress")) >= before + 2, "progress is told")
    told = contents(world, session, "runtime_progress")[-1]
    assert told["title"] == "progress" and "tool_call 'dig'" in told["text"]
    assert told["raw"]["current_tool"] == "dig"
    assert world.refresh(session)["activity"]["last_progress_at"]
    world.post(session, "/prompt/cancel")


def test_a_heartbeat_lets_watchers_of_the_list_look_again(make_world: MakeWorld) -> None:
    world = make_world(activity_heartbeat_interval="50ms")
    world.agent("busy", {"prompts": [[{"text": "x"}, {"wait_cancel": True}]]})
    session = world.create("busy")
    begun(world, session)
    with world.daemon.client() as client, client.stream("GET", "/api/sessions/catalog-stream") as stream:
        changed = (event for event in stream if event is not None and event.event == "session_catalog_changed")
        assert all(session["id"] in next(changed).data for _ in range(3))
    world.post(session, "/prompt/cancel")


def test_a_turn_past_its_deadline_is_cancelled_and_the_session_goes_on(make_world: MakeWorld) -> None:
    world = make_world(prompt_deadline="300ms", timeout_cancel_grace="10s")
    chatter = {"repeat": 100000, "steps": [{"text": "x"}, {"sleep": 0.02}]}
    world.agent("chatty", {"prompts": [[chatter], [{"text": "short"}]]})
    session = world.create("chatty")
    stream = world.prompt(session)
    assert "prompt_deadline" in stream.of("error")[0]["errorText"]
    ended = contents(world, session, "error")[0]
    assert ended["stop_reason"] == "timeout" and ended["failure"]["kind"] == "timeout"
    assert world.refresh(session)["state"] == "active"
    assert world.prompt_until(session, "short").text == "short"


def test_the_deadline_of_a_running_turn_is_shown(make_world: MakeWorld) -> None:
    world = make_world(prompt_deadline="10m")
    world.agent("busy", {"prompts": [[{"text": "x"}, {"wait_cancel": True}]]})
    session = world.create("busy")
    begun(world, session)
    activity = world.refresh(session)["activity"]
    assert activity["deadline_at"] > activity["turn_started_at"]
    world.post(session, "/prompt/cancel")
