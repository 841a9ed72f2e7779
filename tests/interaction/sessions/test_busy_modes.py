"""What becomes of prompts that meet a running turn: queue, interrupt, steer, edit, promote, withdraw, replay.

Over the real daemon with scripted agents (contract §3.5 Prompt and `…/prompt/queue`; P53, P67).
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

Frames = Iterator[dict[str, Any] | None]


class Busy:
    """A session in the middle of a turn that waits for `gate`."""

    def __init__(self, world: World, *steps: dict[str, object], cap: int = 0) -> None:
        self.world = world
        self.gate = world.folder / "gate"
        first = [{"text": "one"}, *steps, {"wait_file": str(self.gate)}, {"text": "last of one"}]
        world.agent("slow", {"prompts": [first, [{"text": "two"}], [{"text": "three"}]]})
        self.session = world.create("slow")
        self.frames: Frames = world.frames(self.session)
        self.turn = next(f for f in self.frames if f is not None)["messageId"]
        next(f for f in self.frames if f is not None and f["type"] == "text-delta")

    def queue(self, text: str, **body: object) -> dict[str, Any]:
        answer = self.world.post(self.session, "/prompt", self.world.prompt_body(text, **body))
        assert answer.status == 202
        found: dict[str, Any] = answer.json()["prompt"]
        return found

    def waiting(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.world.get(self.session, "/prompt/queue")["inputs"]
        return found

    def send(self, method: str, rest: str, body: dict[str, object]) -> dict[str, Any]:
        answer = self.world.client.request(method, self.world.path(self.session, rest), body=body).json()
        assert isinstance(answer, dict)
        return answer

    def prompts(self) -> list[str]:
        return [event["content"]["text"] for event in self.world.events(self.session, type="user_message")]

    def finish(self, turns: int) -> None:
        self.gate.touch()
        wait_until(lambda: self.world.types(self.session).count("done") == turns, "the waiting prompts run")


def _steer_body(turn: str, text: str = "rather this", number: int = 1) -> dict[str, object]:
    return {
        "text": text,
        "message_id": f"steer-{number}",
        "idempotency_key": f"steer-key-{number}",
        "expected_turn_id": turn,
    }


def _refused(call: Callable[[], object], status: int, code: str) -> ApiError:
    with pytest.raises(ApiError) as refused:
        call()
    assert (refused.value.status, refused.value.code) == (status, code)
    return refused.value


def test_a_message_that_steers_takes_over_when_the_running_tool_has_its_result(world: World) -> None:
    gate = world.folder / "tool"
    busy = Busy(
        world,
        {"tool_call": {"toolCallId": "t1", "title": "dig", "kind": "execute"}},
        {"wait_file": str(gate)},
        {"tool_update": {"toolCallId": "t1", "status": "completed"}},
    )
    busy.queue("waits its turn")
    answer = busy.send("POST", "/steer", _steer_body(busy.turn))["prompt"]
    assert answer["status"] == "steering" and answer["delivery"] == "interrupt_then_prompt"
    assert answer["previous_turn_id"] == busy.turn and answer["queue_position"] == 1
    assert [item["text"] for item in busy.waiting()] == ["rather this", "waits its turn"]
    assert busy.waiting()[0]["target_turn_id"] == busy.turn
    assert world.types(busy.session).count("done") == 0
    gate.touch()
    # Nobody opens the gate of the first turn: it ends because it was steered.
    wait_until(lambda: world.types(busy.session).count("done") == 3, "the steering message and the other run")
    ends = world.events(busy.session, type="done")
    assert ends[0]["content"]["stop_reason"] == "cancelled"
    assert answer["new_turn_id"] in ends[0]["content"]["text"]
    assert [end["content"]["stop_reason"] for end in ends[1:]] == ["end_turn", "end_turn"]
    assert busy.prompts() == ["go", "rather this", "waits its turn"]
    # The tool was not cut off: its own result stands, not one of ours.
    results = world.events(busy.session, type="tool_result")
    assert [result["content"].get("error", "") for result in results] == [""]


def test_a_message_that_steers_a_turn_without_tools_goes_first_after_it(world: World) -> None:
    busy = Busy(world)
    busy.queue("later")
    answer = busy.queue("rather this", mode="steer", expected_turn_id=busy.turn)
    assert answer["status"] == "steering" and answer["mode"] == "steer"
    busy.finish(3)
    assert busy.prompts() == ["go", "rather this", "later"]
    assert world.events(busy.session, type="done")[0]["content"]["stop_reason"] == "end_turn"


def test_a_stale_fence_is_refused_and_leaves_nothing(world: World) -> None:
    busy = Busy(world)
    error = _refused(lambda: world.post(busy.session, "/steer", _steer_body("turn-0")), 409, "session_busy")
    assert error.envelope["diagnostic"]["evidence"] == {"expected_turn_id": "turn-0", "turn_id": busy.turn}
    for mode in ("steer", "interrupt"):
        body = world.prompt_body("x", mode=mode, expected_turn_id="turn-0")
        _refused(lambda body=body: world.post(busy.session, "/prompt", body), 409, "session_busy")
    body = world.prompt_body("x", mode="interrupt")
    _refused(lambda: world.post(busy.session, "/prompt", body), 409, "session_busy")
    assert busy.waiting() == []
    busy.finish(1)
    _refused(lambda: world.post(busy.session, "/steer", _steer_body(busy.turn)), 409, "prompt_not_in_progress")
    assert world.types(busy.session).count("user_message") == 1


def test_a_retry_of_a_message_that_steers_is_answered_as_it_stands(world: World) -> None:
    busy = Busy(world)
    first = busy.send("POST", "/steer", _steer_body(busy.turn))["prompt"]
    again = busy.send("POST", "/steer", _steer_body(busy.turn))["prompt"]
    assert again["replayed"] and not first["replayed"]
    assert again["queue_entry_id"] == first["queue_entry_id"] and again["status"] == "steering"
    other = _steer_body(busy.turn, "something else")
    _refused(lambda: world.post(busy.session, "/steer", other), 409, "prompt_idempotency_conflict")
    assert len(busy.waiting()) == 1
    busy.finish(2)
    after = busy.send("POST", "/steer", _steer_body(busy.turn))["prompt"]
    assert after["replayed"] and after["status"] == "accepted" and after["new_turn_id"] == first["new_turn_id"]


def test_a_waiting_prompt_gets_another_text_and_keeps_its_place(world: World) -> None:
    busy = Busy(world)
    first, second = busy.queue("first"), busy.queue("second")
    edit: dict[str, object] = {"text": "better", "message_id": "edit-1", "idempotency_key": "edit-key-1"}
    rest = f"/prompt/queue/{first['queue_entry_id']}"
    for _ in range(2):
        # The second time is a retry of the first.
        changed = busy.send("PUT", rest, edit)["input"]
        assert changed["text"] == "better" and changed["message_id"] == "edit-1"
        assert changed["id"] == first["queue_entry_id"]
    assert [item["text"] for item in busy.waiting()] == ["better", "second"]
    assert busy.waiting()[0]["queue_generation"] > second["queue_generation"]
    busy.finish(3)
    assert busy.prompts() == ["go", "better", "second"]
    messages = world.events(busy.session, type="user_message")
    assert messages[1]["content"]["message_id"] == "edit-1"
    assert messages[1]["turn_id"] == first["new_turn_id"]


def test_an_edit_may_not_take_the_identity_of_another_prompt(world: World) -> None:
    busy = Busy(world)
    first, second = busy.queue("first"), busy.queue("second")
    rest = f"/prompt/queue/{first['queue_entry_id']}"
    for names, code in (
        ({"message_id": "new", "idempotency_key": second["idempotency_key"]}, "prompt_idempotency_conflict"),
        ({"message_id": second["message_id"], "idempotency_key": "new"}, "prompt_message_identity_conflict"),
    ):
        _refused(lambda names=names: busy.send("PUT", rest, {"text": "x", **names}), 409, code)
    assert [item["text"] for item in busy.waiting()] == ["first", "second"]
    for missing in ("text", "message_id", "idempotency_key"):
        body: dict[str, object] = {"text": "x", "message_id": "m", "idempotency_key": "k", missing: " "}
        _refused(lambda body=body: busy.send("PUT", rest, body), 400, "invalid_request")
    too_long: dict[str, object] = {"text": "x" * 70_000, "message_id": "m", "idempotency_key": "k"}
    _refused(lambda: busy.send("PUT", rest, too_long), 413, "too_large")
    busy.finish(3)


def test_a_waiting_prompt_can_be_promoted_to_steer(world: World) -> None:
    busy = Busy(world)
    busy.queue("first")
    second = busy.queue("second")
    rest = f"/prompt/queue/{second['queue_entry_id']}/steer"
    _refused(lambda: busy.send("POST", rest, _steer_body("turn-0")), 409, "session_busy")
    answer = busy.send("POST", rest, _steer_body(busy.turn, "second, at once"))["prompt"]
    assert answer["status"] == "steering" and answer["queue_position"] == 1
    assert answer["new_turn_id"] == second["new_turn_id"]
    busy.finish(3)
    assert busy.prompts() == ["go", "second, at once", "first"]


def test_what_no_longer_waits_cannot_be_changed(world: World) -> None:
    busy = Busy(world)
    entry = busy.queue("first")["queue_entry_id"]
    busy.send("DELETE", f"/prompt/queue/{entry}", {})
    edit: dict[str, object] = {"text": "x", "message_id": "m", "idempotency_key": "k"}
    code = "queue_entry_not_found"
    for known in (entry, "inp-0000000000000000"):
        rest = f"/prompt/queue/{known}"
        _refused(lambda rest=rest: busy.send("PUT", rest, edit), 404, code)
        _refused(lambda rest=rest: busy.send("DELETE", rest, {}), 404, code)
        _refused(lambda rest=rest: busy.send("POST", f"{rest}/steer", _steer_body(busy.turn)), 404, code)
    busy.finish(1)
    assert busy.prompts() == ["go"]


def test_a_retry_of_a_withdrawn_prompt_says_so_and_runs_nothing(world: World) -> None:
    busy = Busy(world)
    body = world.prompt_body("never mind")
    queued = world.post(busy.session, "/prompt", body).json()["prompt"]
    again = world.post(busy.session, "/prompt", body).json()["prompt"]
    assert again["replayed"] and again["status"] == "queued"
    assert again["queue_entry_id"] == queued["queue_entry_id"] and again["queue_position"] == 1
    busy.send("DELETE", f"/prompt/queue/{queued['queue_entry_id']}", {})
    after = world.post(busy.session, "/prompt", body).json()["prompt"]
    assert after["replayed"] and after["status"] == "canceled" and after["delivery"] == "none"
    busy.finish(1)


def test_a_full_queue_is_413_and_takes_more_once_there_is_room(tmp_path: Path) -> None:
    world = World(tmp_path, config="[session.busy_input]\nqueue_cap = 2\n").start()
    try:
        busy = Busy(world)
        entries = [busy.queue(f"number {n}") for n in range(2)]
        body = world.prompt_body("one too many")
        _refused(lambda: world.post(busy.session, "/prompt", body), 413, "session_queue_full")
        _refused(lambda: world.post(busy.session, "/steer", _steer_body(busy.turn)), 413, "session_queue_full")
        busy.send("DELETE", f"/prompt/queue/{entries[0]['queue_entry_id']}", {})
        # What was refused is not remembered as accepted.
        assert world.post(busy.session, "/prompt", body).json()["prompt"]["status"] == "queued"
        busy.finish(3)
        assert busy.prompts() == ["go", "number 1", "one too many"]
    finally:
        world.end()


def test_prompts_that_a_stop_drops_leave_an_event_each(world: World) -> None:
    busy = Busy(world)
    entries = [busy.queue("first"), busy.queue("second", mode="steer")]
    world.post(busy.session, "/stop")
    assert busy.waiting() == []
    told = [event for event in world.events(busy.session, type="system") if "dropped" in event["content"]["title"]]
    assert {event["turn_id"] for event in told} == {entry["new_turn_id"] for entry in entries}
    assert any("first" in event["content"]["text"] for event in told)
    assert busy.prompts() == ["go"]
    assert world.types(busy.session)[-1] == "session_stopped"


def test_a_stopped_session_takes_normal_prompts_only(world: World) -> None:
    busy = Busy(world)
    world.post(busy.session, "/stop")
    for mode in ("queue", "interrupt", "steer"):
        body = world.prompt_body("again", mode=mode, expected_turn_id=busy.turn)
        _refused(lambda body=body: world.post(busy.session, "/prompt", body), 409, "session_stopped")
    _refused(lambda: world.post(busy.session, "/steer", _steer_body(busy.turn)), 409, "prompt_not_in_progress")
    assert world.refresh(busy.session)["state"] == "stopped"
    busy.gate.touch()
    assert world.prompt(busy.session).finish == "stop"


def test_a_prompt_can_be_cancelled_while_its_agent_starts(world: World) -> None:
    started = world.folder / "started"
    world.agent("sleepy", {"on": {"initialize": [{"touch": str(started)}, {"never": True}]}})
    session = world.create("sleepy")
    outcome: list[ApiError] = []

    def send() -> None:
        with world.daemon.client() as client:
            try:
                client.request("POST", world.path(session, "/prompt"), body=world.prompt_body("go"), timeout=60)
            except ApiError as error:
                outcome.append(error)

    sender = threading.Thread(target=send)
    sender.start()
    wait_until(started.exists, "the agent is being started")
    assert world.post(session, "/prompt/cancel").json()["outcome"] == "canceled"
    sender.join(30)
    assert [(error.status, error.code) for error in outcome] == [(409, "prompt_canceled")]
    assert world.types(session) == []
    assert world.refresh(session)["runtime"]["status"] == "unbound"
