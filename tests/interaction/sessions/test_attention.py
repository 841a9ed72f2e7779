"""What waits for a person, over all sessions and workspaces, and answering it from anywhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.sessions import World

ASK = {
    "permission": {"toolCallId": "c1", "title": "write notes", "kind": "edit", "locations": [{"path": "notes.txt"}]},
    "then": [{"text": "allowed"}],
    "else": [{"text": "refused"}],
}


def _object(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


def _items(world: World, **query: str) -> list[dict[str, Any]]:
    found = _object(world.client.request("GET", "/api/attention", query=query).json())
    assert found["total"] == len(found["items"])
    items: list[dict[str, Any]] = found["items"]
    return items


def _answer(world: World, item_id: str, **body: object) -> dict[str, Any]:
    return _object(world.client.request("POST", f"/api/attention/{item_id}/answer", body=body).json())


def _asked(world: World, session: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    frames = world.frames(session)
    assert _next_question(frames) is not None
    return frames


def _next_question(frames: Iterator[dict[str, Any] | None]) -> dict[str, Any] | None:
    asked = (f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    return next((frame for frame in asked if "decision" not in frame["data"]), None)


def _text(frames: Iterator[dict[str, Any] | None]) -> str:
    return "".join(frame["delta"] for frame in frames if frame is not None and frame["type"] == "text-delta")


def test_questions_of_every_workspace_are_listed_oldest_first_with_their_end_and_their_default(
    own_world: World, tmp_path: Path
) -> None:
    world = own_world
    world.agent("asker", {"prompts": [[ASK]]}, permissions="approve-reads")
    first = world.create("asker", name="first")
    (tmp_path / "other").mkdir()
    frames = _asked(world, first)
    body = {"agent_name": "asker", "workspace_path": str(tmp_path / "other")}
    second = _object(world.client.request("POST", "/api/sessions", body=body).json())["session"]
    others = _asked(world, second)
    items = _items(world)
    assert [item["session_id"] for item in items] == [first["id"], second["id"]]
    item = items[0]
    assert (item["kind"], item["question"], item["action"]) == ("permission", "write notes", "edit")
    assert item["resource"] == "notes.txt" and item["session_name"] == "first" and item["agent_name"] == "asker"
    assert item["default_decision"] == "reject-once" and item["expires_at"] > item["asked_at"]
    assert item["root_session_id"] == first["id"]
    assert item["command"] == f"compozy attention answer {item['id']} --decision {item['decisions'][0]}"
    assert [found["session_id"] for found in _items(world, workspace=second["workspace_id"])] == [second["id"]]
    assert [found["session_id"] for found in _items(world, root=first["id"])] == [first["id"]]
    done = _answer(world, items[1]["id"], decision="allow-once")
    assert done == {
        "id": items[1]["id"],
        "session_id": second["id"],
        "kind": "permission",
        "outcome": "applied",
        "decision": "allow-once",
    }
    assert _text(others) == "allowed"
    assert [found["session_id"] for found in _items(world)] == [first["id"]]
    _answer(world, items[0]["id"], decision="reject-once")
    assert _text(frames) == "refused" and _items(world) == []


def test_an_answer_that_does_not_fit_or_comes_too_late_is_refused(world: World) -> None:
    world.agent("asker", {"prompts": [[ASK]]}, permissions="approve-reads")
    session = world.create("asker")
    frames = _asked(world, session)
    item = next(item for item in _items(world) if item["session_id"] == session["id"])
    for body in ({}, {"decision": "maybe"}, {"text": "yes"}, {"decision": "allow-once", "choice_index": 0}):
        with pytest.raises(ApiError) as refused:
            _answer(world, item["id"], **body)
        assert refused.value.status == 400, body
    world.post(session, "/prompt/cancel")
    assert [frame for frame in frames if frame is not None][-1]["type"] == "finish"
    with pytest.raises(ApiError) as late:
        _answer(world, item["id"], decision="allow-once")
    assert late.value.status == 409 and item["id"] in str(late.value)


def test_the_pending_record_and_the_event_say_what_is_answered_when_nobody_does(world: World) -> None:
    world.agent("asker", {"prompts": [[ASK]]}, permissions="approve-reads")
    session = world.create("asker")
    frames = _asked(world, session)
    pending = world.refresh(session)["pending_interactions"][0]
    event = world.events(session, type="permission")[0]["content"]
    for stated in (pending, event):
        assert stated["default_decision"] == "reject-once" and stated["expires_at"] == pending["expires_at"]
    assert f"reject-once at {pending['expires_at']}" in event["text"]
    world.post(session, "/prompt/cancel")
    assert [frame for frame in frames if frame is not None][-1]["type"] == "finish"


def test_an_agent_that_wants_a_login_waits_for_a_person(world: World) -> None:
    refuse = {"on": {"session/new": [{"error": {"code": -32000, "message": "log in first"}}]}}
    world.agent("locked", refuse)
    session = world.create("locked")
    with pytest.raises(ApiError):
        world.prompt(session)
    assert world.refresh(session)["badge"] == "waiting-for-auth"
    item = next(item for item in _items(world) if item["session_id"] == session["id"])
    assert item["kind"] == "auth" and item["id"] == f"auth:{session['id']}" and "log in first" in item["question"]
    assert item["command"] == "compozy provider auth login offline"
    with pytest.raises(ApiError) as refused:
        _answer(world, item["id"], decision="allow-once")
    assert refused.value.status == 409 and "provider auth login" in str(refused.value)


def test_ids_of_questions_clash_with_a_number(world: World) -> None:
    same = {"permission": {"title": "again", "kind": "edit"}, "meta": {"request_id": "r"}}
    world.agent(
        "asker",
        {"prompts": [[same, same, {"permission": {"kind": "fetch", "toolCallId": "", "title": ""}}]]},
        permissions="approve-reads",
    )
    session = world.create("asker")
    frames = _asked(world, session)
    asked = []
    for _ in range(3):
        item = next(item for item in _items(world) if item["session_id"] == session["id"])
        asked.append((item["request_id"], item["turn_id"]))
        _answer(world, item["id"], decision="allow-once")
        _next_question(frames)
    turn = asked[0][1]
    assert [request for request, _ in asked] == ["r", "r:2", f"{turn}:fetch"]
