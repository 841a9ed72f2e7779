"""What every Store keeps: one suite over SQLite and the in-memory twin (store/interface.py)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from compozy.model.errors import InvalidRequest, NotFound
from compozy.model.message import Message
from compozy.model.session import Failure
from compozy.model.tool import ApprovalGrant
from compozy.store.interface import AgentMetrics, EventQuery, ProcessRecord, PromptRecord, SessionQuery, Store
from compozy.store.memory import MemoryStore
from compozy.store.sqlite import SqliteStore
from tests.kit.store_records import make_drafts, make_session, make_workspace, moment

pytestmark = pytest.mark.anyio
ID = "sess-0000000000000001"


@pytest.fixture(params=["sqlite", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    store: Store = SqliteStore(tmp_path / "compozy.db") if request.param == "sqlite" else MemoryStore()
    await store.open()
    yield store
    await store.close()


async def list_ids(store: Store, **fields: object) -> list[str]:
    page = await store.list_sessions(SessionQuery(**fields))
    return [record.session.id for record in page.rows]


async def test_workspaces_come_back_as_they_were_put_oldest_first(store: Store) -> None:
    for number in (3, 1, 2):
        await store.put_workspace(make_workspace(number))
    renamed = msgspec.structs.replace(make_workspace(2), name="renamed", default_agent="general")
    await store.put_workspace(renamed)
    assert await store.list_workspaces() == (make_workspace(1), renamed, make_workspace(3))


async def test_deleting_a_workspace_says_whether_it_was_there(store: Store) -> None:
    await store.put_workspace(make_workspace(1))
    assert await store.delete_workspace(make_workspace(1).id)
    assert not await store.delete_workspace(make_workspace(1).id)
    assert await store.list_workspaces() == ()


async def test_a_session_comes_back_with_everything_it_was_stored_with(store: Store) -> None:
    record = msgspec.structs.replace(
        make_session(ID, failure=Failure(kind="timeout", summary="zu spät"), parent="sess-2", root="sess-3"),
        additional_dirs=("/a", "/b"),
        provider_session_ids=("acp-1", "acp-2"),
        turn_id="turn-0000000000000009",
        last_activity_at=moment(7),
    )
    await store.put_session(record)
    assert await store.get_session(ID) == record
    assert await store.get_session("sess-unknown") is None


async def test_a_session_that_is_put_again_is_replaced(store: Store) -> None:
    await store.put_session(make_session(ID))
    newer = make_session(ID, updated=9, state="stopped", badge="stopped", startup_prompt="changed")
    await store.put_session(newer)
    assert await store.get_session(ID) == newer
    assert await store.count_sessions() == {"stopped": 1}


async def test_events_get_consecutive_sequences_from_one_in_append_order(store: Store) -> None:
    await store.put_session(make_session(ID))
    first = await store.append_events(ID, make_drafts(3))
    second = await store.append_events(ID, make_drafts(100, first=4))
    stored = first + second
    assert [event.sequence for event in stored] == list(range(1, 104))
    assert [event.content for event in stored] == [draft.content for draft in make_drafts(103)]
    assert len({event.id for event in stored}) == 103
    assert all(event.id.startswith("evt-") and event.session_id == ID for event in stored)
    assert await store.read_events(ID, EventQuery(after_sequence=0, limit=1000)) == stored
    assert await store.last_sequence(ID) == 103


async def test_each_session_counts_for_itself(store: Store) -> None:
    for name in ("sess-a", "sess-b"):
        await store.put_session(make_session(name))
    for number in range(1, 6):
        for name in ("sess-a", "sess-b"):
            (event,) = await store.append_events(name, make_drafts(1))
            assert event.sequence == number


async def test_many_writers_at_once_leave_no_gap_and_keep_their_own_order(store: Store) -> None:
    await store.put_session(make_session(ID))

    async def write(turn: str) -> None:
        for number in range(1, 21):
            await store.append_events(ID, make_drafts(2, first=number, turn_id=turn))

    await asyncio.gather(*(write(f"turn-{n}") for n in range(20)))
    events = await store.read_events(ID, EventQuery(after_sequence=0, limit=1000))
    assert [event.sequence for event in events] == list(range(1, 801))
    for n in range(20):
        own = [event.timestamp for event in events if event.turn_id == f"turn-{n}"]
        assert own == [moment(second) for number in range(1, 21) for second in (number, number + 1)]


async def test_a_session_row_given_with_events_changes_with_them(store: Store) -> None:
    record = make_session(ID, turn_id="turn-0000000000000001")
    await store.append_events(ID, make_drafts(1), record=record)
    assert await store.get_session(ID) == record
    assert await store.last_sequence(ID) == 1


async def test_archived_events_stay_and_are_read_only_when_asked_for(store: Store) -> None:
    record = make_session(ID)
    await store.append_events(ID, make_drafts(5), record=record)
    written, (count, marked) = await asyncio.gather(
        store.append_events(ID, make_drafts(2)),
        store.archive_events(ID, 3, make_drafts(1), record=record),
    )
    # What was handed over before is archived too, also when one commit takes both.
    assert count == 5 and [event.sequence for event in marked] == [8]
    assert [event.sequence for event in written] == [6, 7]
    active = await store.read_events(ID, EventQuery(after_sequence=0))
    archived = await store.read_events(ID, EventQuery(after_sequence=0, archive="archived"))
    assert [event.sequence for event in active] == [1, 2, 8]
    assert [event.sequence for event in archived] == [3, 4, 5, 6, 7] and all(event.archived for event in archived)
    assert len(await store.read_events(ID, EventQuery(after_sequence=0, archive="all"))) == 8
    again, _ = await store.archive_events(ID, 1, (), record=record)
    assert again == 3 and await store.last_sequence(ID) == 8
    with pytest.raises(NotFound):
        await store.archive_events("sess-none", 1, (), record=make_session("sess-none"))


async def test_a_prompts_identity_given_with_events_is_stored_with_them_or_not_at_all(store: Store) -> None:
    prompt = PromptRecord(
        session_id=ID, idempotency_key="k", message_id="m", payload_digest="d", turn_id="turn-1", created_at=moment(1)
    )
    with pytest.raises(NotFound):
        await store.append_events(ID, make_drafts(1), prompt=prompt)
    await store.append_events(ID, make_drafts(1), record=make_session(ID), prompt=prompt)
    assert await store.find_prompt(ID, idempotency_key="k") == prompt
    assert await store.find_prompt(ID, message_id="m") == prompt


async def test_appending_nothing_stores_the_row_alone(store: Store) -> None:
    assert await store.append_events(ID, (), record=make_session(ID)) == ()
    assert await store.last_sequence(ID) == 0


async def test_events_of_an_unknown_session_are_refused_and_others_are_not_disturbed(store: Store) -> None:
    await store.put_session(make_session(ID))
    results = await asyncio.gather(
        *(store.append_events(ID if n % 3 else f"sess-missing-{n}", make_drafts(1)) for n in range(30)),
        return_exceptions=True,
    )
    for n, result in enumerate(results):
        assert isinstance(result, tuple if n % 3 else NotFound)
    assert await store.last_sequence(ID) == 20
    with pytest.raises(NotFound, match="'sess-none' does not exist"):
        await store.append_events("sess-none", make_drafts(1))


async def test_without_a_start_the_newest_events_are_read_in_ascending_order(store: Store) -> None:
    stored = await store.append_events(ID, make_drafts(50), record=make_session(ID))
    assert await store.read_events(ID, EventQuery(limit=10)) == stored[40:]
    assert await store.read_events(ID, EventQuery(limit=0)) == ()
    assert await store.read_events(ID, EventQuery(after_sequence=10, limit=5)) == stored[10:15]
    assert await store.read_events(ID, EventQuery(before_sequence=11, limit=5)) == stored[5:10]
    assert await store.read_events(ID, EventQuery(after_sequence=10, before_sequence=13, limit=5)) == stored[10:12]
    assert await store.read_events(ID, EventQuery(after_sequence=50)) == ()
    assert await store.read_events("sess-unknown", EventQuery()) == ()


async def test_events_are_filtered_by_type_turn_agent_and_time(store: Store) -> None:
    await store.put_session(make_session(ID))
    await store.append_events(ID, make_drafts(3, type="thought", turn_id="turn-1"))
    await store.append_events(ID, make_drafts(3, first=4, type="plan", turn_id="turn-2", agent_name="other"))

    async def read(**fields: object) -> list[int]:
        events = await store.read_events(ID, EventQuery(**fields))
        return [event.sequence for event in events]

    assert await read(type="thought") == [1, 2, 3]
    assert await read(turn_id="turn-2") == [4, 5, 6]
    assert await read(agent_name="other", limit=1) == [6]
    assert await read(since=moment(3)) == [3, 4, 5, 6]
    assert await read(type="thought", turn_id="turn-2") == []
    assert await read(archive="archived") == []
    assert await read(archive="all") == [1, 2, 3, 4, 5, 6]


async def test_sessions_are_listed_latest_update_first(store: Store) -> None:
    for name, at, updated in (("sess-a", 1, 50), ("sess-b", 2, 60), ("sess-c", 3, 60), ("sess-d", 3, 60)):
        await store.put_session(make_session(name, at=at, updated=updated))
    assert await list_ids(store) == ["sess-d", "sess-c", "sess-b", "sess-a"]


async def test_sessions_are_listed_by_last_activity_when_asked(store: Store) -> None:
    await store.put_session(make_session("sess-a", updated=50, last_activity_at=moment(90)))
    await store.put_session(make_session("sess-b", updated=80))
    await store.put_session(make_session("sess-c", updated=60, last_activity_at=moment(70)))
    assert await list_ids(store, sort="last_activity") == ["sess-a", "sess-b", "sess-c"]
    assert await list_ids(store, sort="recent") == ["sess-b", "sess-c", "sess-a"]


async def test_who_needs_a_person_comes_first_then_who_finished_latest_change_first(store: Store) -> None:
    await store.put_session(make_session("sess-idle", updated=99))
    await store.put_session(make_session("sess-done", updated=98, badge="done"))
    await store.put_session(make_session("sess-auth", updated=10, badge="waiting-for-auth"))
    await store.put_session(make_session("sess-failed", updated=20, badge="failed", state="stopped"))
    order = ["sess-failed", "sess-auth", "sess-done", "sess-idle"]
    assert await list_ids(store, sort="attention") == order
    # A later update within the same class is no change of attention.
    await store.put_session(make_session("sess-auth", updated=30, badge="waiting-for-input"))
    assert await list_ids(store, sort="attention") == order
    await store.put_session(make_session("sess-idle", updated=101, badge="waiting-for-input"))
    assert (await list_ids(store, sort="attention"))[0] == "sess-idle"
    await store.put_session(make_session("sess-failed", updated=110, badge="done"))
    assert await list_ids(store, sort="attention") == ["sess-idle", "sess-auth", "sess-failed", "sess-done"]


async def test_sessions_are_filtered_by_badge_attention_and_whether_they_can_go_on(store: Store) -> None:
    stopped = {"state": "stopped", "badge": "stopped"}
    await store.put_session(make_session("sess-auth", at=1, badge="waiting-for-auth"))
    await store.put_session(make_session("sess-done", at=2, badge="done", workspace_id="ws_2"))
    await store.put_session(make_session("sess-over", at=3, **stopped))
    await store.put_session(make_session("sess-away", at=4, archived_at=moment(9), **stopped))
    await store.put_session(make_session("sess-dead", at=5, state="stopped", badge="failed", attachable=False))
    await store.put_session(make_session("sess-hidden", at=6, type="dream", badge="failed"))
    cases: list[tuple[dict[str, object], list[str]]] = [
        ({"badges": ("done", "failed")}, ["sess-dead", "sess-done"]),
        ({"badges": ("stopped",), "archive": "include"}, ["sess-away", "sess-over"]),
        ({"attention": True}, ["sess-dead", "sess-done", "sess-auth"]),
        ({"attention": True, "workspace_id": "ws_2"}, ["sess-done"]),
        ({"resumable": True, "archive": "include"}, ["sess-over"]),
        ({"resumable": False, "attention": True, "badges": ("failed",)}, ["sess-dead"]),
    ]
    for fields, expected in cases:
        page = await store.list_sessions(SessionQuery(**fields))
        assert [record.session.id for record in page.rows] == expected, fields
        assert page.total == len(expected), fields
    home = make_session("sess-auth").session.workspace_id
    assert await store.count_attention() == {home: (2, 0), "ws_2": (0, 1)}


async def test_sessions_are_filtered_by_every_field_and_the_total_agrees(store: Store) -> None:
    await store.put_session(
        make_session("sess-a", at=1, agent_name="coder", name="Fix the Parser", provider="claude")
    )
    await store.put_session(make_session("sess-b", at=2, workspace_id="ws_2", state="stopped", badge="stopped"))
    await store.put_session(make_session("sess-c", at=3, type="spawned", parent="sess-a", root="sess-a"))
    await store.put_session(make_session("sess-d", at=4, type=None, archived_at=moment(9), state="stopped"))
    await store.put_session(make_session("sess-e", at=5, type="dream"))
    cases: list[tuple[dict[str, object], list[str]]] = [
        ({}, ["sess-c", "sess-b", "sess-a"]),
        ({"archive": "only"}, ["sess-d"]),
        ({"archive": "include"}, ["sess-d", "sess-c", "sess-b", "sess-a"]),
        ({"workspace_id": "ws_2"}, ["sess-b"]),
        ({"state": "stopped"}, ["sess-b"]),
        ({"state": "active"}, ["sess-c", "sess-a"]),
        ({"type": "user", "archive": "include"}, ["sess-d", "sess-b", "sess-a"]),
        ({"type": "dream"}, []),
        ({"agent": "coder"}, ["sess-a"]),
        ({"parent": "sess-a"}, ["sess-c"]),
        ({"root": "sess-a"}, ["sess-c"]),
        ({"q": "PARSER"}, ["sess-a"]),
        ({"q": "claude"}, ["sess-a"]),
        ({"q": "offline"}, ["sess-c", "sess-b"]),
        ({"q": "%"}, []),
        ({"agent": "general", "state": "stopped", "workspace_id": "ws_2", "q": "sess-b"}, ["sess-b"]),
    ]
    for fields, expected in cases:
        page = await store.list_sessions(SessionQuery(**fields))
        assert [record.session.id for record in page.rows] == expected, fields
        assert page.total == len(expected), fields


@pytest.mark.parametrize("sort", ["recent", "last_activity", "attention"])
async def test_pages_show_every_session_exactly_once(store: Store, sort: str) -> None:
    names = [f"sess-{n:02}" for n in range(23)]
    for n, name in enumerate(names):
        await store.put_session(make_session(name, at=n % 5, badge=("done", "idle", "failed")[n % 3]))
    whole = await list_ids(store, sort=sort, limit=100)
    assert sorted(whole) == names
    seen: list[str] = []
    after: tuple[str, ...] = ()
    while True:
        page = await store.list_sessions(SessionQuery(sort=sort, limit=5, after=after))
        assert page.total == 23
        seen += [record.session.id for record in page.rows]
        after = page.next_after
        if not after:
            break
    assert seen == whole


async def test_a_last_page_that_is_full_has_no_next_page(store: Store) -> None:
    for n in range(4):
        await store.put_session(make_session(f"sess-{n}", at=n))
    first = await store.list_sessions(SessionQuery(limit=2))
    second = await store.list_sessions(SessionQuery(limit=2, after=first.next_after))
    assert first.next_after and not second.next_after


async def test_an_impossible_list_is_refused_with_what_is_possible(store: Store) -> None:
    with pytest.raises(InvalidRequest, match="sort 'size' is unknown; use one of recent, last_activity, attention"):
        await store.list_sessions(SessionQuery(sort="size"))
    with pytest.raises(InvalidRequest, match="archive 'all' is unknown"):
        await store.list_sessions(SessionQuery(archive="all"))
    with pytest.raises(InvalidRequest, match="another order"):
        await store.list_sessions(SessionQuery(after=("x",)))
    with pytest.raises(InvalidRequest, match="damaged"):
        await store.list_sessions(SessionQuery(sort="attention", after=("x", "y", "z")))


async def test_sessions_are_counted_by_state_archived_ones_too(store: Store) -> None:
    await store.put_session(make_session("sess-a"))
    await store.put_session(make_session("sess-b", state="stopped"))
    await store.put_session(make_session("sess-c", state="stopped", archived_at=moment(1)))
    assert await store.count_sessions() == {"active": 1, "stopped": 2}
    await store.put_session(make_session("sess-a", state="stopping"))
    await store.delete_session("sess-b")
    assert await store.count_sessions() == {"stopping": 1, "stopped": 1}


async def test_an_agents_metrics_follow_every_change_of_its_sessions(store: Store) -> None:
    failure = Failure(kind="process_exit")
    stopped = {"state": "stopped", "badge": "stopped"}
    await store.put_session(make_session("sess-a", at=10))
    await store.put_session(make_session("sess-b", at=20, updated=50, **stopped, failure=failure))
    await store.put_session(make_session("sess-c", at=30, updated=40, **stopped, archived_at=moment(60)))
    await store.put_session(make_session("sess-d", at=0, updated=99, type="dream"))
    await store.put_session(make_session("sess-e", at=0, updated=99, workspace_id="ws_2"))
    workspace = "ws_0000000000000001"
    metrics = await store.agent_metrics(workspace, ["general", "nobody"], now=moment(100))
    assert metrics == {
        "general": AgentMetrics(
            total=3, active=1, failed=1, runtime_seconds=90 + 30 + 10, last_activity_at=moment(50)
        ),
        "nobody": AgentMetrics(total=0, active=0, failed=0, runtime_seconds=0),
    }
    await store.put_session(make_session("sess-a", at=10, updated=70, **stopped, stop_reason="agent_crashed"))
    await store.put_session(make_session("sess-b", at=20, updated=80))
    await store.delete_session("sess-c")
    metrics = await store.agent_metrics(workspace, ["general"], now=moment(120))
    assert metrics["general"] == AgentMetrics(
        total=2, active=1, failed=1, runtime_seconds=60 + 100, last_activity_at=moment(80)
    )


async def test_a_deleted_session_leaves_nothing_and_a_new_one_of_that_id_starts_afresh(store: Store) -> None:
    await store.append_events(ID, make_drafts(5), record=make_session(ID))
    await store.append_events("sess-other", make_drafts(5), record=make_session("sess-other"))
    await store.put_prompt(make_prompt())
    await store.put_process(make_process(pid=7, session_id=ID))
    assert await store.delete_session(ID)
    assert not await store.delete_session(ID)
    assert await store.get_session(ID) is None
    assert await store.read_events(ID, EventQuery()) == ()
    assert await store.find_prompt(ID, message_id="msg-1") is None
    assert await store.list_processes() == ()
    with pytest.raises(NotFound):
        await store.append_events(ID, make_drafts(1))
    (event,) = await store.append_events(ID, make_drafts(1), record=make_session(ID))
    assert event.sequence == 1
    assert await store.last_sequence("sess-other") == 5


def make_prompt(key: str = "key-1", message: str = "msg-1", digest: str = "sha256:1") -> PromptRecord:
    return PromptRecord(
        session_id=ID,
        idempotency_key=key,
        message_id=message,
        payload_digest=digest,
        turn_id="turn-0000000000000001",
        created_at=moment(1),
    )


async def test_a_prompt_is_found_by_its_key_or_its_message(store: Store) -> None:
    await store.put_session(make_session(ID))
    await store.put_session(make_session("sess-other"))
    one, two = make_prompt(), make_prompt("key-2", "msg-2")
    await store.put_prompt(one)
    await store.put_prompt(two)
    assert await store.find_prompt(ID, idempotency_key="key-1") == one
    assert await store.find_prompt(ID, message_id="msg-2") == two
    assert await store.find_prompt(ID, idempotency_key="key-1", message_id="msg-2") == one
    assert await store.find_prompt(ID, idempotency_key="none", message_id="msg-2") == two
    assert await store.find_prompt(ID) is None
    assert await store.find_prompt("sess-other", message_id="msg-1") is None


async def test_a_prompt_put_again_replaces_its_namesakes_and_empty_names_are_nobodys(store: Store) -> None:
    await store.put_session(make_session(ID))
    await store.put_prompt(make_prompt("", "msg-1"))
    await store.put_prompt(make_prompt("", "msg-2"))
    await store.put_prompt(make_prompt("key-1", "msg-2", "sha256:2"))
    assert await store.find_prompt(ID, message_id="msg-1") == make_prompt("", "msg-1")
    assert await store.find_prompt(ID, message_id="msg-2") == make_prompt("key-1", "msg-2", "sha256:2")
    with pytest.raises(NotFound):
        await store.put_prompt(msgspec.structs.replace(make_prompt(), session_id="sess-none"))


def make_process(pid: int = 1, start_time: str = "100", session_id: str = ID) -> ProcessRecord:
    return ProcessRecord(
        session_id=session_id, pid=pid, start_time=start_time, group=pid, marker="mark", started_at=moment(pid)
    )


async def test_a_process_is_remembered_by_pid_and_start_time_until_it_is_deleted(store: Store) -> None:
    processes = [make_process(2), make_process(1), make_process(1, "200")]
    for process in processes:
        await store.put_process(process)
    await store.put_process(make_process(2))
    assert len(await store.list_processes()) == 3
    await store.delete_process(1, "100")
    await store.delete_process(1, "300")
    assert await store.list_processes() == (make_process(1, "200"), make_process(2))


async def test_a_caller_that_gives_up_does_not_disturb_the_order(store: Store) -> None:
    await store.put_session(make_session(ID))
    tasks = [asyncio.create_task(store.append_events(ID, make_drafts(1))) for _ in range(10)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    (event,) = await store.append_events(ID, make_drafts(1))
    events = await store.read_events(ID, EventQuery(after_sequence=0))
    assert [stored.sequence for stored in events] == list(range(1, event.sequence + 1))


async def test_reads_see_every_write_that_has_returned(store: Store) -> None:
    await store.put_session(make_session(ID))
    for number in range(1, 51):
        await store.append_events(ID, make_drafts(1))
        assert await store.last_sequence(ID) == number


async def test_readers_see_whole_batches_only_while_others_write(store: Store) -> None:
    await store.put_session(make_session(ID))
    writing = asyncio.gather(*(store.append_events(ID, make_drafts(7)) for _ in range(300)))
    while not writing.done():
        seen = await asyncio.gather(*(store.last_sequence(ID) for _ in range(5)))
        assert all(last % 7 == 0 for last in seen)
        record = await store.get_session(ID)
        assert record is not None
    await writing
    assert await store.last_sequence(ID) == 2_100


async def test_more_callers_than_the_queue_holds_are_all_served(store: Store) -> None:
    await store.put_session(make_session(ID))
    results = await asyncio.gather(*(store.append_events(ID, make_drafts(1)) for _ in range(5_000)))
    assert sorted(events[0].sequence for events in results) == list(range(1, 5_001))


async def test_the_agents_with_active_sessions_are_named_once_each(store: Store) -> None:
    rows = [
        ("sess-1", "ann", "ws_a", "active", "user"),
        ("sess-2", "ann", "ws_a", "active", "user"),
        ("sess-3", "bob", "ws_a", "stopped", "user"),
        ("sess-4", "cid", "ws_b", "active", "user"),
        ("sess-5", "dan", "ws_a", "active", "dream"),
    ]
    for session_id, agent, workspace, state, kind in rows:
        await store.put_session(
            make_session(session_id, agent_name=agent, workspace_id=workspace, state=state, type=kind)
        )
    assert await store.active_agents("ws_a") == {"ann"}
    await store.put_session(make_session("sess-1", agent_name="ann", workspace_id="ws_a", state="stopped"))
    await store.put_session(make_session("sess-2", agent_name="ann", workspace_id="ws_a", state="stopped"))
    assert await store.active_agents("ws_a") == frozenset()


async def test_a_grant_replaces_the_one_for_the_same_and_is_forgotten_on_request(store: Store) -> None:
    first = ApprovalGrant(
        id="grant-1",
        workspace_id="ws_1",
        tool_id="compozy__session_stop",
        decision="allow",
        created_at="2026-01-01T00:00:00Z",
        last_used_at="2026-01-01T00:00:00Z",
        agent_name="reviewer",
    )
    exact = msgspec.structs.replace(first, id="grant-2", input_digest="sha256:1", created_at="2026-01-02T00:00:00Z")
    await store.put_grant(exact)
    await store.put_grant(first)
    assert await store.list_grants("ws_1") == (first, exact)
    changed = msgspec.structs.replace(first, id="grant-3", decision="reject")
    await store.put_grant(changed)
    used = msgspec.structs.replace(exact, last_used_at="2026-01-03T00:00:00Z")
    await store.put_grant(used)
    assert await store.list_grants("ws_1") == (changed, used)
    assert await store.list_grants("ws_2") == ()
    assert not await store.delete_grant("ws_2", "grant-2")
    assert await store.delete_grant("ws_1", "grant-2") and not await store.delete_grant("ws_1", "grant-2")
    assert await store.list_grants("ws_1") == (changed,)


async def test_the_oldest_stopped_sessions_come_first_and_parents_of_living_children_never(store: Store) -> None:
    await store.put_session(make_session("sess-b", at=2, updated=20, state="stopped"))
    await store.put_session(make_session("sess-a", at=1, updated=30, state="stopped"))
    await store.put_session(make_session("sess-running", at=1))
    await store.put_session(make_session("sess-parent", at=1, updated=5, state="stopped"))
    await store.put_session(make_session("sess-child", at=3, parent="sess-parent", root="sess-parent"))
    await store.put_session(make_session("sess-own", at=1, updated=1, state="stopped", type="dream"))
    found = await store.oldest_stopped(shown=True, limit=10)
    assert [(old.id, old.last_activity_at) for old in found] == [("sess-b", moment(20)), ("sess-a", moment(30))]
    assert [old.id for old in await store.oldest_stopped(shown=True, limit=1)] == ["sess-b"]
    after = (moment(20), "sess-b")
    assert [old.id for old in await store.oldest_stopped(shown=True, limit=10, after=after)] == ["sess-a"]
    assert [old.id for old in await store.oldest_stopped(shown=False, limit=10)] == ["sess-own"]


async def test_a_session_weighs_what_its_events_weigh(store: Store) -> None:
    await store.put_session(make_session(ID))
    drafts = make_drafts(10)
    await store.append_events(ID, drafts)
    events, size = await store.weigh_session(ID)
    assert events == 10 and size >= sum(len(draft.content) for draft in drafts)
    assert await store.weigh_session("sess-none") == (0, 0)
    assert (await store.size()).used > 0


def _message(number: int, to: str = ID) -> Message:
    return Message(
        id=f"nmsg-{number}",
        workspace_id="ws_1",
        sender_session_id="sess-sender",
        sender_agent="ann",
        to=to,
        kind="text",
        sent_at=moment(number),
        text=f"message {number}",
    )


async def test_messages_come_in_order_by_receiver_and_only_the_newest_stay(store: Store) -> None:
    await store.put_session(make_session(ID))
    await store.put_session(make_session("sess-other"))
    numbers = [await store.add_message(_message(n), keep=3) for n in range(1, 6)]
    other = await store.add_message(_message(9, "sess-other"), keep=3)
    assert numbers == sorted(set(numbers)) and other > numbers[-1]
    found = await store.read_messages(ID, limit=10)
    assert [(one.number, one.message) for one in found] == [(numbers[n - 1], _message(n)) for n in (3, 4, 5)]
    assert [one.number for one in await store.read_messages(ID, after=numbers[2], limit=1)] == [numbers[3]]
    assert [one.number for one in await store.read_messages(ID, up_to=numbers[3], limit=9)] == numbers[2:4]
    assert [one.number for one in await store.read_messages(ID, limit=2, newest=True)] == numbers[3:]


async def test_messages_go_with_their_receiver_and_their_numbers_never_come_again(store: Store) -> None:
    await store.put_session(make_session(ID))
    first = await store.add_message(_message(1), keep=3)
    assert await store.delete_session(ID)
    with pytest.raises(NotFound):
        await store.add_message(_message(2), keep=3)
    await store.put_session(make_session(ID))
    assert await store.read_messages(ID, limit=9) == ()
    assert await store.add_message(_message(3), keep=3) > first
