"""Looking at sessions, holding them, waiting for them, and mending them, over the real daemon."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from compozy.client import ApiError
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

ASK = {"permission": {"toolCallId": "c1", "title": "write notes", "kind": "edit", "locations": [{"path": "n.txt"}]}}


def _object(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


def _until_asked(frames: Iterator[dict[str, Any] | None]) -> dict[str, Any]:
    return next(frame for frame in frames if frame is not None and frame["type"] == "data-compozy-permission")


def _end(world: World, session: dict[str, Any], frames: Iterator[dict[str, Any] | None]) -> None:
    world.post(session, "/prompt/cancel")
    assert [frame for frame in frames if frame is not None][-1]["type"] == "finish"


def _run_unseen(world: World, session: dict[str, Any]) -> None:
    """Run a turn whose stream nobody reads to the end."""
    ends = len(world.events(session, type="done"))
    frames = world.frames(session)
    next(frames)
    frames.close()  # type: ignore[attr-defined]
    wait_until(lambda: len(world.events(session, type="done")) > ends, "the turn has ended")
    wait_until(lambda: not world.get(session, "/status")["active_prompt"], "the end is noted")


def test_a_turn_that_somebody_reads_to_its_end_is_seen(world: World) -> None:
    world.agent("ann")
    session = world.create("ann")
    world.prompt(session)
    assert world.refresh(session)["badge"] == "idle"


def test_a_turn_that_nobody_watched_reads_done_until_a_client_shows_it(world: World) -> None:
    world.agent("slow", {"prompts": [[{"text": "a"}, {"sleep": 0.3}, {"text": "b"}]]})
    session = world.create("slow")
    _run_unseen(world, session)
    assert world.refresh(session)["badge"] == "done"
    summary = _object(world.client.request("GET", "/api/sessions/attention-summary").json())
    assert {"workspace_id": session["workspace_id"], "needs_you": 0, "finished": 1} in summary["by_workspace"]
    lease = _object(world.post(session, "/presence", {"visible": True}).json())["lease_id"]
    assert world.refresh(session)["badge"] == "idle"
    _run_unseen(world, session)
    assert world.refresh(session)["badge"] == "idle", "a client shows the session"
    assert world.post(session, "/presence", {"visible": False, "lease_id": lease}).status == 204
    _run_unseen(world, session)
    assert world.refresh(session)["badge"] == "done"


def test_an_attached_session_is_held_for_one_client_and_seen(world: World) -> None:
    world.agent("slow", {"prompts": [[{"text": "a"}, {"sleep": 0.3}]]})
    session = world.create("slow")
    _run_unseen(world, session)
    held = _object(world.post(session, "/attach", {"attached_to": "desk", "ttl_seconds": 60}).json())
    assert held["session"]["attached_to"] == "desk" and held["session"]["badge"] == "idle"
    assert held["attach"]["attach_expires_at"] == held["session"]["attach_expires_at"]
    with pytest.raises(ApiError) as refused:
        world.post(session, "/attach", {"attached_to": "phone"})
    assert refused.value.status == 409 and "'desk'" in str(refused.value)
    again = _object(world.post(session, "/attach", {"attached_to": "desk", "ttl_seconds": -1}).json())
    assert again["attach"]["attach_expires_at"] > held["attach"]["attach_expires_at"]


def test_status_and_health_say_how_a_session_is(world: World) -> None:
    world.agent("asker", {"prompts": [[ASK]]}, permissions="approve-reads")
    session = world.create("asker")
    assert world.get(session, "/status")["state"] == "detached"
    frames = world.frames(session)
    _until_asked(frames)
    asked = world.get(session, "/status")
    assert asked["badge"] == "waiting-for-auth" and asked["state"] == "prompting" and asked["active_prompt"]
    assert asked["ineligibility_reason"] == "session_prompt_active" and not asked["eligible_for_wake"]
    assert [question["title"] for question in asked["pending_interactions"]] == ["write notes"]
    _end(world, session, frames)
    world.post(session, "/stop")
    health = world.get(session, "/health")["health"]
    assert (health["state"], health["health"], health["attachable"]) == ("stopped", "unknown", True)


def test_usage_adds_the_tokens_of_turns_and_keeps_the_cost_as_the_running_total_it_is(world: World) -> None:
    cost = {"used": 10, "size": 100, "cost": {"amount": 0.5, "currency": "USD"}}
    tokens = {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}
    turn = [{"usage": cost}, {"result": {"stopReason": "end_turn", "usage": tokens}}]
    world.agent("payer", {"prompts": [turn]})
    session = world.create("payer")
    assert world.get(session, "/usage")["usage"] == {"turn_count": 0}
    world.prompt(session)
    world.prompt(session)
    usage = world.get(session, "/usage")["usage"]
    assert (usage["turn_count"], usage["input_tokens"], usage["output_tokens"]) == (2, 14, 6)
    assert (usage["total_tokens"], usage["total_cost"], usage["cost_currency"]) == (20, 0.5, "USD")
    assert (usage["cost_source"], usage["cost_status"]) == ("agent_reported", "actual")
    assert world.refresh(session)["usage"] == usage


def test_commands_have_a_revision_that_changes_with_them(world: World) -> None:
    world.agent("helper", {"prompts": [[{"commands": ["plan"]}], [{"commands": ["plan", "test"]}]]})
    session = world.create("helper")
    empty = world.get(session, "/commands")
    assert empty["commands"] == []
    world.prompt(session)
    first = world.get(session, "/commands")
    assert [(c["id"], c["canonical_token"], c["available"]) for c in first["commands"]] == [
        ("agent:plan", "/plan", True)
    ]
    world.prompt(session)
    assert len({empty["revision"], first["revision"], world.get(session, "/commands")["revision"]}) == 3


def test_a_recap_shows_the_newest_messages_and_remarks(world: World) -> None:
    world.agent("ann", {"capabilities": {"loadSession": False}})
    session = world.create("ann")
    for text in ("one", "two", "three"):
        world.prompt(session, text)
    world.post(session, "/stop")
    world.prompt(session, "four")
    recap = world.get(session, "/recap", limit=3)["recap"]
    assert [message["role"] for message in recap["recent_messages"]] == ["assistant", "user", "assistant"]
    assert [marker["kind"] for marker in recap["recent_markers"]] == ["context_lost"]
    assert recap["snapshot"]["event_cursor"] == world.events(session)[-1]["sequence"]
    assert recap["session"]["id"] == session["id"] and recap["pending_inputs"] == 0


def test_inspection_says_how_the_mode_was_derived_and_what_became_of_the_definition(world: World) -> None:
    world.agent("ann", permissions="approve-all")
    session = world.create("ann", permissions="approve-reads")
    found = world.get(session, "/inspect")
    assert found["permissions"]["mode"] == "approve-reads" and found["permissions"]["source"] == "request"
    assert [step["effect"] for step in found["permissions"]["steps"]] == ["sets", "narrows"]
    assert found["roots"] == [str(world.workspace)] and found["definition"]["state"] == "unchanged"
    path = world.daemon.home.agents / "ann" / "AGENT.md"
    path.write_text(path.read_text() + "And more.\n")
    changed = world.get(session, "/inspect")
    assert changed["definition"]["state"] == "changed"
    assert [note["code"] for note in changed["diagnostics"]] == ["definition_changed"]


def test_a_wait_ends_when_the_badge_is_reached(world: World) -> None:
    world.agent("asker", {"prompts": [[ASK]]}, permissions="approve-reads")
    session = world.create("asker")
    at_once = _object(world.post(session, "/wait", {"timeout_ms": 1000}).json())
    assert (at_once["outcome"], at_once["state"]) == ("state-reached", "idle")
    frames = world.frames(session)
    _until_asked(frames)
    answers: list[dict[str, Any]] = []

    def wait() -> None:
        with world.daemon.client() as other:
            body = {"timeout_ms": 30_000, "until": ["idle"]}
            answers.append(_object(other.request("POST", world.path(session, "/wait"), body=body, timeout=60).json()))

    waiting = threading.Thread(target=wait)
    waiting.start()
    _end(world, session, frames)
    waiting.join(30)
    assert [(answer["outcome"], answer["state"]) for answer in answers] == [("state-reached", "idle")]
    assert answers[0]["revision"] >= world.events(session, type="done")[0]["sequence"]


def test_a_wait_that_ran_out_is_taken_up_again_and_has_missed_nothing(world: World) -> None:
    world.agent("asker", {"prompts": [[ASK]]}, permissions="approve-reads")
    session = world.create("asker")
    late = _object(world.post(session, "/wait", {"timeout_ms": 1, "until": ["waiting-for-auth"]}).json())
    assert late["outcome"] == "timeout" and late["resume_id"].startswith("wait")
    frames = world.frames(session)
    _until_asked(frames)
    _end(world, session, frames)
    again = _object(world.post(session, "/wait", {"timeout_ms": 1, "resume_id": late["resume_id"]}).json())
    assert (again["outcome"], again["state"]) == ("state-reached", "waiting-for-auth")
    with pytest.raises(ApiError) as gone:
        world.post(session, "/wait", {"timeout_ms": 1, "resume_id": late["resume_id"]})
    assert gone.value.status == 410


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"timeout_ms": 0}, 422),
        ({"timeout_ms": 1_800_001}, 422),
        ({"timeout_ms": 5, "until": ["tired"]}, 422),
        ({"timeout_ms": 5, "epoch": 7}, 409),
        ({"timeout_ms": "soon"}, 400),
    ],
)
def test_a_wait_that_cannot_be_is_refused(world: World, body: dict[str, object], status: int) -> None:
    world.agent("ann")
    with pytest.raises(ApiError) as refused:
        world.post(world.create("ann"), "/wait", body)
    assert refused.value.status == status


def test_a_chosen_runtime_can_be_cleared(world: World) -> None:
    world.agent("ann")
    session = world.create("ann")
    chosen = _object(
        world.client.request("PUT", world.path(session, "/runtime"), body={"runtime": {"provider": "offline"}}).json()
    )["session"]
    revision = chosen["runtime"]["selection_revision"]
    with pytest.raises(ApiError) as stale:
        world.client.request(
            "DELETE", world.path(session, "/runtime"), query={"expected_revision": str(revision + 5)}
        )
    assert stale.value.status == 409
    cleared = _object(
        world.client.request(
            "DELETE", world.path(session, "/runtime"), query={"expected_revision": str(revision)}
        ).json()
    )["session"]
    assert "selected" not in cleared["runtime"] and cleared["runtime"]["selection_revision"] > revision
    assert cleared["runtime"]["effective"] == session["runtime"]["effective"]


def test_a_whole_history_needs_no_repair(world: World) -> None:
    world.agent("ann")
    session = world.create("ann")
    world.prompt(session)
    before = world.events(session)
    found = _object(world.post(session, "/repair").json())["repair"]
    assert found == {"session_id": session["id"], "issues": [], "actions": [], "persisted": False}
    assert world.events(session) == before
