"""An agent asks something in words: listed, answered from anywhere, declined, refused when it cannot be shown."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

FORM = {
    "colour": {"type": "string", "title": "Which colour?", "enum": ["red", "blue"]},
    "count": {"type": "integer", "description": "How many?"},
    "sure": {"type": "boolean"},
}


def _elicit(fields: dict[str, Any], mode: str = "form") -> list[dict[str, object]]:
    schema = {"type": "object", "properties": fields}
    params = {"sessionId": "{session}", "mode": mode, "message": "Before I go on", "requestedSchema": schema}
    return [{"request": "elicitation/create", "params": params}, {"text": "{last}"}]


def _text(frames: Iterator[dict[str, Any] | None]) -> str:
    return "".join(frame["delta"] for frame in frames if frame is not None and frame["type"] == "text-delta")


def _waiting(world: World, session: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.get(session, "/clarifications")["clarifications"]
    return found


def _answer(world: World, session: dict[str, Any], **body: object) -> dict[str, Any]:
    wait_until(lambda: _waiting(world, session), "the question is there")
    path = f"/clarifications/{_waiting(world, session)[0]['request_id']}/answer"
    said: dict[str, Any] = world.post(session, path, body).json()  # type: ignore[assignment]
    return said


def test_a_form_is_asked_field_by_field_and_its_values_have_their_types(world: World) -> None:
    world.agent("asker", {"prompts": [_elicit(FORM)]})
    session = world.create("asker")
    frames = world.frames(session)
    asked = next(f for f in frames if f is not None and f["type"] == "data-compozy-event")
    assert asked["data"]["type"] == "clarify" and asked["data"]["title"] == "Before I go on — Which colour?"
    assert world.refresh(session)["badge"] == "waiting-for-input"
    (waiting,) = _waiting(world, session)
    assert waiting["choices"] == ["red", "blue"] and waiting["deadline"] > waiting["asked_at"]
    with pytest.raises(ApiError) as refused:
        _answer(world, session, choice_index=5)
    assert refused.value.status == 400 and "blue" in str(refused.value)
    assert _answer(world, session, choice_index=1) == {"choice": 1, "text": "blue", "fallback": False}
    wait_until(
        lambda: [q["question"] for q in _waiting(world, session)] == ["Before I go on — How many?"], "the next"
    )
    _answer(world, session, text="3")
    wait_until(
        lambda: [q["choices"] for q in _waiting(world, session) if "choices" in q] == [["yes", "no"]], "the last"
    )
    answer = world.client.request("GET", "/api/attention", query={"root": session["id"]}).json()
    assert isinstance(answer, dict) and answer["items"][0]["kind"] == "clarify"
    assert answer["items"][0]["command"].endswith("--choice 0")
    path = f"/api/attention/{answer['items'][0]['id']}/answer"
    world.client.request("POST", path, body={"text": "yes"})
    assert json.loads(_text(frames)) == {"action": "accept", "content": {"colour": "blue", "count": 3, "sure": True}}
    assert world.refresh(session)["pending_interactions"] == []


@pytest.mark.parametrize("how", ["decline", "no number", "cancel"])
def test_a_form_without_a_fitting_answer_is_cancelled(world: World, how: str) -> None:
    world.agent("asker", {"prompts": [_elicit({"count": {"type": "integer"}})]})
    session = world.create("asker")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "data-compozy-event")
    if how == "cancel":
        world.post(session, "/prompt/cancel")
        assert [f for f in frames if f is not None][-1]["type"] == "finish"
        interactions = world.get(session, "/interactions")["interactions"]
        assert [found["status"] for found in interactions] == ["canceled"]
        return
    said = _answer(world, session, **({"decline": True} if how == "decline" else {"text": "many"}))
    assert said["fallback"] is (how == "decline")
    assert json.loads(_text(frames)) == {"action": "cancel"}


@pytest.mark.parametrize(
    ("fields", "mode"), [({}, "form"), ({"list": {"type": "array"}}, "form"), ({"a": {"type": "string"}}, "url")]
)
def test_a_form_that_cannot_be_shown_is_refused_at_once(world: World, fields: dict[str, Any], mode: str) -> None:
    world.agent("asker", {"prompts": [_elicit(fields, mode)]})
    assert world.prompt(world.create("asker")).text.startswith("error -32602")
