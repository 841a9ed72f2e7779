"""Reading server-sent events: fields, line ends, split blocks, ids."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.client import ServerSentEvent
from compozy.client.sse import SseParser

STREAM = (
    b": comment\n\n"
    b'id: 1\nevent: tool_call\ndata: {"a": "\xc3\xbc"}\n\n'
    b"data: one\ndata:two\n\n"
    b"event: nothing\n\n"
    b"id: 2\nretry: 5\nunknown: x\ndata\n\n"
    b"data: [DONE]\r\n\r\n"
)
EVENTS = [
    ServerSentEvent(event="tool_call", id="1", data='{"a": "ü"}'),
    ServerSentEvent(event="message", id="1", data="one\ntwo"),
    ServerSentEvent(event="message", id="2", data=""),
    ServerSentEvent(event="message", id="2", data="[DONE]"),
]


def parse(blocks: list[bytes]) -> list[ServerSentEvent]:
    parser = SseParser()
    return [event for block in blocks for event in parser.feed(block)]


def test_events_have_name_id_and_data() -> None:
    assert parse([STREAM]) == EVENTS


@given(cuts=st.lists(st.integers(min_value=0, max_value=len(STREAM)), max_size=12))
def test_it_does_not_matter_where_blocks_are_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert parse([STREAM[a:b] for a, b in pairwise(edges)]) == EVENTS


def test_an_event_without_its_blank_line_is_not_shown() -> None:
    assert parse([b"data: half"]) == []
    assert parse([b"data: half\n"]) == []


def test_one_event_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compozy.client.sse.MAX_EVENT_BYTES", 1000)
    with pytest.raises(ValueError, match="larger than"):
        parse([b"data: " + b"x" * 600, b"x" * 600])
