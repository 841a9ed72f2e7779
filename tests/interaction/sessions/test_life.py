"""What a person does with whole sessions: rename, archive, take back, remove, also in the middle of a turn (§3.5)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.daemons import wait_until
from tests.kit.sessions import World


def refused(call: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(ApiError) as error:
        call()
    return error.value.status, str(error.value.code)


def _rename(world: World, session: dict[str, Any], name: str) -> dict[str, Any]:
    answer = world.client.request("PATCH", world.path(session), body={"name": name}).json()
    assert isinstance(answer, dict)
    found: dict[str, Any] = answer["session"]
    return found


def test_a_session_is_renamed_whatever_it_does_and_keeps_its_name(world: World) -> None:
    gate = world.folder / "gate"
    world.agent("slow", {"prompts": [[{"text": "one"}, {"wait_file": str(gate)}]]})
    session = world.create("slow")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    assert _rename(world, session, "  in a turn ")["name"] == "in a turn"
    gate.touch()
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    world.post(session, "/stop")
    assert _rename(world, session, "stopped")["name"] == "stopped"
    assert world.refresh(session)["name"] == "stopped"
    assert refused(lambda: _rename(world, session, " ")) == (400, "invalid_request")


def test_only_a_stopped_session_is_put_away_and_it_takes_nothing_until_it_is_back(world: World) -> None:
    world.agent("quiet")
    session = world.create("quiet")
    world.prompt(session)
    assert refused(lambda: world.post(session, "/archive")) == (409, "not_stopped")
    world.post(session, "/stop")
    first = world.post(session, "/archive").json()["session"]  # type: ignore[index]
    assert first["archived_at"] and world.post(session, "/archive").json()["session"] == first  # type: ignore[index]
    for rest in ("/prompt", "/rewind"):
        body = world.prompt_body("go") if rest == "/prompt" else {"message_id": "msg-1", "idempotency_key": "k"}
        assert refused(lambda rest=rest, body=body: world.post(session, rest, body)) == (409, "session_archived")
    # Its history stays readable.
    assert len(world.events(session)) > 2 and world.get(session, "/transcript")["entries"]
    listed = world.client.request(
        "GET", "/api/sessions", query={"agent": "quiet", "workspace": session["workspace_id"]}
    )
    assert listed.json()["sessions"] == []  # type: ignore[index]
    back = world.post(session, "/unarchive").json()["session"]  # type: ignore[index]
    assert back["archived_at"] is None
    assert world.prompt(session).finish == "stop"


def test_removing_a_session_in_a_turn_ends_its_agent_and_everything_of_it(world: World) -> None:
    pid_file = world.folder / "pid"
    world.agent(
        "slow",
        {"start": [{"touch": str(pid_file), "content": "{pid}"}], "prompts": [[{"text": "x"}, {"wait_cancel": 1}]]},
    )
    session = world.create("slow")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    world.post(session, "/prompt", world.prompt_body("waits"))
    pid = int(pid_file.read_text())
    assert world.client.request("DELETE", world.path(session)).status == 204
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the agent is gone")
    for rest in ("", "/events", "/transcript", "/prompt/queue"):
        assert refused(lambda rest=rest: world.get(session, rest)) == (404, "session_not_found")
    assert refused(lambda: world.client.request("DELETE", world.path(session))) == (404, "session_not_found")


def test_a_session_is_found_in_its_own_workspace_only(world: World) -> None:
    world.agent("quiet")
    session = world.create("quiet")
    elsewhere = world.folder / "elsewhere"
    elsewhere.mkdir()
    body = {"agent_name": "quiet", "workspace_path": str(elsewhere)}
    other = world.client.request("POST", "/api/sessions", body=body).json()["session"]  # type: ignore[index]
    stray = {**session, "workspace_id": other["workspace_id"]}
    for method, rest, sent in (
        ("GET", "", None),
        ("PATCH", "", {"name": "x"}),
        ("DELETE", "", None),
        ("POST", "/prompt", world.prompt_body("go")),
        ("POST", "/steer", {"text": "t", "message_id": "m", "idempotency_key": "k", "expected_turn_id": "t"}),
        ("POST", "/stop", {}),
        ("POST", "/archive", {}),
        ("POST", "/rewind", {"message_id": "m", "idempotency_key": "k"}),
        ("POST", "/clear", {}),
        ("GET", "/prompt/queue", None),
    ):
        path = world.path(stray, rest)
        call = lambda method=method, path=path, sent=sent: world.client.request(method, path, body=sent)  # noqa: E731
        assert refused(call) == (404, "session_not_found"), (method, rest)
    assert world.refresh(session)["state"] == "active"


def test_the_two_forms_of_a_prompt_must_agree(world: World) -> None:
    world.agent("quiet")
    session = world.create("quiet")
    messages = [
        {"role": "assistant", "parts": []},
        {"role": "user", "id": "u1", "parts": [{"type": "text", "text": "hi"}]},
    ]
    for body in ({"message": "other"}, {"message_id": "u2"}):
        given = {"message": "hi", "message_id": "u1", "idempotency_key": "k", "messages": messages, **body}
        assert refused(lambda given=given: world.post(session, "/prompt", given)) == (400, "invalid_request")
    for field in ("message", "message_id", "idempotency_key"):
        blank = {"message": "hi", "message_id": "u1", "idempotency_key": "k", field: " "}
        assert refused(lambda blank=blank: world.post(session, "/prompt", blank)) == (400, "invalid_request")
    too_long = world.prompt_body("x" * 70_000)
    assert refused(lambda: world.post(session, "/prompt", too_long)) == (413, "too_large")
    assert world.types(session) == []
    only = {"idempotency_key": "k", "messages": messages}
    with world.client.stream("POST", world.path(session, "/prompt"), body=only) as stream:
        assert list(stream)
    message = world.events(session, type="user_message")[0]["content"]
    assert (message["text"], message["message_id"]) == ("hi", "u1")
