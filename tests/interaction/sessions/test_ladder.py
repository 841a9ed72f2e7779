"""The ladder on which an agent's session is taken up again, and what happens where it does not hold (P55, P56)."""

import json
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.agents import fake_agent_command, received
from tests.kit.cli import Cli, write_agent
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

RESUMES = {"sessionCapabilities": {"resume": {}}, "loadSession": True}
GONE = {"code": -32002, "message": "no such session"}


def methods(record: Path) -> list[str]:
    return [str(message.get("method")) for message in received(record) if "method" in message]


def restarted(world: World, script: dict[str, object]) -> tuple[dict[str, Any], Path]:
    """Return a session that had one turn and was stopped, and what its agent received."""
    record = world.folder / "wire"
    world.agent("ann", {"record": str(record), "prompts": [[{"text": "one"}]], **script})
    session = world.create("ann")
    world.prompt(session, "first")
    world.post(session, "/stop")
    return session, record


def marker(world: World, session: dict[str, Any]) -> dict[str, Any]:
    found = world.events(session, type="transcript_marker.created")
    assert len(found) == 1
    content: dict[str, Any] = found[0]["content"]
    return content


def test_resume_is_asked_before_load(world: World) -> None:
    session, record = restarted(world, {"capabilities": RESUMES})
    assert world.prompt(session, "second").text == "one"
    assert methods(record)[-2:] == ["session/resume", "session/prompt"]
    assert world.events(session, type="transcript_marker.created") == []


def test_an_agent_that_refuses_to_resume_is_asked_to_load(world: World) -> None:
    session, record = restarted(world, {"capabilities": RESUMES, "on": {"session/resume": [{"error": GONE}]}})
    world.prompt(session, "second")
    assert methods(record)[-3:] == ["session/resume", "session/load", "session/prompt"]
    assert world.events(session, type="transcript_marker.created") == []


def test_a_new_session_says_in_the_transcript_which_rungs_did_not_hold(world: World) -> None:
    on = {"session/resume": [{"error": GONE}], "session/load": [{"error": GONE}]}
    session, record = restarted(world, {"capabilities": RESUMES, "on": on})
    stream = world.prompt(session, "second")
    said = marker(world, session)
    assert said["turn_id"] == stream.turn_id and said["title"] == "context_lost"
    ladder = said["raw"]["ladder"]
    assert [rung["rung"] for rung in ladder] == ["resume", "load"]
    assert all("no such session" in rung["outcome"] for rung in ladder)
    assert said["raw"]["previous_session_id"] == "fake-1"
    assert methods(record)[-2:] == ["session/new", "session/prompt"]


@pytest.mark.parametrize("step", [{"exit": 3}, {"die": 9}])
def test_an_agent_that_dies_while_it_loads_is_started_once_more_and_told_the_transcript(
    world: World, step: dict[str, object]
) -> None:
    session, record = restarted(world, {"on": {"session/load": [step]}})
    assert world.prompt(session, "second").text == "one"
    assert [rung["rung"] for rung in marker(world, session)["raw"]["ladder"]] == ["resume", "load"]
    assert methods(record).count("initialize") == 3
    told = [m["params"] for m in received(record) if m.get("method") == "session/prompt"][-1]
    assert "assistant: one" in json.dumps(told)


def test_history_stays_readable_and_the_failure_is_typed_when_the_program_is_gone(world: World) -> None:
    session, _ = restarted(world, {})
    (world.daemon.home.agents / "ann" / "AGENT.md").unlink()
    (world.folder / "scripts" / "ann.json").unlink()
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("second"))
    assert refused.value.status == 422 and refused.value.envelope["details"]["failure_kind"] == "startup_failure"
    assert [entry["message"]["role"] for entry in world.get(session, "/transcript")["entries"]] == [
        "user",
        "assistant",
    ]
    after = world.refresh(session)
    assert after["state"] == "stopped" and after["attachable"] is True and after["runtime"]["failure"]


def test_require_context_refuses_and_says_nothing_to_the_agent(world: World) -> None:
    session, record = restarted(world, {"load_error": GONE})
    sent = len(methods(record))
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("second", require_context=True))
    error = refused.value
    assert error.status == 409 and error.code == "context_lost"
    assert error.facts["evidence"]["previous_session_id"] == "fake-1"
    assert [rung["rung"] for rung in error.facts["evidence"]["ladder"]] == ["resume", "load"]
    assert methods(record)[sent:] == ["initialize", "session/load"]
    after = world.refresh(session)
    assert after["state"] == "stopped" and world.types(session)[-1] == "session_stopped"
    assert world.types(session).count("user_message") == 1
    # Without the demand it goes on, and says what was lost.
    world.prompt(session, "second")
    assert marker(world, session)["title"] == "context_lost"


def test_require_context_passes_where_the_agent_remembers_or_has_nothing_to_remember(world: World) -> None:
    world.agent("ann", {"prompts": [[{"text": "one"}]]})
    session = world.create("ann")
    assert world.prompt(session, "first", require_context=True).text == "one"
    assert world.prompt(session, "second", require_context=True).text == "one"
    world.post(session, "/stop")
    assert world.prompt(session, "third", require_context=True).text == "one"
    assert world.events(session, type="transcript_marker.created") == []


def test_require_context_starts_no_program_after_a_change_of_provider(world: World) -> None:
    session, record = restarted(world, {})
    sent = len(methods(record))
    runtime = {"provider": "claude"}
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body("second", require_context=True, runtime=runtime))
    assert refused.value.code == "context_lost" and "provider was changed" in str(refused.value)
    assert len(methods(record)) == sent
    effective = world.refresh(session)["runtime"]["effective"]
    assert effective["provider"] == "offline", "the choice that could not be met is taken back"


def test_a_turn_that_requires_context_is_not_continued_by_an_agent_that_forgot(world: World) -> None:
    record = world.folder / "wire"
    world.agent(
        "ann",
        {"record": str(record), "capabilities": {"loadSession": False}, "prompts": [[{"text": "x"}, {"exit": 4}]]},
    )
    session = world.create("ann")
    stream = world.prompt(session, "first", require_context=True)
    assert stream.of("error")
    ended = world.events(session, type="error")[0]["content"]
    assert ended["stop_reason"] == "context_lost" and ended["failure"]["kind"] == "load_session_failure"
    assert methods(record).count("session/prompt") == 1 and methods(record).count("session/new") == 1
    after = world.refresh(session)
    assert after["state"] == "stopped" and after["failure"]["kind"] == "load_session_failure"


def test_a_waiting_prompt_keeps_its_demand(world: World) -> None:
    go = world.folder / "go"
    world.agent("ann", {"capabilities": {"loadSession": False}, "prompts": [[{"wait_file": str(go)}, {"exit": 0}]]})
    session = world.create("ann")
    frames = world.frames(session)
    next(frames)
    queued = world.post(session, "/prompt", world.prompt_body("second", require_context=True))
    assert queued.status == 202
    go.touch()
    wait_until(lambda: world.refresh(session)["state"] == "stopped", "every attempt ends")
    wait_until(
        lambda: any("does not remember" in e["content"]["error"] for e in world.events(session, type="error")),
        "the waiting prompt is refused",
    )
    assert world.types(session).count("user_message") == 1


@pytest.mark.parametrize("output", [(), ("-o", "json")])
def test_the_exit_code_is_74_when_the_context_is_lost(ann: tuple[Cli, Path], output: tuple[str, ...]) -> None:
    cli, record = ann
    session = str(cli("session", "new", "--agent", "ann", "-o", "json").object()["id"])
    assert cli("session", "prompt", session, "first").code == 0
    cli("session", "stop", session)
    sent = methods(record).count("session/prompt")
    call = cli("session", "prompt", session, "second", "--require-context", *output)
    assert call.code == 74 and "does not remember" in call.err
    assert methods(record).count("session/prompt") == sent
    told = cli("session", "prompt", session, "second", "-o", "json")
    assert told.code == 0 and told.object()["context_lost"] is True


def test_a_run_whose_agent_loses_its_context_on_the_way_is_74(ann: tuple[Cli, Path]) -> None:
    cli, _ = ann
    call = cli("run", '!steps [{"text": "x"}, {"exit": 3}]', "--agent", "ann", "--require-context", "-o", "json")
    assert call.code == 74, call
    assert call.object()["exit_reason"] == "context_lost"


@pytest.fixture
def ann(shared: Cli, tmp_path: Path) -> tuple[Cli, Path]:
    """The command line of a home with an agent that cannot load, and what that agent receives."""
    record = tmp_path / "wire"
    command = fake_agent_command(tmp_path, {"record": str(record), "capabilities": {"loadSession": False}})
    folder = shared.home.agents / "ann"
    if not folder.exists():
        write_agent(shared.home.root, "ann", f"---\nname: ann\ncommand: {json.dumps(command)}\n---\nYou wait.\n")
    else:
        text = f"---\nname: ann\ncommand: {json.dumps(command)}\n---\nYou wait.\n"
        (folder / "AGENT.md").write_text(text)
    return shared, record
