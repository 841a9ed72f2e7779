"""The frames of a prompt's stream and the transcript, from the same events (contract §3.5)."""

import json
from typing import Any

import msgspec
import pytest

from compozy.model.event import EventDraft, StoredEvent
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.frames import PromptFrames
from compozy.runtime.sessions.transcript import TranscriptFold


def _stored(drafts: list[EventDraft]) -> list[StoredEvent]:
    return [
        StoredEvent(
            id=f"evt-{number}",
            session_id="s",
            sequence=number,
            type=draft.type,
            turn_id=draft.turn_id,
            agent_name=draft.agent_name,
            content=draft.content,
            timestamp=draft.timestamp,
        )
        for number, draft in enumerate(drafts, 1)
    ]


def _frames(drafts: list[EventDraft]) -> list[Any]:
    frames = PromptFrames("t")
    return [json.loads(frame) if frame != b"[DONE]" else None for frame in frames.add(_stored(drafts))]


def _kinds(frames: list[Any]) -> list[str]:
    return [frame["type"] if frame else "[DONE]" for frame in frames]


def test_blocks_are_closed_whenever_another_kind_starts(maker: EventMaker) -> None:
    frames = _frames(
        [
            maker.draft("thought", "t", text="a"),
            maker.draft("agent_message", "t", text="b"),
            maker.draft("plan", "t"),
            maker.draft("agent_message", "t", text="c"),
            maker.draft("done", "t", stop_reason="end_turn"),
        ]
    )
    assert _kinds(frames) == [
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "data-compozy-event",
        "text-start",
        "text-delta",
        "text-end",
        "finish",
        "[DONE]",
    ]
    ids = [frame["id"] for frame in frames if frame and frame["type"].endswith("-start")]
    assert ids == ["t-reasoning-1", "t-text-2", "t-text-3"]


def test_a_tool_opens_once_and_always_gets_an_output(maker: EventMaker) -> None:
    raw = msgspec.Raw(b'{"kind":"read","rawInput":{"path":"x"}}')
    frames = _frames(
        [
            maker.draft("tool_call", "t", tool_call_id="c1", raw=raw),
            maker.draft("tool_call", "t", tool_call_id="c1", raw=raw),
            maker.draft("tool_result", "t", tool_call_id="c2", raw=raw),
            maker.draft("done", "t", stop_reason="end_turn"),
        ]
    )
    kinds = _kinds(frames)
    assert kinds.count("tool-input-start") == 2 and kinds.count("tool-output-available") == 2
    assert frames[1] == {
        "type": "tool-input-available",
        "toolCallId": "c1",
        "toolName": "read",
        "input": {"path": "x"},
    }
    assert frames[-3]["toolCallId"] == "c1"


@pytest.mark.parametrize(
    ("reason", "word"),
    [("end_turn", "stop"), ("", "stop"), ("max_tokens", "length"), ("cancelled", "other"), ("odd", "other")],
)
def test_the_stop_reason_becomes_a_finish_reason(maker: EventMaker, reason: str, word: str) -> None:
    assert _frames([maker.draft("done", "t", stop_reason=reason)])[0]["finishReason"] == word


def test_an_error_is_told_before_the_finish(maker: EventMaker) -> None:
    frames = _frames([maker.draft("error", "t", error="broken")])
    assert frames[0] == {"type": "error", "errorText": "broken"} and _kinds(frames)[1:] == ["finish", "[DONE]"]


def test_other_turns_and_what_comes_after_the_end_make_no_frames(maker: EventMaker) -> None:
    frames = _frames(
        [
            maker.draft("agent_message", "other", text="x"),
            maker.draft("done", "t"),
            maker.draft("agent_message", "t", text="late"),
        ]
    )
    assert _kinds(frames) == ["finish", "[DONE]"]


def test_a_stream_that_breaks_off_says_so() -> None:
    frames = [json.loads(f) for f in PromptFrames("t").break_off("gone") if f != b"[DONE]"]
    assert _kinds(frames) == ["error", "finish"]


def test_a_transcript_folds_parts_in_order_and_permissions_in_place(maker: EventMaker) -> None:
    fold = TranscriptFold()
    fold.add(
        _stored(
            [
                maker.draft("user_message", "t", text="go", message_id="m1"),
                maker.draft("agent_message", "t", text="a"),
                maker.draft("agent_message", "t", text="b"),
                maker.draft("permission", "t", request_id="r"),
                maker.draft("permission", "t", request_id="r", decision="allow-once"),
                maker.draft("usage", "t", usage={"used": 1}),
                maker.draft("usage", "t", usage={"used": 2}),
                maker.draft("done", "t", stop_reason="end_turn"),
            ]
        )
    )
    user, assistant = fold.entries()
    assert (user.message.id, user.start_sequence, user.sequence) == ("m1", 1, 1)
    assert (assistant.message.id, assistant.start_sequence, assistant.sequence) == ("t", 2, 8)
    assert [part.type for part in assistant.message.parts] == [
        "text",
        "data-compozy-permission",
        "data-compozy-event",
    ]
    assert assistant.message.parts[0].text == "ab" and assistant.message.parts[0].state == "done"
    decided = assistant.message.parts[1].data
    assert decided is not None and b"allow-once" in bytes(decided)


def test_the_messages_that_later_events_touched_are_found(maker: EventMaker) -> None:
    events = _stored([maker.draft("agent_message", turn, text="a") for turn in ("t1", "t2", "t1")])
    fold = TranscriptFold()
    fold.add(events)
    assert [fold.render(key).message.id for key, _ in fold.touched_after(1)] == ["t1", "t2"]
    assert fold.touched_after(2) == [("t1", 3)] and fold.touched_after(3) == []


def test_only_ended_turns_are_forgotten_and_the_oldest_first(maker: EventMaker) -> None:
    drafts = []
    for turn in ("t1", "t2", "t3"):
        drafts += [maker.draft("user_message", turn, text="go", message_id=turn), maker.draft("thought", turn)]
        drafts += [maker.draft("done", turn)] if turn != "t1" else []
    fold = TranscriptFold()
    fold.add(_stored(drafts))
    assert fold.forget(2) == 5
    assert [entry.message.id for entry in fold.entries()] == ["t1", "t3", "t3"]
    assert fold.forget(2) == 0


def test_an_event_that_cannot_be_decoded_is_left_out(maker: EventMaker) -> None:
    broken = msgspec.structs.replace(_stored([maker.draft("agent_message", "t", text="a")])[0], content=b"{")
    fold = TranscriptFold()
    fold.add([broken])
    assert fold.entries() == ()
