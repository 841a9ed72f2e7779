"""What the frames of a turn's stream mean."""

import pytest

from compozy.cli.turn_record import (
    Asked,
    Decided,
    Failed,
    Finished,
    Notice,
    PlanChanged,
    Text,
    TextEnded,
    ToolEnded,
    ToolStarted,
    TurnRecord,
)

TOOL = {
    "sessionUpdate": "tool_call",
    "toolCallId": "t1",
    "title": "Read src/main.py",
    "kind": "read",
    "locations": [{"path": "/repo/src/main.py", "line": 3}],
}


def event(kind: str, **fields: object) -> dict[str, object]:
    return {"type": "data-compozy-event", "data": {"type": kind, **fields}}


def permission(decision: str = "", by: str = "", **raw: object) -> dict[str, object]:
    data = {"type": "permission", "request_id": "p1", "turn_id": "turn-1", "decision": decision, "resolved_by": by}
    return {"type": "data-compozy-permission", "id": "p1", "data": {**data, "raw": raw}}


def test_blocks_of_text_become_one_answer_with_a_blank_line_between() -> None:
    record = TurnRecord()
    steps = record.apply({"type": "start", "messageId": "turn-1"})
    for block in ("one", "two"):
        steps += record.apply({"type": "text-start", "id": block})
        steps += record.apply({"type": "text-delta", "id": block, "delta": block[:1]})
        steps += record.apply({"type": "text-delta", "id": block, "delta": block[1:]})
        steps += record.apply({"type": "text-end", "id": block})
    assert record.turn_id == "turn-1"
    assert record.text == "one\n\ntwo"
    assert steps == (Text("o"), Text("ne"), TextEnded(), Text("t"), Text("wo"))


@pytest.mark.parametrize(
    ("between", "text"),
    [
        (event("system", raw={"sessionUpdate": "session_info_update"}), "one and the same"),
        (event("usage", usage={"total_tokens": 3}), "one and the same"),
        (event("system", text="the model was skipped"), "one and \n\nthe same"),
        ({"type": "tool-input-start", "toolCallId": "t1", "toolName": "read"}, "one and \n\nthe same"),
        ({"type": "reasoning-delta", "id": "r", "delta": "hm"}, "one and \n\nthe same"),
    ],
)
def test_only_what_a_person_sees_breaks_a_sentence(between: dict[str, object], text: str) -> None:
    record = TurnRecord()
    for frame in (
        {"type": "text-delta", "id": "1", "delta": "one and "},
        {"type": "text-end", "id": "1"},
        between,
        {"type": "text-start", "id": "2"},
        {"type": "text-delta", "id": "2", "delta": "the same"},
        {"type": "text-end", "id": "2"},
        {"type": "finish", "finishReason": "stop"},
    ):
        record.apply(frame)
    assert record.text == text


def test_a_tool_call_starts_gains_detail_and_ends_once() -> None:
    record = TurnRecord()
    started = record.apply({"type": "tool-input-start", "toolCallId": "t1", "toolName": "read"})
    record.apply(event("tool_call", tool_call_id="t1", raw=TOOL))
    output = {"type": "tool_result", "tool_call_id": "t1", "raw": {"status": "completed"}}
    ended = record.apply({"type": "tool-output-available", "toolCallId": "t1", "output": output})
    again = record.apply(event("tool_result", tool_call_id="t1", raw={"status": "completed"}))
    assert isinstance(started[0], ToolStarted) and isinstance(ended[0], ToolEnded) and again == ()
    assert record.tool_calls["t1"].as_json() == {
        "id": "t1",
        "title": "Read src/main.py",
        "kind": "read",
        "status": "completed",
        "places": ["/repo/src/main.py:3"],
    }


def test_a_failed_tool_call_keeps_its_error() -> None:
    record = TurnRecord()
    output = {"type": "tool_result", "error": "no such file", "raw": {"status": "failed"}}
    record.apply({"type": "tool-output-available", "toolCallId": "t1", "output": output})
    assert (record.tool_calls["t1"].status, record.tool_calls["t1"].error) == ("failed", "no such file")


def test_a_plan_reports_only_the_entries_that_changed() -> None:
    record = TurnRecord()
    first = record.apply(event("plan", raw={"entries": [{"content": "a", "status": "pending"}, {"content": "b"}]}))
    second = record.apply(event("plan", raw={"entries": [{"content": "a", "status": "completed"}, {"content": "b"}]}))
    assert first == (PlanChanged((("pending", "a"), ("pending", "b")), (("pending", "a"), ("pending", "b"))),)
    assert second == (PlanChanged((("completed", "a"), ("pending", "b")), (("completed", "a"),)),)
    assert (
        record.apply(event("plan", raw={"entries": [{"content": "a", "status": "completed"}, {"content": "b"}]}))
        == ()
    )


def test_a_permission_says_what_where_and_which_answers_there_are() -> None:
    record = TurnRecord()
    (asked,) = record.apply(
        permission(
            toolCall={
                "title": "Write notes.md",
                "kind": "edit",
                "locations": [{"path": "/repo/notes.md"}],
                "content": [{"type": "diff", "path": "/repo/notes.md", "oldText": None, "newText": "a\nb\n"}],
            },
            options=[{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}],
        )
    )
    assert isinstance(asked, Asked)
    assert asked.permission.subject == "edit /repo/notes.md"
    assert asked.permission.changes == ("/repo/notes.md: a new file of 2 lines",)
    assert asked.permission.choices == ("allow-once", "reject-once")
    assert record.permissions["p1"].as_json()["decision"] == "pending"


def test_an_answer_arrives_once_and_says_who_gave_it() -> None:
    record = TurnRecord()
    record.apply(permission())
    (decided,) = record.apply(permission("reject-once", "provider"))
    assert isinstance(decided, Decided)
    assert decided.permission.is_denied and decided.permission.was_pending
    assert decided.permission.decided_by == "provider"
    assert record.apply(permission("allow-once", "operator")) == ()


def test_errors_notices_usage_and_the_end_are_kept() -> None:
    record = TurnRecord()
    assert record.apply({"type": "error", "errorText": "agent gone"}) == (Failed("agent gone"),)
    assert record.apply(event("runtime_warning", text="slow")) == (Notice("slow"),)
    assert record.apply(event("usage", usage={"used": 3})) == ()
    assert record.apply({"type": "finish", "finishReason": "other"}) == (Finished(),)
    assert (record.errors, record.usage, record.finish_reason) == (["agent gone"], {"used": 3}, "other")


def test_frames_and_shapes_it_does_not_know_change_nothing() -> None:
    record = TurnRecord()
    for frame in ({}, {"type": "novelty"}, event("tool_call", raw=7), {"type": "data-compozy-event", "data": None}):
        record.apply(frame)
    assert record.text == "" and not record.is_finished
