"""Stores of every layout there has been, frozen as files, open with the code of today and lose nothing."""

import shutil
from pathlib import Path

import pytest

from compozy.store.database import migrations
from compozy.store.interface import EventQuery, SessionQuery
from compozy.store.sqlite import SqliteStore
from tests.kit import store_fixture as facts
from tests.kit.store_records import make_drafts, moment

pytestmark = pytest.mark.anyio
FROZEN = sorted((Path(__file__).resolve().parents[1] / "data" / "store").glob("v*.db"))


def test_every_layout_has_a_frozen_file() -> None:
    assert [path.name for path in FROZEN] == [f"v{number}.db" for number in range(1, len(migrations()) + 1)]


@pytest.mark.parametrize("frozen", FROZEN, ids=lambda path: path.stem)
async def test_an_old_store_opens_with_all_its_facts_and_takes_new_ones(frozen: Path, tmp_path: Path) -> None:
    path = tmp_path / "compozy.db"
    shutil.copyfile(frozen, path)
    store = SqliteStore(path)
    await store.open()
    assert await store.list_workspaces() == facts.WORKSPACES
    for record in facts.SESSIONS:
        session_id = record.session.id
        assert await store.get_session(session_id) == record
        events = await store.read_events(session_id, EventQuery(after_sequence=0))
        told = [(event.sequence, event.type, event.agent_name, event.timestamp, event.content) for event in events]
        assert told == [
            (n, draft.type, draft.agent_name, draft.timestamp, draft.content)
            for n, draft in enumerate(facts.EVENTS[session_id], start=1)
        ]
    page = await store.list_sessions(SessionQuery(archive="include"))
    assert [record.session.id for record in page.rows] == [facts.ACTIVE, facts.CHILD, facts.STOPPED]
    assert page.total == 3
    assert await store.count_sessions() == {"active": 1, "stopped": 2}
    metrics = await store.agent_metrics(facts.WORKSPACES[1].id, ["reviewer"], now=moment(99))
    assert (metrics["reviewer"].failed, metrics["reviewer"].runtime_seconds) == (1, 10)
    assert await store.find_prompt(facts.ACTIVE, message_id="msg-1") == facts.PROMPT
    assert await store.list_processes() == (facts.PROCESS,)
    (event,) = await store.append_events(facts.ACTIVE, make_drafts(1))
    assert event.sequence == len(facts.EVENTS[facts.ACTIVE]) + 1
    await store.close()
