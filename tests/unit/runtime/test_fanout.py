"""Following a session: no gap, no repetition, whatever the ring still holds; bounded memory."""

import asyncio
from collections.abc import Sequence

import pytest

from compozy.model.event import EventDraft, StoredEvent
from compozy.model.session import Runtime, Session
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.fanout import RING_BYTES, RING_EVENTS, Ring
from compozy.runtime.sessions.follow import follow
from compozy.runtime.sessions.journal import Journal, change_session
from compozy.store.interface import SessionRecord
from compozy.store.memory import MemoryStore

pytestmark = pytest.mark.anyio


def _event(sequence: int, size: int = 2) -> StoredEvent:
    return StoredEvent(
        id=f"evt-{sequence}",
        session_id="s",
        sequence=sequence,
        type="agent_message",
        turn_id="t",
        agent_name="a",
        content=b"x" * size,
        timestamp="",
    )


def _sequences(events: Sequence[StoredEvent] | None) -> list[int] | None:
    return None if events is None else [event.sequence for event in events]


@pytest.mark.parametrize(("after", "expected"), [(0, [1, 2, 3]), (1, [2, 3]), (2, [3]), (3, []), (9, [])])
async def test_a_ring_gives_what_comes_after_a_position(after: int, expected: list[int]) -> None:
    ring = Ring()
    ring.publish([_event(1), _event(2), _event(3)])
    assert _sequences(ring.after(after, 10)) == expected
    assert _sequences(ring.after(after, 1)) == expected[:1]


async def test_a_ring_says_when_it_does_not_reach_back() -> None:
    ring = Ring()
    ring.publish([_event(n) for n in range(1, RING_EVENTS + 11)])
    assert ring.after(0, 10) is None
    assert _sequences(ring.after(10, 2)) == [11, 12]
    assert _sequences(ring.after(RING_EVENTS + 8, 10)) == [RING_EVENTS + 9, RING_EVENTS + 10]


async def test_a_ring_is_bounded_in_bytes() -> None:
    ring = Ring()
    ring.publish([_event(n, RING_BYTES // 4) for n in range(1, 11)])
    assert ring.after(0, 10) is None and _sequences(ring.after(9, 10)) == [10]


async def test_a_gap_empties_the_ring_so_that_followers_read_the_store() -> None:
    ring = Ring()
    ring.publish([_event(1)])
    ring.publish([_event(3)])
    assert ring.after(1, 10) is None and ring.last_sequence == 3


def _record() -> SessionRecord:
    session = Session(
        id="s",
        agent_name="a",
        state="active",
        badge="idle",
        runtime=Runtime(status="ready", selection_revision=0),
        attachable=True,
        pending_interactions=(),
        available_commands=(),
        archived_at=None,
        created_at="2026-01-01T00:00:00.000000Z",
        updated_at="2026-01-01T00:00:00.000000Z",
    )
    return SessionRecord(session=session, startup_prompt="", permission_mode="approve-all", cwd="/")


async def _journal(store: MemoryStore) -> Journal:
    await store.open()
    record = _record()
    await store.put_session(record)
    return Journal(store, record, Ring(), lambda before, after: None)


async def _collect(journal: Journal, store: MemoryStore, after: int = 0) -> list[int]:
    seen: list[int] = []
    async for batch in follow(store, "s", journal.ring, after):
        seen.extend(event.sequence for event in batch)
    return seen


def _drafts(maker: EventMaker, count: int) -> list[EventDraft]:
    return [maker.draft("agent_message", "t", text=str(n)) for n in range(count)]


async def test_followers_of_any_speed_see_everything_once_in_order(maker: EventMaker) -> None:
    store = MemoryStore()
    journal = await _journal(store)
    followers = [asyncio.create_task(_collect(journal, store)) for _ in range(3)]
    total = 0
    for size in (1, 700, RING_EVENTS + 5, 3, 1200):
        await journal.write(_drafts(maker, size))
        total += size
    late = asyncio.create_task(_collect(journal, store, after=5))
    journal.ring.close()
    async with asyncio.timeout(30):
        for follower in followers:
            assert await follower == list(range(1, total + 1))
        assert await late == list(range(6, total + 1))


async def test_cancelling_a_writer_tears_nothing(maker: EventMaker) -> None:
    store = MemoryStore()
    journal = await _journal(store)
    tasks = [asyncio.create_task(journal.write(_drafts(maker, 3))) for _ in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await journal.write(_drafts(maker, 1))
    stored = await store.last_sequence("s")
    assert journal.ring.last_sequence == stored
    assert _sequences(journal.ring.after(0, 1000)) == list(range(1, stored + 1))


async def test_changes_in_flight_at_once_never_lose_each_other() -> None:
    store = MemoryStore()
    journal = await _journal(store)
    await asyncio.gather(
        *(
            journal.change(lambda r: change_session(r, transcript_epoch=r.session.transcript_epoch + 1))
            for _ in range(25)
        )
    )
    assert journal.session.transcript_epoch == 25
    stored = await store.get_session("s")
    assert stored is not None and stored.session.transcript_epoch == 25
