"""From a definition to a finished turn over the real daemon: create, bind on the first prompt, stream, store."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.agents import fake_agent_command, received
from tests.kit.daemons import wait_until
from tests.kit.sessions import World


def test_a_new_session_is_active_and_unbound_and_starts_no_process(world: World) -> None:
    record = world.folder / "record"
    world.agent("quiet", {"record": str(record)})
    session = world.create("quiet", name="demo")
    assert session["state"] == "active"
    assert session["runtime"]["status"] == "unbound"
    assert session["runtime"]["selection_revision"] == 0
    assert session["archived_at"] is None and session["name"] == "demo"
    assert world.types(session) == []
    assert not record.exists()


def test_a_prompt_streams_frames_and_ends_with_done(world: World) -> None:
    world.agent("teller", {"prompts": [[{"thought": "hm"}, {"text": "one "}, {"text": "two"}]]})
    session = world.create("teller")
    stream = world.prompt(session)
    assert [frame["type"] for frame in stream.frames] == [
        "start",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-delta",
        "text-end",
        "finish",
    ]
    assert stream.text == "one two"
    assert stream.finish == "stop" and stream.done


def test_what_a_stream_shows_is_what_the_store_holds(world: World) -> None:
    steps: list[dict[str, object]] = [
        {"plan": ["look", "tell"]},
        {"tool_call": {"toolCallId": "c1", "title": "look", "kind": "read", "status": "pending"}},
        {"tool_update": {"toolCallId": "c1", "status": "completed"}},
        {"text": "done"},
    ]
    world.agent("worker", {"prompts": [steps]})
    session = world.create("worker")
    stream = world.prompt(session)
    assert world.types(session) == ["user_message", "plan", "tool_call", "tool_result", "agent_message", "done"]
    shown = [frame["data"] for frame in stream.of("data-compozy-event")]
    stored = [event["content"] for event in world.events(session) if event["type"] in ("plan", "tool_call")]
    assert shown == stored
    sequences = [event["sequence"] for event in world.events(session)]
    assert sequences == list(range(1, len(sequences) + 1))


def test_the_first_prompt_carries_the_guidance_and_the_second_does_not(world: World) -> None:
    record = world.folder / "record"
    world.agent("quiet", {"record": str(record)})
    session = world.create("quiet")
    world.prompt(session, "first words")
    world.prompt(session, "second words")
    prompts = [m["params"] for m in received(record) if m.get("method") == "session/prompt"]
    assert isinstance(prompts[0], dict) and isinstance(prompts[1], dict)
    first, second = (p["prompt"][0]["text"] for p in prompts)  # type: ignore[index]
    assert "<compozy-runtime-context>" in first and f"session_id: {session['id']}" in first
    assert "You do what your script says." in first
    assert first.endswith("User request:\nfirst words")
    assert second == "second words"


def test_the_transcript_holds_user_and_assistant_messages(world: World) -> None:
    world.agent("teller", {"prompts": [[{"text": "a"}, {"text": "b"}]]})
    session = world.create("teller")
    turn = world.prompt(session, "tell").turn_id
    page = world.get(session, "/transcript")
    user, assistant = (entry["message"] for entry in page["entries"])
    assert user["role"] == "user" and user["parts"][0]["text"] == "tell"
    assert assistant["role"] == "assistant" and assistant["id"] == turn
    assert assistant["parts"] == [{"type": "text", "text": "ab", "state": "done"}]
    assert page["max_sequence"] == 4 and not page["has_older"]


def test_a_retry_with_the_same_identity_runs_nothing_twice(world: World) -> None:
    world.agent("teller", {"prompts": [[{"text": "once"}]]})
    session = world.create("teller")
    body = world.prompt_body("tell me")
    with world.client.stream("POST", world.path(session, "/prompt"), body=body) as stream:
        assert list(stream)
    before = world.types(session)
    again = world.post(session, "/prompt", body)
    assert again.status == 202
    answer = again.json()["prompt"]
    assert answer["replayed"] is True and answer["status"] == "accepted"
    assert world.types(session) == before


def test_the_same_key_with_other_text_is_a_conflict(world: World) -> None:
    world.agent("teller")
    session = world.create("teller")
    body = world.prompt_body("tell me")
    with world.client.stream("POST", world.path(session, "/prompt"), body=body) as stream:
        assert list(stream)
    with pytest.raises(ApiError) as refused:
        world.post(session, "/prompt", {**body, "message": "something else"})
    assert refused.value.status == 409
    assert refused.value.code == "prompt_idempotency_conflict"


def test_a_prompt_goes_on_when_its_client_goes_away(world: World) -> None:
    gate = world.folder / "gate"
    world.agent("slow", {"prompts": [[{"text": "first"}, {"wait_file": str(gate)}, {"text": "second"}]]})
    session = world.create("slow")
    with world.client.stream("POST", world.path(session, "/prompt"), body=world.prompt_body("go")) as stream:
        for event in stream:
            if event is not None and "text-delta" in event.data:
                break
    gate.touch()
    wait_until(lambda: "done" in world.types(session), "the turn ends without its client")
    texts = [event["content"]["text"] for event in world.events(session, type="agent_message")]
    assert texts == ["first", "second"]


def test_a_cancelled_turn_is_recorded_as_cancelled_with_what_the_agent_said(world: World) -> None:
    world.agent(
        "stubborn",
        {
            "prompts": [[{"text": "working"}, {"wait_cancel": True}]],
            "cancel": "end_turn",
            "late": [{"text": "late 1"}, {"text": "late 2"}],
        },
    )
    session = world.create("stubborn")
    frames = world.frames(session)
    turn = next(f for f in frames if f is not None)["messageId"]
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    first = world.post(session, "/prompt/cancel").json()
    second = world.post(session, "/prompt/cancel").json()
    assert first == {"session_id": session["id"], "outcome": "canceled", "turn_id": turn}
    assert second["outcome"] in ("canceled", "nothing-in-flight")
    rest = [f for f in frames if f is not None]
    assert rest[-1] == {"type": "finish", "finishReason": "other"}
    wait_until(lambda: len(world.events(session, type="agent_message")) == 3, "the late updates are stored")
    events = world.events(session)
    assert {event["turn_id"] for event in events} == {turn}
    done = next(event for event in events if event["type"] == "done")
    assert done["content"]["stop_reason"] == "cancelled" and "end_turn" in done["content"]["text"]
    assert world.refresh(session)["state"] == "active"
    assert world.post(session, "/prompt/cancel").json()["outcome"] == "nothing-in-flight"


def test_an_agent_that_ignores_a_cancel_loses_its_process_and_the_session_goes_on(tmp_path: Path) -> None:
    world = World(tmp_path, config='[session.supervision]\ntimeout_cancel_grace = "200ms"\n').start()
    try:
        world.agent("deaf", {"prompts": [[{"text": "working"}, {"never": True}]], "cancel": "ignore"})
        session = world.create("deaf")
        frames = world.frames(session)
        next(f for f in frames if f is not None and f["type"] == "text-delta")
        world.post(session, "/prompt/cancel")
        assert [f for f in frames if f is not None][-1]["type"] == "finish"
        done = world.events(session, type="done")[0]["content"]
        assert done["stop_reason"] == "cancelled" and "process was ended" in done["text"]
        assert world.refresh(session)["state"] == "active"
        assert world.prompt(session, '!steps [{"text": "back"}]').text == "back"
    finally:
        world.end()


def test_dangling_tool_calls_are_closed_when_the_turn_ends(world: World) -> None:
    world.agent("careless", {"prompts": [[{"tool_call": {"toolCallId": "t1", "title": "dig", "kind": "execute"}}]]})
    session = world.create("careless")
    stream = world.prompt(session)
    assert world.types(session) == ["user_message", "tool_call", "tool_result", "done"]
    assert len(stream.of("tool-output-available")) == 1
    parts = world.get(session, "/transcript")["entries"][1]["message"]["parts"]
    assert parts[0]["state"] == "output-error"


def test_stopping_ends_the_process_and_stopping_again_is_fine(world: World) -> None:
    pid_file = world.folder / "pid"
    world.agent("quiet", {"start": [{"touch": str(pid_file), "content": "{pid}"}]})
    session = world.create("quiet")
    world.prompt(session)
    pid = int(pid_file.read_text())
    assert world.post(session, "/stop").status == 204
    assert world.post(session, "/stop").status == 204
    wait_until(lambda: not _lives(pid), "the agent's process is gone")
    stopped = world.refresh(session)
    assert stopped["state"] == "stopped" and stopped["badge"] == "stopped"
    assert world.types(session)[-1] == "session_stopped"


def test_a_prompt_restarts_a_stopped_session_and_says_that_the_agent_forgot(world: World) -> None:
    record = world.folder / "record"
    world.agent(
        "quiet",
        {
            "record": str(record),
            "capabilities": {"loadSession": False},
            "prompts": [[{"text": "I said blue"}]],
        },
    )
    session = world.create("quiet")
    world.prompt(session, "which colour?")
    world.post(session, "/stop")
    stream = world.prompt(session, "again?")
    marker = world.events(session, type="transcript_marker.created")[0]
    assert marker["turn_id"] == stream.turn_id and marker["content"]["title"] == "context_lost"
    assert stream.of("data-compozy-event")[0]["data"] == marker["content"]
    prompts = [m["params"] for m in received(record) if m.get("method") == "session/prompt"]
    text = prompts[-1]["prompt"][0]["text"]  # type: ignore[index]
    assert "user: which colour?" in text and "assistant: I said blue" in text
    session = world.refresh(session)
    assert session["state"] == "active" and "stop_reason" not in session


def test_a_restarted_agent_that_can_load_gets_its_session_back_without_repeating_history(world: World) -> None:
    record = world.folder / "record"
    world.agent(
        "keeper",
        {
            "record": str(record),
            "capabilities": {"loadSession": True},
            "prompts": [[{"text": "old"}]],
            "replay": [{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "old"}}],
            "replay_after": [{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "old"}}],
        },
    )
    session = world.create("keeper")
    world.prompt(session)
    world.post(session, "/stop")
    world.prompt(session, "more")
    assert [m["method"] for m in received(record)].count("session/load") == 1
    assert "transcript_marker.created" not in world.types(session)
    assert len(world.events(session, type="agent_message")) == 2


def test_two_prompts_at_once_run_one_after_the_other(world: World) -> None:
    gate = world.folder / "gate"
    world.agent("slow", {"prompts": [[{"text": "one"}, {"wait_file": str(gate)}], [{"text": "two"}]]})
    session = world.create("slow")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    queued = world.post(session, "/prompt", world.prompt_body("second"))
    assert queued.status == 202
    answer = queued.json()["prompt"]
    assert answer["status"] == "queued" and answer["delivery"] == "after_turn" and answer["queue_position"] == 1
    gate.touch()
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    wait_until(lambda: world.types(session).count("done") == 2, "the queued prompt runs")
    assert [e["content"]["text"] for e in world.events(session, type="user_message")] == ["go", "second"]


def test_two_subscribers_see_every_event_in_the_same_order(world: World) -> None:
    world.agent("flooder", {"prompts": [[{"flood": 3000}]]})
    session = world.create("flooder")
    seen: list[list[str]] = [[], []]

    def read(into: list[str]) -> None:
        with world.client.stream("GET", world.path(session, "/stream"), query={"frames": "raw"}) as stream:
            for event in stream:
                if event is not None:
                    into.append(f"{event.id}:{event.event}")
                    if event.event == "done":
                        return

    readers = [threading.Thread(target=read, args=(into,)) for into in seen]
    for reader in readers:
        reader.start()
    world.prompt(session)
    for reader in readers:
        reader.join(30)
    stored = [f"{e['sequence']}:{e['type']}" for e in _all_events(world, session)]
    assert seen[0] == seen[1] == stored
    assert len(stored) == 3002


def test_a_subscriber_that_stops_reading_holds_nobody_up(world: World) -> None:
    world.agent("flooder", {"prompts": [[{"flood": 20000, "text": "x" * 200}]]})
    session = world.create("flooder")
    with world.client.stream("GET", world.path(session, "/stream"), query={"frames": "raw"}):
        stream = world.prompt(session)
        assert len(stream.of("text-delta")) == 20000
        assert world.refresh(session)["state"] == "active"


def test_a_raw_stream_resumes_after_an_event_id(world: World) -> None:
    world.agent("teller", {"prompts": [[{"text": "a"}, {"text": "b"}]]})
    session = world.create("teller")
    world.prompt(session)
    world.post(session, "/stop")
    with world.client.stream(
        "GET", world.path(session, "/stream"), query={"frames": "raw"}, headers={"Last-Event-ID": "2"}
    ) as stream:
        events = [(event.id, event.event) for event in stream if event is not None]
    assert events == [("3", "agent_message"), ("4", "done"), ("5", "session_stopped")]


def test_a_transcript_stream_snapshots_then_follows_and_ends_with_the_session(world: World) -> None:
    world.agent("teller", {"prompts": [[{"text": "first"}], [{"text": "second"}]]})
    session = world.create("teller")
    world.prompt(session)
    seen: list[tuple[str, str]] = []
    ready = threading.Event()

    def read() -> None:
        with world.client.stream("GET", world.path(session, "/stream")) as stream:
            for event in stream:
                if event is not None:
                    seen.append((event.event or "", event.data))
                    ready.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert ready.wait(30)
    world.prompt(session, "more")
    world.post(session, "/stop")
    reader.join(30)
    kinds = [kind for kind, _ in seen]
    assert kinds[0] == "transcript_snapshot" and kinds[-1] == "session_stopped"
    assert "transcript_delta" in kinds
    assert '"first"' in seen[0][1] and "second" not in seen[0][1]
    assert any("second" in data for kind, data in seen if kind == "transcript_delta")


def _all_events(world: World, session: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while True:
        page = world.events(session, after_sequence=found[-1]["sequence"] if found else 0)
        found.extend(page)
        if len(page) < 1000:
            return found


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


MODELS = [
    {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "small",
        "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
    }
]


def test_a_prompt_may_choose_the_model_and_the_choice_stays(world: World) -> None:
    record = world.folder / "record"
    world.agent("able", {"config_options": MODELS, "record": str(record), "prompts": [[{"text": "ok"}]]})
    session = world.create("able")
    world.prompt(session, runtime={"provider": "offline", "model": "large"})
    assert world.refresh(session)["runtime"]["effective"] == {"provider": "offline", "model": "large"}
    world.prompt(session, runtime={"provider": "offline", "model": "small"})
    runtime = world.refresh(session)["runtime"]
    assert runtime["selected"]["model"] == "small" and runtime["selection_revision"] == 2
    world.post(session, "/stop")
    world.prompt(session)
    sent = [m["params"]["value"] for m in received(record) if m.get("method") == "session/set_config_option"]  # type: ignore[index]
    assert sent == ["large", "small", "small"]


def test_a_choice_that_cannot_be_met_changes_nothing(world: World) -> None:
    world.agent("able", {"config_options": MODELS, "prompts": [[{"text": "ok"}]]})
    session = world.create("able")
    world.prompt(session)
    before = world.refresh(session)["runtime"]
    for choice, status in (({"provider": "offline", "model": "huge"}, 422), ({"provider": "nobody"}, 400)):
        with pytest.raises(ApiError) as refused:
            world.post(session, "/prompt", world.prompt_body("go", runtime=choice))
        assert refused.value.status == status
    assert world.refresh(session)["runtime"] == before
    assert world.prompt(session).text == "ok"


def test_another_provider_is_another_process_that_is_told_the_transcript(tmp_path: Path) -> None:
    record = tmp_path / "record"
    script = {"record": str(record), "prompts": [[{"text": "the other speaks"}]]}
    command = fake_agent_command(tmp_path, script, name="other")
    world = World(tmp_path, config=f"[providers.other]\ncommand = {json.dumps(command)}\n").start()
    try:
        world.agent("able", {"prompts": [[{"text": "I said blue ({pid})"}]]})
        session = world.create("able")
        first = int(world.prompt(session, "which colour?").text.partition("(")[2].rstrip(")"))
        stream = world.prompt(session, "and now?", runtime={"provider": "other"})
        assert stream.text == "the other speaks" and not _lives(first)
        assert [frame["data"]["title"] for frame in stream.of("data-compozy-event")] == ["context_lost"]
        told = [m["params"]["prompt"][0]["text"] for m in received(record) if m.get("method") == "session/prompt"]  # type: ignore[index]
        assert "user: which colour?" in told[0] and "I said blue" in told[0]
        assert world.refresh(session)["runtime"]["effective"]["provider"] == "other"
        assert "session/load" not in [m.get("method") for m in received(record)]
    finally:
        world.end()


def test_a_choice_made_on_an_older_one_is_refused(world: World) -> None:
    world.agent("able")
    session = world.create("able")
    body = {"runtime": {"provider": "offline"}, "expected_revision": 7}
    with pytest.raises(ApiError) as refused:
        world.client.request("PUT", world.path(session, "/runtime"), body=body)
    assert refused.value.status == 409
    answer = world.client.request(
        "PUT", world.path(session, "/runtime"), body={**body, "expected_revision": 0}
    ).json()
    assert isinstance(answer, dict) and answer["session"]["runtime"]["selection_revision"] == 1


def test_an_agent_gets_the_servers_of_its_definition_where_no_tools_are_hosted(plain_world: World) -> None:
    world = plain_world
    record = world.folder / "record"
    world.agent("tooled", {"record": str(record)})
    (world.daemon.home.agents / "tooled" / "mcp.json").write_text(
        '{"mcpServers": {"notes": {"command": "notes-srv", "args": ["-v"], "env": {"B": "2", "A": "1"}}}}'
    )
    session = world.create("tooled")
    world.prompt(session)
    world.post(session, "/stop")
    world.prompt(session)
    opened = [m for m in received(record) if m.get("method") in ("session/new", "session/load")]
    expected = {
        "name": "notes",
        "command": "notes-srv",
        "args": ["-v"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
    }
    assert [m["params"]["mcpServers"] for m in opened] == [[expected]] * 2  # type: ignore[index]


def test_a_servers_missing_secret_stops_the_start_and_is_named(world: World) -> None:
    record = world.folder / "record"
    world.agent("tooled", {"record": str(record)})
    (world.daemon.home.agents / "tooled" / "mcp.json").write_text(
        '{"mcpServers": {"notes": {"command": "notes-srv", "secret_env": {"KEY_X": "env:NOT_SET_ANYWHERE"}}}}'
    )
    with pytest.raises(ApiError) as refused:
        world.create("tooled")
    assert refused.value.code == "mcp_secret_unresolved"
    for word in ("'notes'", "KEY_X", "NOT_SET_ANYWHERE"):
        assert word in str(refused.value)
    assert not record.exists()


def test_a_waiting_prompt_can_be_withdrawn_and_one_may_interrupt(world: World) -> None:
    world.agent("slow", {"prompts": [[{"text": "one"}, {"wait_cancel": True}], [{"text": "two"}]]})
    session = world.create("slow")
    frames = world.frames(session)
    turn = next(f for f in frames if f is not None)["messageId"]
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    queued = world.post(session, "/prompt", world.prompt_body("never mind")).json()
    assert isinstance(queued, dict)
    entry = queued["prompt"]["queue_entry_id"]
    assert [item["id"] for item in world.get(session, "/prompt/queue")["inputs"]] == [entry]
    gone = world.client.request("DELETE", world.path(session, f"/prompt/queue/{entry}")).json()
    assert isinstance(gone, dict) and gone["prompt"]["status"] == "canceled"
    with pytest.raises(ApiError) as stale:
        world.post(session, "/prompt", world.prompt_body("x", mode="interrupt", expected_turn_id="turn-0"))
    assert stale.value.status == 409
    answer = world.post(session, "/prompt", world.prompt_body("now", mode="interrupt", expected_turn_id=turn))
    assert answer.status == 202
    wait_until(lambda: world.types(session).count("done") == 2, "the interrupting prompt runs")
    reasons = [event["content"]["stop_reason"] for event in world.events(session, type="done")]
    assert reasons == ["cancelled", "end_turn"]
    assert [e["content"]["text"] for e in world.events(session, type="user_message")] == ["go", "now"]


def test_an_agent_that_cannot_load_its_session_continues_in_a_new_one_and_that_is_said(world: World) -> None:
    world.agent(
        "forgetful",
        {
            "capabilities": {"loadSession": True},
            "load_error": {"code": -32002, "message": "Resource not found"},
            "prompts": [[{"text": "hello"}]],
        },
    )
    session = world.create("forgetful")
    world.prompt(session)
    world.post(session, "/stop")
    stream = world.prompt(session)
    assert stream.text == "hello"
    assert [f["data"]["title"] for f in stream.of("data-compozy-event")] == ["context_lost"]
