"""Whatever an agent puts into its updates, following the turn never breaks and never lies about the answer."""

import io
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.cli.status_line import StatusLine
from compozy.cli.turn_ending import judge
from compozy.cli.turn_printer import TurnPrinter
from compozy.cli.turn_record import TurnRecord

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = [
    "type",
    "data",
    "raw",
    "id",
    "request_id",
    "turn_id",
    "delta",
    "toolCallId",
    "toolName",
    "output",
    "messageId",
    "errorText",
    "finishReason",
    "title",
    "kind",
    "status",
    "locations",
    "path",
    "line",
    "content",
    "entries",
    "options",
    "rawInput",
    "command",
    "toolCall",
    "decision",
    "resolved_by",
    "decisions",
    "text",
    "usage",
    "error",
    "tool_call_id",
    "oldText",
    "newText",
    "expires_at",
]
TYPES = [
    "start",
    "text-delta",
    "text-end",
    "reasoning-delta",
    "tool-input-start",
    "tool-input-available",
    "tool-output-available",
    "data-compozy-event",
    "data-compozy-permission",
    "error",
    "finish",
    "tool_call",
    "tool_result",
    "plan",
    "usage",
    "system",
    "diff",
    "runtime_warning",
    "permission",
]
NAMED = st.recursive(
    JSON | st.sampled_from(TYPES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=20,
)
FRAMES = st.builds(
    lambda kind, rest, data: {**rest, "type": kind, "data": data},
    st.sampled_from(TYPES) | SCALARS,
    st.dictionaries(st.sampled_from(NAMES), NAMED, max_size=8),
    st.dictionaries(st.sampled_from(NAMES), NAMED, max_size=8),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(FRAMES, max_size=8))
def test_any_frames_can_be_followed_printed_and_judged(frames: list[dict[str, object]]) -> None:
    record = TurnRecord()
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        printer = TurnPrinter(StatusLine(enabled=False), colour=False)
        for frame in frames:
            for step in record.apply(frame):
                printer.show(step)
        printer.close()
    shown = out.getvalue() + err.getvalue()
    assert not any(ord(character) < 32 and character not in "\n\t" for character in shown)
    ending = judge(record, on_ask="ask")
    assert (ending.exit_code == 0) == (ending.reason == "done")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=10))
def test_the_text_of_the_answer_is_what_was_said(pieces: list[str]) -> None:
    record = TurnRecord()
    for piece in pieces:
        record.apply({"type": "text-delta", "id": "1", "delta": piece})
    said = "".join(pieces).replace("\0", "")
    assert record.text == (said if said.strip() else "")
