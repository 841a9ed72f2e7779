"""Questions to a person: their end in time, their ids, and clarifications with choices and words."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from compozy.acp.contract import PermissionOption, PermissionRequest
from compozy.model.errors import CompozyError, InvalidRequest, NotFound
from compozy.runtime.sessions.containment import Roots
from compozy.runtime.sessions.content import EventMaker, read_content
from compozy.runtime.sessions.fanout import Ring
from compozy.runtime.sessions.history import read_interactions
from compozy.runtime.sessions.journal import Journal
from compozy.runtime.sessions.policy import Grants
from compozy.runtime.sessions.questions import Questions
from compozy.store.interface import EventQuery
from compozy.store.memory import MemoryStore
from tests.kit.store_records import make_session

pytestmark = pytest.mark.anyio
OPTIONS = tuple(PermissionOption(option_id=kind, name=kind, kind=kind) for kind in ("allow_once", "reject_once"))
EDIT = PermissionRequest(session_id="a", options=OPTIONS, raw=msgspec.Raw(b"{}"), kind="edit", title="write")


async def _desk(tmp_path: Path, maker: EventMaker, seconds: float) -> tuple[Questions, MemoryStore, Journal]:
    store = MemoryStore()
    record = make_session("sess-1", turn_id="turn-1")
    await store.put_session(record)
    journal = Journal(store, record, Ring(), lambda before, after: None)
    roots = Roots(str(tmp_path))
    desk = Questions(journal, maker, roots, Grants(roots), seconds=seconds, clarify_seconds=seconds)
    return desk, store, journal


async def test_nobody_in_time_means_the_stated_no(tmp_path: Path, maker: EventMaker) -> None:
    desk, store, journal = await _desk(tmp_path, maker, 0.02)
    assert await desk.ask(EDIT, "turn-1", "approve-reads") == "reject_once"
    asked, closed = [read_content(e.content) for e in await store.read_events("sess-1", EventQuery())]
    assert (asked.decision, asked.default_decision) == ("", "reject-once") and asked.expires_at
    assert (closed.decision, closed.resolved_by) == ("reject-once", "provider")
    assert journal.session.pending_interactions == ()
    (item,) = await read_interactions(store, journal.session)
    assert (item.status, item.resolution) == ("timed_out", "reject-once")


async def _asked(journal: Journal) -> str:
    while not journal.session.pending_interactions:
        await asyncio.sleep(0)
    return journal.session.pending_interactions[-1].provider_request_id


@pytest.mark.parametrize(
    ("given", "answer"), [((1, ""), (1, "blue")), ((None, "blue"), (1, "blue")), ((None, "green"), (None, "green"))]
)
async def test_a_clarification_is_answered_by_a_choice_or_in_words(
    tmp_path: Path, maker: EventMaker, given: tuple[int | None, str], answer: tuple[int | None, str]
) -> None:
    desk, store, journal = await _desk(tmp_path, maker, 30)
    asking = asyncio.create_task(desk.clarifications.ask("which?", "turn-1", choices=("red", "blue")))
    request = await _asked(journal)
    assert desk.is_waiting and journal.session.badge == "waiting-for-input"
    assert journal.session.pending_interactions[0].choices == ("red", "blue")
    for wrong in ((2, ""), (0, "red"), (None, " ")):
        with pytest.raises(InvalidRequest):
            desk.clarifications.answer(request, *wrong)
    desk.clarifications.answer(request, *given)
    with pytest.raises(CompozyError):
        desk.clarifications.answer(request, *given)
    said = await asking
    assert said is not None and (said.choice, said.text) == answer and not said.fallback
    assert journal.session.pending_interactions == ()
    (item,) = await read_interactions(store, journal.session)
    assert (item.kind, item.status, item.resolution) == ("clarify", "resolved", answer[1])
    with pytest.raises(NotFound):
        desk.clarifications.answer(request, *given)


async def test_a_clarification_goes_on_without_an_answer_and_ends_with_its_turn(
    tmp_path: Path, maker: EventMaker
) -> None:
    desk, store, journal = await _desk(tmp_path, maker, 0.02)
    late = await desk.clarifications.ask("which?", "turn-1")
    assert late is not None and late.fallback and late.text == ""
    desk, store, journal = await _desk(tmp_path, maker, 30)
    asking = asyncio.create_task(desk.clarifications.ask("which?", "turn-1"))
    await _asked(journal)
    desk.end_turn()
    assert await asking is None
    (item,) = await read_interactions(store, journal.session)
    assert item.status == "canceled"


async def test_an_id_that_still_waits_for_the_record_is_not_used_again(tmp_path: Path, maker: EventMaker) -> None:
    first, _, journal = await _desk(tmp_path, maker, 30)
    asking = asyncio.create_task(first.ask(msgspec.structs.replace(EDIT, meta_request_id="r"), "t", "approve-reads"))
    assert await _asked(journal) == "r"
    roots = Roots(str(tmp_path))
    second = Questions(journal, maker, roots, Grants(roots), seconds=30)
    again = asyncio.create_task(second.ask(msgspec.structs.replace(EDIT, meta_request_id="r"), "t", "approve-reads"))
    while len(journal.session.pending_interactions) < 2:
        await asyncio.sleep(0)
    assert [question.provider_request_id for question in journal.session.pending_interactions] == ["r", "r:2"]
    for desk in (first, second):
        desk.end_turn()
    assert await asking is None and await again is None
