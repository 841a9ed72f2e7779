"""Taking a conversation back over the real daemon: archived, marked, fenced, told to a new agent session (§3.5)."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compozy.client import ApiError
from tests.interaction.sessions.test_attachments import upload
from tests.kit.agents import received
from tests.kit.daemons import wait_until
from tests.kit.sessions import World


class Talk:
    """A session with three prompts, m1 to m3."""

    def __init__(self, world: World, script: dict[str, object] | None = None, *, turns: int = 3) -> None:
        self.world = world
        self.record = world.folder / "record"
        base: dict[str, object] = {"record": str(self.record), "prompts": [[{"text": "said {prompt}"}]]}
        world.agent("talker", {**base, **(script or {})})
        self.session = world.create("talker")
        for n in range(1, turns + 1):
            world.prompt(self.session, f"prompt {n}", message_id=f"m{n}", idempotency_key=f"k{n}")

    def rewind(self, message_id: str, key: str = "r1", **fence: object) -> dict[str, Any]:
        body = {"message_id": message_id, "idempotency_key": key, **fence}
        found: dict[str, Any] = self.world.post(self.session, "/rewind", body).json()  # type: ignore[assignment]
        return found

    def said(self) -> list[str]:
        entries = self.world.get(self.session, "/transcript")["entries"]
        return [entry["message"]["id"] for entry in entries if entry["message"]["role"] == "user"]

    def told(self) -> list[str]:
        prompts: list[Any] = [m["params"] for m in received(self.record) if m.get("method") == "session/prompt"]
        return [params["prompt"][0]["text"] for params in prompts]


def refused(call: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(ApiError) as error:
        call()
    return error.value.status, str(error.value.code)


def test_a_rewind_archives_what_follows_and_gives_the_prompt_back(world: World) -> None:
    talk = Talk(world)
    before = world.events(talk.session)
    first = next(e["sequence"] for e in before if e["content"].get("message_id") == "m2")
    answer = talk.rewind("m2")
    result = answer["rewind"]
    assert result["draft_text"] == "prompt 2" and result["target_message_id"] == "m2" and not result["replayed"]
    assert (result["archived_from_sequence"], result["archived_through_sequence"]) == (first, before[-1]["sequence"])
    assert result["archived_event_count"] == len(before) - first + 1
    assert (result["generation"], result["max_sequence"]) == (1, before[-1]["sequence"] + 1)
    assert answer["session"]["state"] == "active"
    assert talk.said() == ["m1"]
    page = world.get(talk.session, "/transcript")
    assert page["generation"] == 1 and page["max_sequence"] == result["max_sequence"]
    # Nothing is gone, and a marker says what happened.
    archived = world.events(talk.session, archive="archived")
    assert [event["sequence"] for event in archived] == list(range(first, before[-1]["sequence"] + 1))
    marker = world.events(talk.session, type="transcript_marker.created")[-1]["content"]
    assert marker["title"] == "rewound" and marker["raw"]["target_message_id"] == "m2"
    assert marker["raw"]["archived_from_sequence"] == first


def test_after_a_rewind_a_new_agent_session_is_told_the_kept_part_and_nothing_is_called_lost(world: World) -> None:
    talk = Talk(world)
    talk.rewind("m2")
    stream = world.prompt(talk.session, "another way", require_context=True)
    methods = [m.get("method") for m in received(talk.record)]
    assert methods.count("session/new") == 2 and "session/load" not in methods
    told = talk.told()[-1]
    assert "user: prompt 1" in told and "prompt 2" not in told and "prompt 3" not in told
    assert told.endswith("User request:\nanother way")
    assert [f["data"]["title"] for f in stream.of("data-compozy-event") if "title" in f["data"]] == []
    # From then on the agent remembers again.
    world.post(talk.session, "/stop")
    world.prompt(talk.session, "and on")
    assert [m.get("method") for m in received(talk.record)].count("session/load") == 1


def test_a_retry_of_a_rewind_is_answered_and_takes_nothing_back_twice(world: World) -> None:
    talk = Talk(world)
    first = talk.rewind("m3")["rewind"]
    again = talk.rewind("m3")["rewind"]
    assert again == {**first, "replayed": True}
    assert refused(lambda: talk.rewind("m2")) == (409, "rewind_idempotency_conflict")
    assert talk.said() == ["m1", "m2"]
    assert talk.rewind("m2", "r2")["rewind"]["generation"] == 2
    assert talk.said() == ["m1"]


def test_a_stale_fence_an_unknown_message_and_a_busy_session_are_refused(world: World) -> None:
    talk = Talk(world, turns=2)
    last = world.get(talk.session, "/transcript")["max_sequence"]
    for name, value in (("epoch", 7), ("generation", 7), ("max_sequence", last - 1)):
        assert refused(lambda n=name, v=value: talk.rewind("m2", **{f"expected_{n}": v})) == (
            409,
            "rewind_fence_stale",
        )
    assert refused(lambda: talk.rewind("m9")) == (404, "message_not_found")
    assert refused(lambda: talk.rewind(" ")) == (400, "invalid_request")
    fence = {"expected_epoch": 0, "expected_generation": 0, "expected_max_sequence": last}
    gate = world.folder / "gate"
    frames = world.frames(talk.session, f"!steps {json.dumps([{'text': 'x'}, {'wait_file': str(gate)}])}")
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    assert refused(lambda: talk.rewind("m2")) == (409, "session_busy")
    assert refused(lambda: world.post(talk.session, "/clear")) == (409, "session_busy")
    gate.touch()
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    assert refused(lambda: talk.rewind("m2", **fence)) == (409, "rewind_fence_stale")
    fence["expected_max_sequence"] = world.get(talk.session, "/transcript")["max_sequence"]
    assert talk.rewind("m2", **fence)["rewind"]["draft_text"] == "prompt 2"


def test_a_stopped_session_can_be_rewound_and_goes_on_from_there_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path).start()
    try:
        talk = Talk(world)
        world.post(talk.session, "/stop")
        talk.rewind("m3")
        assert world.refresh(talk.session)["state"] == "stopped"
        world.daemon.stop()
        world.end()
        world.start()
        assert talk.said() == ["m1", "m2"] and world.get(talk.session, "/transcript")["generation"] == 1
        world.prompt(talk.session, "on")
        assert "prompt 3" not in talk.told()[-1] and "user: prompt 2" in talk.told()[-1]
    finally:
        world.end()


def test_a_cleared_conversation_begins_anew_with_another_epoch(world: World) -> None:
    talk = Talk(world, turns=2)
    cleared = world.post(talk.session, "/clear").json()["session"]  # type: ignore[index]
    assert cleared["transcript_epoch"] == 1
    page = world.get(talk.session, "/transcript")
    assert page["entries"] == [] and (page["epoch"], page["generation"]) == (1, 0)
    world.prompt(talk.session, "fresh")
    assert "prompt 1" not in talk.told()[-1]
    assert len(world.events(talk.session, archive="archived")) > 0


def test_who_watches_is_shown_the_conversation_anew(world: World) -> None:
    talk = Talk(world)
    seen: list[tuple[str, dict[str, Any]]] = []

    def read() -> None:
        with world.daemon.client() as client, client.stream("GET", world.path(talk.session, "/stream")) as stream:
            for event in stream:
                if event is not None:
                    seen.append((event.event or "", json.loads(event.data)))

    reader = threading.Thread(target=read)
    reader.start()
    wait_until(lambda: len(seen) == 1, "the first snapshot")
    talk.rewind("m2")
    wait_until(lambda: len(seen) >= 2, "the second snapshot")
    kind, data = seen[1]
    assert kind == "transcript_snapshot" and data["reset"] and data["reason"] == "generation_mismatch"
    assert [entry["message"]["id"] for entry in data["entries"] if entry["message"]["role"] == "user"] == ["m1"]
    world.prompt(talk.session, "on", message_id="m4")
    world.post(talk.session, "/stop")
    reader.join(30)
    deltas = [data for kind, data in seen if kind == "transcript_delta"]
    assert deltas and all(delta["generation"] == 1 for delta in deltas)
    assert any(entry["message"]["id"] == "m4" for delta in deltas for entry in delta["entries"])
    # A client that comes back with the old fence is told to begin again.
    query = {"after_sequence": "1", "epoch": "0", "generation": "0"}
    with world.client.stream("GET", world.path(talk.session, "/stream"), query=query) as stream:
        first = next(event for event in stream if event is not None)
    assert json.loads(first.data)["reason"] == "generation_mismatch"


def test_files_of_the_kept_part_stay_and_those_taken_back_are_not_given_again(world: World) -> None:
    talk = Talk(world, {"capabilities": {"loadSession": False}}, turns=0)
    for n in (1, 2):
        file = upload(world, talk.session, f"file{n}.txt", b"words %d" % n)
        world.prompt(talk.session, f"prompt {n}", message_id=f"m{n}", attachments=[file])
    talk.rewind("m2")
    world.prompt(talk.session, "on")
    last: Any = [m["params"] for m in received(talk.record) if m.get("method") == "session/prompt"][-1]
    given = [block["resource"]["text"] for block in last["prompt"] if block["type"] == "resource"]
    assert given == ["words 1"]
