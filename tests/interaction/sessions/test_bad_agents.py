"""Agents and requests that fail: one clear sentence each, what is stored is kept, no process stays behind."""

import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.daemons import PATIENCE, wait_until
from tests.kit.sessions import World


def _refused(world: World, session: dict[str, Any], text: str = "go") -> ApiError:
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", world.prompt_body(text))
    return refused.value


def test_a_missing_program_is_named_and_the_session_stays(world: World) -> None:
    world.write_agent(world.daemon.home.agents, "ghost", command="no-such-program-anywhere --acp")
    session = world.create("ghost")
    error = _refused(world, session)
    assert error.status == 400 and error.code == "provider_cli_missing"
    assert "no-such-program-anywhere" in str(error)
    after = world.refresh(session)
    assert after["state"] == "active" and after["runtime"]["status"] == "unbound"
    assert "no-such-program-anywhere" in after["runtime"]["failure"]
    assert world.types(session) == []


def test_an_agent_that_exits_at_once_is_reported_with_code_and_last_words(world: World) -> None:
    world.agent("brief", {"start": [{"stderr": "cannot find my config\n"}, {"exit": 3}]})
    session = world.create("brief")
    error = _refused(world, session)
    assert error.status == 422
    assert "code 3" in str(error) and "cannot find my config" in str(error)
    assert error.envelope["details"]["failure_kind"] == "startup_failure"
    assert world.types(session) == []


def test_an_agent_that_prints_junk_still_works_and_the_junk_is_kept(world: World) -> None:
    world.agent("noisy", {"start": [{"line": "npm warn deprecated"}, {"line": ""}], "prompts": [[{"text": "fine"}]]})
    session = world.create("noisy")
    assert world.prompt(session).text == "fine"
    notes = [e["content"] for e in world.events(session, type="system") if e["content"]["title"] == "stdout_noise"]
    assert any("npm warn deprecated" in note["text"] for note in notes)


def test_a_program_that_only_prints_junk_is_not_taken_for_an_agent(world: World) -> None:
    world.write_agent(world.daemon.home.agents, "cat", command=json.dumps("sh -c 'echo hello; exit 0'"))
    error = _refused(world, world.create("cat"))
    assert error.status == 422 and "with code 0; it had printed 'hello'" in str(error)


def test_an_agent_that_wants_a_login_says_so(world: World) -> None:
    script = {"on": {"session/new": [{"error": {"code": -32000, "message": "Authentication required"}}]}}
    world.agent("locked", script)
    error = _refused(world, world.create("locked"))
    assert error.status == 422 and error.code == "provider_not_authenticated"


def test_a_model_the_agent_does_not_offer_is_refused(world: World) -> None:
    options = [
        {
            "id": "model",
            "name": "Model",
            "category": "model",
            "type": "select",
            "currentValue": "small",
            "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
        }
    ]
    world.agent("picky", {"config_options": options}, model="huge")
    error = _refused(world, world.create("picky"))
    assert error.status == 422 and error.code == "model_unavailable"
    assert error.facts["id"] == "provider.negotiation.model_unavailable"
    assert error.facts["evidence"] == {
        "stage": "model",
        "requested": "huge",
        "valid_choices": ["small", "large"],
        "config_option_id": "model",
    }
    world.agent("fitting", {"config_options": options}, model="large")
    session = world.create("fitting")
    world.prompt(session)
    assert world.refresh(session)["runtime"]["effective"]["model"] == "large"


def test_an_agent_that_dies_in_a_turn_ends_the_session_with_its_failure(world: World) -> None:
    token = "tok_" + "7f3a9" * 4
    steps = [
        {"text": "working"},
        {"tool_call": {"toolCallId": "t", "title": "dig"}},
        {"stderr": f"api_key={token} is bad\n"},
        {"exit": 9},
    ]
    world.agent("mortal", {"prompts": [steps]})
    session = world.create("mortal")
    stream = world.prompt(session)
    assert stream.of("error") and stream.done
    life = ["agent_message", "tool_call", "tool_result"]
    again = ["runtime_recovery_started", "runtime_recovery_succeeded", *life]
    ended = ["runtime_recovery_exhausted", "error", "session_stopped"]
    assert world.types(session) == ["user_message", *life, *again, *again, *again, *ended]
    after = world.refresh(session)
    assert after["state"] == "stopped" and after["stop_reason"] == "agent_crashed" and after["badge"] == "failed"
    assert after["failure"]["kind"] == "process_exit" and "exit code 9" in after["failure"]["summary"]
    everything = json.dumps([after, world.events(session)]) + world.daemon.home.log_file.read_text()
    assert token not in everything and "[REDACTED]" in everything


def test_an_agent_that_dies_while_idle_leaves_read_only_history(world: World) -> None:
    world.agent("mortal", {"prompts": [[{"text": "bye"}]], "late": [{"exit": 5}]})
    session = world.create("mortal")
    world.prompt(session)
    wait_until(lambda: world.refresh(session)["state"] == "stopped", "the death is noticed")
    after = world.refresh(session)
    assert after["stop_reason"] == "agent_crashed" and after["attachable"] is False
    assert _refused(world, session).status == 409
    assert world.get(session, "/transcript")["entries"]


def test_an_agent_that_leaves_cleanly_while_idle_completed(world: World) -> None:
    world.agent("mortal", {"prompts": [[{"text": "bye"}]], "late": [{"exit": 0}]})
    session = world.create("mortal")
    world.prompt(session)
    wait_until(lambda: world.refresh(session)["state"] == "stopped", "the exit is noticed")
    assert world.refresh(session)["stop_reason"] == "completed"
    assert world.prompt(session).text == "bye"


@pytest.mark.parametrize(
    ("message", "kind"),
    [("Authentication required", "provider_auth_failure"), ("the server is busy", "prompt_failure")],
)
def test_a_prompt_refused_for_want_of_a_login_is_told_apart_from_other_server_errors(
    world: World, message: str, kind: str
) -> None:
    name = kind.replace("_", "-")
    world.agent(name, {"prompts": [[{"error": {"code": -32000, "message": message}}]]})
    session = world.create(name)
    world.prompt(session)
    assert world.events(session, type="error")[0]["content"]["failure"]["kind"] == kind


def test_a_refused_prompt_is_an_error_event_and_the_session_goes_on(world: World) -> None:
    world.agent("moody", {"prompts": [[{"error": {"code": -32603, "message": "no tokens left"}}], [{"text": "ok"}]]})
    session = world.create("moody")
    assert "no tokens left" in world.prompt(session).of("error")[0]["errorText"]
    assert world.events(session, type="error")[0]["content"]["failure"]["kind"] == "prompt_failure"
    assert world.prompt(session).text == "ok"


def test_secrets_in_updates_are_redacted_before_they_are_stored(world: World) -> None:
    token = "tok_" + "1b2c3" * 4
    update = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t",
        "title": f"curl -H 'Authorization: Bearer {token}'",
        "rawInput": {"api_key": token, "n": 1},
    }
    world.agent("leaky", {"prompts": [[{"update": update}, {"text": f"SERVICE_TOKEN={token}"}]]})
    session = world.create("leaky")
    stream = world.prompt(session)
    assert token not in json.dumps(stream.frames)
    assert token not in json.dumps(world.events(session))
    stored = b"".join(path.read_bytes() for path in world.daemon.home.root.rglob("compozy.db*") if path.is_file())
    assert token.encode() not in stored


def test_unknown_updates_are_kept_whole(world: World) -> None:
    update = {"sessionUpdate": "notice", "level": "odd", "nested": {"x": [1, None]}}
    world.agent("odd", {"prompts": [[{"update": update}, {"update": {"sessionUpdate": "tool_call"}}]]})
    session = world.create("odd")
    world.prompt(session)
    kept = [event["content"]["raw"] for event in world.events(session, type="system")]
    assert kept[0] == update and kept[1] == {"sessionUpdate": "tool_call"}


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "workspace or workspace_path is required"),
        ({"workspace": "a", "workspace_path": "/b"}, 400, "mutually exclusive"),
        ({"workspace_path": "relative"}, 400, "absolute"),
        ({"workspace_path": "/no/such/folder"}, 400, "does not exist"),
        ({"workspace": "nobody"}, 404, "not registered"),
        ({"workspace_path": "{work}", "agent_name": "nobody"}, 400, "unknown"),
        ({"workspace_path": "{work}", "permissions": "everything"}, 400, "approve-reads"),
        ({"workspace_path": "{work}", "surprise": 1}, 400, "surprise"),
    ],
)
def test_a_session_that_cannot_be_created_says_why(
    world: World, body: dict[str, Any], status: int, words: str
) -> None:
    world.agent("some")
    sent = {key: str(world.workspace) if value == "{work}" else value for key, value in body.items()}
    with pytest.raises(ApiError) as refused:
        world.client.request("POST", "/api/sessions", body=sent)
    assert refused.value.status == status
    assert words in str(refused.value)


def test_a_workspace_agent_with_a_command_needs_trust(world: World) -> None:
    world.write_agent(world.workspace / ".compozy" / "agents", "local", command="sh")
    with pytest.raises(ApiError) as refused:
        world.create("local")
    assert refused.value.status == 409 and refused.value.code == "trust_required"


def test_a_workspace_agent_never_widens_the_homes_mode(tmp_path: Path) -> None:
    world = World(tmp_path, config='[permissions]\nmode = "deny-all"\n').start()
    try:
        world.write_agent(world.workspace / ".compozy" / "agents", "local", permissions="approve-all")
        (world.workspace / "file.txt").write_text("needle")
        session = world.create("local")
        world.prompt(session, "find the needle")
        decisions = {event["content"].get("decision") for event in world.events(session, type="permission")}
        assert decisions == {"reject-once"}
    finally:
        world.end()


def test_an_agent_that_asks_for_tools_that_do_not_exist_is_refused_at_creation(world: World) -> None:
    world.agent("wishful", tools="[compozy__no_such_tool]")
    with pytest.raises(ApiError) as refused:
        world.create("wishful")
    assert refused.value.status == 422 and refused.value.code == "hosted_mcp_unavailable"


def test_a_session_of_another_workspace_is_not_found(world: World) -> None:
    world.agent("some")
    session = world.create("some")
    with pytest.raises(ApiError) as refused:
        world.client.request("GET", f"/api/workspaces/ws_0000000000000000/sessions/{session['id']}")
    assert refused.value.status == 404


def test_an_agent_that_hangs_while_it_starts_is_ended_by_a_stop(world: World) -> None:
    pid_file = world.folder / "pid"
    start = [{"touch": str(pid_file), "content": "{pid}"}]
    world.agent("frozen", {"start": start, "on": {"initialize": [{"never": True}]}})
    session = world.create("frozen")
    answers: list[Exception] = []

    def prompt() -> None:
        with pytest.raises(ApiError) as refused, world.daemon.client() as client:
            client.request("POST", world.path(session, "/prompt"), body=world.prompt_body("go"))
        answers.append(refused.value)

    caller = threading.Thread(target=prompt)
    caller.start()
    wait_until(pid_file.exists, "the agent starts")
    assert world.refresh(session)["runtime"]["status"] == "binding"
    world.post(session, "/stop")
    caller.join(30)
    assert len(answers) == 1
    assert world.refresh(session)["state"] == "stopped" and world.types(session) == ["session_stopped"]
    wait_until(lambda: not Path(f"/proc/{pid_file.read_text()}/fd").exists(), "the agent is gone")


def test_waiting_for_a_person_is_not_silence(tmp_path: Path) -> None:
    rules = 'inactivity_warning_after = "100ms"\ninactivity_timeout = "500ms"\n'
    world = World(tmp_path, config=f"[session.supervision]\n{rules}").start()
    try:
        ask = {"permission": {"toolCallId": "c", "kind": "edit"}, "then": [{"text": "thanks"}]}
        world.agent("asker", {"prompts": [[ask]]}, permissions="approve-reads")
        session, thanks, end = world.create("asker"), "", time.monotonic() + PATIENCE
        # Before it asks and after it was answered, an agent on a busy machine may be silent for too long.
        while thanks != "thanks":
            assert time.monotonic() < end
            frames = world.frames(session)
            asked = next((f for f in frames if f is not None and f["type"] == "data-compozy-permission"), None)
            if asked is None:
                continue
            # Longer than the limit for silence, which must not end this turn.
            started = time.monotonic()
            wait_until(lambda: time.monotonic() - started > 1.0, "a second goes by")  # noqa: B023 - called here
            body = {"request_id": asked["id"], "turn_id": asked["data"]["turn_id"], "decision": "allow-once"}
            assert world.post(session, "/approve", body).status == 200
            thanks = "".join(f["delta"] for f in frames if f is not None and f["type"] == "text-delta")
    finally:
        world.end()


def test_a_workspace_that_vanished_is_named_and_its_history_stays_readable(world: World) -> None:
    world.agent("some")
    session = world.create("some")
    world.prompt(session)
    world.post(session, "/stop")
    shutil.rmtree(world.workspace)
    error = _refused(world, session)
    assert error.status == 410 and error.code == "workspace_root_missing"
    assert str(world.workspace) in str(error)
    assert len(world.get(session, "/transcript")["entries"]) == 2
