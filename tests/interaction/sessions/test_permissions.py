"""Permission modes over the real daemon: what runs by itself, what is asked, what a person's answer allows."""

import pytest

from compozy.client import ApiError
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

ASK_EDIT = {
    "permission": {"toolCallId": "c1", "title": "write notes", "kind": "edit", "locations": [{"path": "notes.txt"}]},
    "then": [{"write": "{cwd}/notes.txt", "content": "hello"}, {"text": "wrote {last}"}],
    "else": [{"text": "refused: {last}"}],
}


def _answer(world: World, session: dict[str, object], decision: str) -> dict[str, object]:
    wait_until(lambda: world.refresh(session)["pending_interactions"], "the question is pending")
    pending = world.refresh(session)["pending_interactions"][0]
    answer: dict[str, object] = world.post(
        session,
        "/approve",
        {"request_id": pending["provider_request_id"], "turn_id": pending["turn_id"], "decision": decision},
    ).json()
    return answer


def test_approve_all_allows_without_asking(world: World) -> None:
    world.agent("writer", {"prompts": [[ASK_EDIT]]}, permissions="approve-all")
    session = world.create("writer")
    stream = world.prompt(session)
    assert (world.workspace / "notes.txt").read_text() == "hello"
    assert (world.workspace / "notes.txt").stat().st_mode & 0o777 == 0o600
    decided = stream.of("data-compozy-permission")
    assert [frame["data"]["decision"] for frame in decided] == ["allow-once"]
    assert decided[0]["data"]["resolved_by"] == "provider"


def test_deny_all_refuses_and_says_so(world: World) -> None:
    steps = [ASK_EDIT, {"write": "{cwd}/x.txt", "content": "no"}, {"text": "{last}"}, {"read": "{cwd}/secret"}]
    world.agent("writer", {"prompts": [steps]}, permissions="deny-all")
    (world.workspace / "secret").write_text("s")
    session = world.create("writer")
    stream = world.prompt(session)
    assert not (world.workspace / "notes.txt").exists() and not (world.workspace / "x.txt").exists()
    assert "error -32602: permission denied by policy: write" in stream.text
    decisions = [event["content"]["decision"] for event in world.events(session, type="permission")]
    assert decisions == ["reject-once"] * 3


def test_approve_reads_asks_a_person_and_the_answer_allows_exactly_that_write(world: World) -> None:
    steps = [ASK_EDIT, {"write": "{cwd}/other.txt", "content": "x"}, {"text": " other: {last}"}]
    world.agent("writer", {"prompts": [steps]}, permissions="approve-reads")
    session = world.create("writer")
    frames = world.frames(session)
    asked = next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    assert "decision" not in asked["data"]
    assert world.refresh(session)["badge"] == "waiting-for-auth"
    waiting = world.get(session, "/interactions", status="pending")["interactions"]
    assert [item["provider_request_id"] for item in waiting] == [asked["id"]]
    answer = _answer(world, session, "allow-once")
    assert answer["outcome"] == "applied" and answer["decision"] == "allow-once"
    text = "".join(f["delta"] for f in frames if f is not None and f["type"] == "text-delta")
    assert (world.workspace / "notes.txt").read_text() == "hello"
    assert not (world.workspace / "other.txt").exists()
    assert "other: error -32602: permission denied by policy" in text
    resolved = world.get(session, "/interactions", status="resolved")["interactions"]
    assert resolved[0]["resolution"] == "allow-once" and resolved[0]["resolved_by"] == "operator"
    assert world.refresh(session)["pending_interactions"] == []


def test_a_rejected_question_writes_nothing(world: World) -> None:
    world.agent("writer", {"prompts": [[ASK_EDIT]]}, permissions="approve-reads")
    session = world.create("writer")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    _answer(world, session, "reject-once")
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    assert not (world.workspace / "notes.txt").exists()


def test_reads_are_allowed_under_approve_reads_with_line_and_limit(world: World) -> None:
    (world.workspace / "text").write_text("one\ntwo\nthree\nfour\n")
    steps = [
        {"read": "{cwd}/text", "line": 2, "limit": 2},
        {"text": "{last}"},
        {"read": "{cwd}/missing"},
        {"text": "{last}"},
    ]
    world.agent("reader", {"prompts": [steps]}, permissions="approve-reads")
    session = world.create("reader")
    text = world.prompt(session).text
    assert text.startswith("two\nthree\n") and "error -32002" in text


@pytest.mark.parametrize("spelling", ["/etc/hostname", "{cwd}/../outside", "{cwd}/link/outside"])
def test_nothing_outside_the_roots_is_read_or_allowed(world: World, spelling: str) -> None:
    (world.folder / "outside").write_text("secret")
    (world.workspace / "link").symlink_to(world.folder)
    ask = {"permission": {"toolCallId": "c", "kind": "read", "locations": [{"path": spelling}]}}
    world.agent("climber", {"prompts": [[{"read": spelling}, {"text": "{last}"}, ask]]}, permissions="approve-all")
    session = world.create("climber")
    stream = world.prompt(session)
    assert "outside the session's roots" in stream.text and "secret" not in stream.text
    assert [f["data"]["decision"] for f in stream.of("data-compozy-permission")] == ["reject-once"]


def test_cancel_answers_what_is_pending_and_a_late_answer_is_refused(world: World) -> None:
    world.agent("writer", {"prompts": [[ASK_EDIT]]}, permissions="approve-reads")
    session = world.create("writer")
    frames = world.frames(session)
    asked = next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    turn = asked["data"]["turn_id"]
    assert world.post(session, "/prompt/cancel").json()["outcome"] == "canceled"
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    assert world.refresh(session)["pending_interactions"] == []
    assert world.events(session, type="done")[0]["content"]["stop_reason"] == "cancelled"
    with pytest.raises(ApiError) as refused:
        world.post(session, "/approve", {"request_id": asked["id"], "turn_id": turn, "decision": "allow-once"})
    assert refused.value.status == 409
    assert world.get(session, "/interactions")["interactions"][0]["status"] == "canceled"


def test_a_decision_the_agent_does_not_offer_is_refused(world: World) -> None:
    ask = {"permission": {"toolCallId": "c", "kind": "edit"}, "options": ["allow_once", "reject_once"]}
    world.agent("writer", {"prompts": [[ask]]}, permissions="approve-reads")
    session = world.create("writer")
    frames = world.frames(session)
    asked = next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    body = {"request_id": asked["id"], "turn_id": asked["data"]["turn_id"]}
    with pytest.raises(ApiError) as refused:
        world.post(session, "/approve", {**body, "decision": "allow-always"})
    assert refused.value.status == 400 and "allow-once" in str(refused.value)
    world.post(session, "/approve", {**body, "decision": "reject-once"})
    assert [f for f in frames if f is not None][-1]["type"] == "finish"


def test_a_session_may_narrow_the_agents_mode_but_not_widen_it(world: World) -> None:
    world.agent("writer", {"prompts": [[ASK_EDIT]]}, permissions="approve-all")
    world.agent("shy", {"prompts": [[ASK_EDIT]]}, permissions="deny-all")
    narrowed = world.create("writer", permissions="deny-all")
    widened = world.create("shy", permissions="approve-all")
    for session in (narrowed, widened):
        world.prompt(session)
    assert not (world.workspace / "notes.txt").exists()


def test_terminals_follow_the_mode(world: World) -> None:
    steps = [{"terminal": ["sh", "-c", "echo hi; pwd"]}, {"text": "{last}"}]
    world.agent("runner", {"prompts": [steps]}, permissions="approve-all")
    world.agent("reader", {"prompts": [steps]}, permissions="approve-reads")
    assert f"hi\n{world.workspace}" in world.prompt(world.create("runner")).text
    assert "permission denied by policy: execute" in world.prompt(world.create("reader")).text


def test_an_allowed_command_runs_once(world: World) -> None:
    run = {"terminal": ["sh", "-c", "echo ran"]}
    ask = {"permission": {"toolCallId": "c", "title": "run", "kind": "execute"}, "then": [run, {"text": "[{last}]"}]}
    world.agent("runner", {"prompts": [[ask, run, {"text": "[{last}]"}]]}, permissions="approve-reads")
    session = world.create("runner")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    _answer(world, session, "allow-once")
    text = "".join(f["delta"] for f in frames if f is not None and f["type"] == "text-delta")
    assert "[ran" in text and "[error -32602" in text


def test_a_second_answer_learns_of_the_first(world: World) -> None:
    world.agent("writer", {"prompts": [[ASK_EDIT, {"wait_cancel": True}]]}, permissions="approve-reads")
    session = world.create("writer")
    frames = world.frames(session)
    asked = next(f for f in frames if f is not None and f["type"] == "data-compozy-permission")
    assert _answer(world, session, "allow-once")["outcome"] == "applied"
    body = {"request_id": asked["id"], "turn_id": asked["data"]["turn_id"], "decision": "reject-once"}
    second = world.post(session, "/approve", body).json()
    assert isinstance(second, dict)
    assert second["outcome"] == "already-resolved" and second["resolved_decision"] == "allow-once"
    world.post(session, "/prompt/cancel")
    assert [f for f in frames if f is not None][-1]["type"] == "finish"
    with pytest.raises(ApiError) as late:
        world.post(session, "/approve", body)
    assert late.value.status == 409
