"""Folded transcripts say what their events say, whoever folded them when (contract §3.5 transcript, §5.8)."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from compozy.config.redaction import Redactor
from compozy.model.attachment import AttachmentRef
from compozy.model.event import EventDraft
from compozy.model.transcript import MessagePart, TranscriptPage
from compozy.runtime.sessions import segments
from compozy.runtime.sessions.content import EventMaker, raw_json
from compozy.runtime.sessions.history import read_transcript
from compozy.runtime.sessions.segments import WORTH_KEEPING, fold_turns, read_segments
from compozy.runtime.sessions.transcript import files_path
from compozy.store.interface import Store, TranscriptSegment
from compozy.store.ledger import Ledger
from compozy.store.memory import MemoryStore
from compozy.store.sqlite import SqliteStore
from tests.kit.store_records import make_session

pytestmark = pytest.mark.anyio
ID = "sess-0000000000000001"
RECORD = make_session(ID)


@pytest.fixture(params=["sqlite", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made: Store = SqliteStore(tmp_path / "compozy.db") if request.param == "sqlite" else MemoryStore()
    await made.open()
    await made.put_session(make_session(ID))
    yield made
    await made.close()


class Unfolded:
    """The same store as a reader sees it for whom nothing was folded: what a transcript should be."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def read_segments(self, *_: object, **__: object) -> tuple[TranscriptSegment, ...]:
        return ()


async def same(store: Store, **query: int) -> TranscriptPage:
    """Return a page after comparing it with the one made of all events."""
    query = {"limit": 50, **query}
    kept = await store.read_segments(ID, entries=1_000)
    assert not kept or read_segments(kept), "what was folded can be read"
    page = await read_transcript(store, RECORD, **query)
    plain = await read_transcript(Unfolded(store), RECORD, **query)  # type: ignore[arg-type]
    assert json.loads(msgspec.json.encode(page)) == json.loads(msgspec.json.encode(plain))
    return page


MAKER = EventMaker("ann", Redactor())


def turn(number: int, size: int = 100) -> list[EventDraft]:
    """Return a turn with every kind of entry in it."""
    turn_id = f"turn-{number:016x}"
    tool = {"toolCallId": f"t{number}", "kind": "read", "rawInput": {"n": number}}
    drafts = [
        MAKER.draft("user_message", turn_id, text=f"ask {number}", message_id=f"msg-{number}"),
        MAKER.draft("thought", turn_id, text="hm "),
        MAKER.draft("tool_call", turn_id, tool_call_id=f"t{number}", title="dig", raw=raw_json(tool)),
        MAKER.draft("permission", turn_id, request_id=f"r{number}", interaction_id=f"i{number}"),
        MAKER.draft("permission", turn_id, request_id=f"r{number}", interaction_id=f"i{number}", decision="allow"),
        MAKER.draft("tool_result", turn_id, tool_call_id=f"t{number}", raw=raw_json(tool), error="no"),
        MAKER.draft("usage", turn_id, usage={"used": number}),
        MAKER.draft("system", turn_id, title="note", text="x"),
    ]
    drafts += [MAKER.draft("agent_message", turn_id, text=f"word{n} ") for n in range(size - len(drafts) - 1)]
    return [*drafts, MAKER.draft("done", turn_id, stop_reason="end_turn")]


async def test_every_page_is_the_same_with_and_without_folded_turns(store: Store) -> None:
    for number in range(12):
        drafts = turn(number, size=20 + 15 * number)
        stored = await store.append_events(ID, drafts)
        await fold_turns(store, ID, stored[-1].sequence)
        for limit in (1, 2, 3, 7, 50):
            await same(store, limit=limit)
    assert (await store.transcript_end(ID)).last > 0
    before: int | None = None
    seen = []
    while True:
        query = {} if before is None else {"before_sequence": before}
        page = await same(store, limit=5, **query)
        seen = [*(entry.message.id for entry in page.entries), *seen]
        before = page.next_before_sequence
        if not page.has_older:
            break
    assert len(seen) == 24 and len(set(seen)) == 24


async def test_a_running_turn_is_added_to_what_is_folded(store: Store) -> None:
    for drafts in (turn(1), turn(2)[:-30]):
        stored = await store.append_events(ID, drafts)
    assert await fold_turns(store, ID, 100)
    assert (await store.transcript_end(ID)).last == 100 and stored[-1].sequence == 170
    await same(store)


async def test_late_words_of_a_folded_turn_complete_its_entry(store: Store) -> None:
    late = [MAKER.draft("agent_message", f"turn-{1:016x}", text="and one more thing")]
    for drafts in (turn(1), late):
        await store.append_events(ID, drafts)
        await fold_turns(store, ID, 100)
    await same(store)
    await store.append_events(ID, turn(2))
    assert await fold_turns(store, ID, 201)
    await same(store)
    (segment,) = await store.read_segments(ID, entries=100)
    assert (segment.first, segment.last, segment.entries) == (1, 201, 4)


async def test_few_events_are_left_to_their_readers(store: Store) -> None:
    await store.append_events(ID, turn(1, size=WORTH_KEEPING - 1))
    assert not await fold_turns(store, ID, WORTH_KEEPING - 1)
    assert await store.read_segments(ID, entries=10) == ()


async def test_a_segment_that_cannot_be_read_is_made_up_from_events(store: Store) -> None:
    for number in range(3):
        await store.append_events(ID, turn(number))
    end = await store.transcript_end(ID)
    strange = TranscriptSegment(first=1, last=200, entries=4, data=b'[{"other": "form"}]')
    assert await store.put_segment(ID, strange, mark=end.mark)
    assert len((await read_transcript(store, RECORD, limit=50)).entries) == 6
    assert read_segments([strange]) == []


async def test_a_session_that_is_gone_keeps_no_segment(store: Store) -> None:
    await store.append_events(ID, turn(1))
    end = await store.transcript_end(ID)
    await fold_turns(store, ID, 100)
    await store.delete_session(ID)
    segment = TranscriptSegment(first=1, last=100, entries=2, data=b"[]")
    assert not await store.put_segment(ID, segment, mark=end.mark)
    assert await store.read_segments(ID, entries=10) == ()


async def test_archiving_an_event_takes_its_segment_away_and_one_folded_before_is_not_kept(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "compozy.db")
    await store.open()
    await store.put_session(make_session(ID))
    for number in range(3):
        stored = await store.append_events(ID, turn(number))
        await fold_turns(store, ID, stored[-1].sequence)
    end = await store.transcript_end(ID)
    assert end.last == 300

    def archive(book: Ledger) -> None:
        book.connection.execute("UPDATE events SET archived = 1 WHERE (key & 4294967295) > 150")

    await store._write(archive)  # what a rewind does
    after = await store.transcript_end(ID)
    assert (after.last, after.mark) == (100, end.mark + 150)
    assert not await store.put_segment(
        ID, TranscriptSegment(first=101, last=300, entries=1, data=b"[]"), mark=end.mark
    )
    page = await same(store)
    assert [entry.sequence for entry in page.entries] == [1, 100, 101, 150]
    await store.append_events(ID, turn(9))
    assert await fold_turns(store, ID, 400)
    page = await same(store)
    assert [entry.sequence for entry in page.entries] == [1, 100, 101, 150, 301, 400]
    await store.close()


async def test_a_late_word_keeps_the_files_of_a_folded_turn(store: Store) -> None:
    drafts = turn(1)
    shown = AttachmentRef(
        bytes=1, height=1, width=1, id="att-1", kind="image", mime_type="image/png", name="a.png", sha256=""
    )
    drafts[0] = MAKER.draft("user_message", f"turn-{1:016x}", text="look", message_id="m", attachments=(shown,))
    await store.append_events(ID, drafts)
    assert await fold_turns(store, ID, 100, files=files_path(RECORD.session))
    page = await same(store)
    assert [part.type for part in page.entries[0].message.parts] == ["text", "file"]
    await store.append_events(ID, [MAKER.draft("thought", f"turn-{1:016x}", text="late")])
    await same(store)


def test_a_kept_part_has_every_field_of_a_part() -> None:
    assert set(segments._Part.__struct_fields__) == set(MessagePart.__struct_fields__)
