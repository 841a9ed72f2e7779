"""Updates become events: raw kept, duplicates dropped, early results held, dangling calls closed (contract §5.4)."""

from collections.abc import Callable

import msgspec
import pytest

from compozy.acp.contract import SessionUpdate
from compozy.model.event import EventDraft
from compozy.runtime.sessions.content import EventMaker, read_content
from compozy.runtime.sessions.mapping import HELD_RESULTS, UpdateMapper

MakeUpdate = Callable[..., SessionUpdate]


def _types(drafts: list[EventDraft]) -> list[str]:
    return [draft.type for draft in drafts]


def test_a_chunk_keeps_its_text_its_raw_update_and_its_turn(maker: EventMaker, update: MakeUpdate) -> None:
    chunk = update("agent_message_chunk", content={"type": "text", "text": 'a "quoted" ü\n'}, messageId="m1")
    draft = UpdateMapper(maker).map([chunk], "turn-1")[0]
    content = read_content(draft.content)
    assert (draft.type, content.text, content.message_id) == ("agent_message", 'a "quoted" ü\n', "m1")
    assert (content.session_id, content.turn_id) == ("acp-1", "turn-1")
    assert bytes(content.raw) == bytes(chunk.raw)
    assert msgspec.json.decode(draft.content)["schema"] == "compozy.session.event.v1"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("agent_thought_chunk", "thought"),
        ("plan", "plan"),
        ("usage_update", "usage"),
        ("available_commands_update", "available_commands"),
        ("current_mode_update", "system"),
        ("config_option_update", "system"),
        ("never_heard_of", "system"),
        ("", "system"),
    ],
)
def test_each_kind_has_its_event_type(maker: EventMaker, update: MakeUpdate, kind: str, expected: str) -> None:
    drafts = UpdateMapper(maker).map([update(kind, content={"type": "text", "text": "x"})], "t")
    assert _types(drafts) == [expected]


def test_the_users_own_words_coming_back_are_dropped(maker: EventMaker, update: MakeUpdate) -> None:
    assert UpdateMapper(maker).map([update("user_message_chunk", content={"text": "x"})], "t") == []


def test_a_repeated_tool_call_is_stored_once_and_a_changed_one_again(maker: EventMaker, update: MakeUpdate) -> None:
    call = update("tool_call", toolCallId="c", title="dig", status="pending")
    running = update("tool_call_update", toolCallId="c", status="in_progress")
    done = update("tool_call_update", toolCallId="c", status="completed")
    drafts = UpdateMapper(maker).map([call, call, running, running, done], "t")
    assert _types(drafts) == ["tool_call", "tool_call", "tool_result"]
    assert {read_content(draft.content).title for draft in drafts} == {"dig"}


def test_a_result_before_its_call_waits_for_it(maker: EventMaker, update: MakeUpdate) -> None:
    mapper = UpdateMapper(maker)
    result = update("tool_call_update", toolCallId="c", status="completed")
    assert mapper.map([result], "t") == []
    assert _types(mapper.map([update("tool_call", toolCallId="c", title="dig")], "t")) == ["tool_call", "tool_result"]


def test_a_result_whose_call_never_comes_is_stored_at_the_turns_end(maker: EventMaker, update: MakeUpdate) -> None:
    mapper = UpdateMapper(maker)
    mapper.map([update("tool_call_update", toolCallId="c", status="failed")], "t")
    assert _types(mapper.close_turn("t", "over")) == ["tool_result"]
    assert mapper.close_turn("t", "over") == []


def test_no_more_than_a_bounded_number_of_results_is_held(maker: EventMaker, update: MakeUpdate) -> None:
    mapper = UpdateMapper(maker)
    many = [update("tool_call_update", toolCallId=f"c{n}", status="completed") for n in range(HELD_RESULTS + 3)]
    assert len(mapper.map(many, "t")) == 3


def test_open_calls_are_closed_in_their_own_turn(maker: EventMaker, update: MakeUpdate) -> None:
    mapper = UpdateMapper(maker)
    mapper.map([update("tool_call", toolCallId="a", title="dig")], "turn-1")
    closing = mapper.close_turn("turn-1", "the turn ended")
    assert [read_content(draft.content).error for draft in closing] == ["the turn ended"]
    assert mapper.close_turn("turn-1", "again") == []


def test_an_id_used_again_in_a_later_turn_is_another_call(maker: EventMaker, update: MakeUpdate) -> None:
    mapper = UpdateMapper(maker)
    call, done = update("tool_call", toolCallId="1"), update("tool_call_update", toolCallId="1", status="completed")
    first = mapper.map([call, done], "turn-1")
    second = mapper.map([call, done], "turn-2")
    assert _types(first) == _types(second) == ["tool_call", "tool_result"]
    assert [draft.turn_id for draft in second] == ["turn-2", "turn-2"]


def test_a_late_result_belongs_to_the_turn_of_its_call(maker: EventMaker, update: MakeUpdate) -> None:
    mapper = UpdateMapper(maker)
    mapper.map([update("tool_call", toolCallId="a")], "turn-1")
    late = mapper.map([update("tool_call_update", toolCallId="a", status="completed")], "turn-2")
    assert [draft.turn_id for draft in late] == ["turn-1"]


@pytest.mark.parametrize(
    "raw",
    [
        b'{"sessionUpdate":"agent_message_chunk"}',
        b'{"sessionUpdate":"agent_message_chunk","content":null}',
        b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":7}}',
        b'{"sessionUpdate":"agent_message_chunk","content":[]}',
    ],
)
def test_a_chunk_that_cannot_be_read_is_kept_as_a_system_event(maker: EventMaker, raw: bytes) -> None:
    update = SessionUpdate(session_id="s", kind="agent_message_chunk", raw=msgspec.Raw(raw))
    draft = UpdateMapper(maker).map([update], "t")[0]
    assert draft.type == "system" and bytes(read_content(draft.content).raw) == raw


def test_an_image_chunk_is_a_message_without_text(maker: EventMaker, update: MakeUpdate) -> None:
    draft = UpdateMapper(maker).map([update("agent_message_chunk", content={"type": "image", "data": "AA"})], "t")[0]
    assert draft.type == "agent_message" and read_content(draft.content).text == ""


def test_a_secret_among_clean_updates_is_masked_in_text_and_raw(maker: EventMaker, update: MakeUpdate) -> None:
    texts = ["clean "] * 100 + ["api_key=abcdef123456"] + [" clean"] * 100
    updates = [update("agent_message_chunk", content={"type": "text", "text": text}) for text in texts]
    drafts = UpdateMapper(maker).map(updates, "t")
    contents = [read_content(draft.content) for draft in drafts]
    assert len(contents) == len(texts)
    assert "".join(content.text for content in contents) == "".join(texts).replace("abcdef123456", "[REDACTED]")
    assert not [draft for draft in drafts if b"abcdef123456" in draft.content]


def test_a_secret_in_two_chunks_is_masked_in_texts_and_raws_and_comes_before_what_follows(
    maker: EventMaker, update: MakeUpdate
) -> None:
    texts = ["the pass", "word=hun", "ter2222"]
    chunks = [update("agent_message_chunk", content={"type": "text", "text": text}, _meta={"n": 1}) for text in texts]
    mapper = UpdateMapper(maker)
    drafts = [draft for chunk in chunks for draft in mapper.map([chunk], "t")]
    drafts += mapper.map([update("plan", entries=[])], "t")
    assert _types(drafts) == ["agent_message"] * 4 + ["plan"]
    contents = [read_content(draft.content) for draft in drafts[:4]]
    assert [content.text for content in contents] == ["the pass", "word=", "", "[REDACTED]"]
    raws = [msgspec.json.decode(content.raw) for content in contents]
    assert [raw["content"]["text"] for raw in raws] == [content.text for content in contents]
    assert all(raw["_meta"] == {"n": 1} for raw in raws)


@pytest.mark.parametrize("kind", ["agent_message_chunk", "agent_thought_chunk"])
def test_text_that_is_held_back_is_shown_when_its_turn_ends_or_another_begins(
    maker: EventMaker, update: MakeUpdate, kind: str
) -> None:
    chunk = update(kind, content={"type": "text", "text": "set token: str"})
    mapper = UpdateMapper(maker)
    assert [read_content(draft.content).text for draft in mapper.map([chunk], "one")] == ["set token: "]
    ended = mapper.map([chunk], "two")
    told = [(draft.turn_id, read_content(draft.content).text) for draft in ended + mapper.close_turn("two", "over")]
    assert told == [("one", "str"), ("two", "set token: "), ("two", "str")]


def test_another_message_of_the_agent_ends_the_one_before(maker: EventMaker, update: MakeUpdate) -> None:
    chunks = [
        update("agent_message_chunk", content={"text": text}, messageId=i)
        for i, text in (("a", "password=x"), ("b", "hunter2222"))
    ]
    contents = [read_content(draft.content) for draft in UpdateMapper(maker).map(chunks, "t")]
    assert [(content.message_id, content.text) for content in contents] == [
        ("a", "password="),
        ("a", "[REDACTED]"),
        ("b", "hunter2222"),
    ]
