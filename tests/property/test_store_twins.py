"""Whatever happens to them, the SQLite store and its twin in memory tell the same."""

import asyncio
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy.model.errors import NotFound
from compozy.model.session import Failure
from compozy.store.interface import EventQuery, SessionQuery, SessionRecord, Store
from compozy.store.memory import MemoryStore
from compozy.store.sqlite import SqliteStore
from tests.kit.store_records import make_drafts, make_session, moment

IDS = ("sess-a", "sess-b", "sess-c", "sess-d")
WORKSPACES = ("ws_1", "ws_2")
AGENTS = ("coder", "general")

ids = st.sampled_from(IDS)
records = st.builds(
    make_session,
    ids,
    at=st.integers(0, 5),
    updated=st.integers(6, 9),
    provider=st.sampled_from(("offline", "Claude")),
    parent=st.sampled_from(("", "sess-a")),
    root=st.sampled_from(("", "sess-a")),
    startup_prompt=st.sampled_from(("You are one.", "You are another.")),
    last_activity_at=st.sampled_from(("", moment(7), moment(11))),
    agent_name=st.sampled_from(AGENTS),
    workspace_id=st.sampled_from(WORKSPACES),
    state=st.sampled_from(("active", "stopped", "starting")),
    badge=st.sampled_from(("idle", "done", "failed", "waiting-for-auth")),
    type=st.sampled_from(("user", "spawned", "dream", None)),
    archived_at=st.sampled_from((None, moment(9))),
    failure=st.sampled_from((None, Failure(kind="timeout"))),
)
steps = st.one_of(
    st.tuples(st.just("put"), records),
    st.tuples(st.just("delete"), ids),
    st.tuples(
        st.just("change"),
        ids,
        st.sampled_from(
            (
                {"badge": "idle"},
                {"badge": "done"},
                {"badge": "failed"},
                {"state": "active"},
                {"state": "starting"},
                {"agent_name": "coder"},
                {"archived_at": moment(9)},
            )
        ),
        st.integers(6, 12),
    ),
    st.tuples(st.just("append"), ids, st.integers(0, 40), st.sampled_from(("thought", "plan"))),
    st.tuples(st.just("append with row"), records, st.integers(0, 5)),
)
queries = st.builds(
    SessionQuery,
    workspace_id=st.sampled_from(("", *WORKSPACES)),
    state=st.sampled_from(("", "active", "stopped")),
    type=st.sampled_from(("", "user", "spawned")),
    agent=st.sampled_from(("", *AGENTS)),
    parent=st.sampled_from(("", "sess-a")),
    root=st.sampled_from(("", "sess-a")),
    q=st.sampled_from(("", "SESS-", "claude", "b")),
    archive=st.sampled_from(("exclude", "only", "include")),
    sort=st.sampled_from(("recent", "last_activity", "attention")),
    limit=st.integers(1, 3),
)
event_queries = st.builds(
    EventQuery,
    after_sequence=st.none() | st.integers(0, 50),
    before_sequence=st.none() | st.integers(0, 50),
    since=st.sampled_from(("", moment(3))),
    type=st.sampled_from(("", "plan")),
    archive=st.sampled_from(("active", "archived", "all")),
    limit=st.integers(0, 60),
)


async def take(store: Store, step: tuple[object, ...]) -> object:
    """Do one step and return what it said, without what is random in it."""
    try:
        match step:
            case "put", SessionRecord() as record:
                return await store.put_session(record)
            case "delete", str(session_id):
                return await store.delete_session(session_id)
            case "change", str(session_id), dict(fields), int(second):
                known = await store.get_session(session_id)
                if known is None:
                    return None
                session = msgspec.structs.replace(known.session, updated_at=moment(second), **fields)
                return await store.put_session(msgspec.structs.replace(known, session=session))
            case "append", str(session_id), int(count), str(kind):
                events = await store.append_events(session_id, make_drafts(count, type=kind))
            case "append with row", SessionRecord() as record, int(count):
                events = await store.append_events(record.session.id, make_drafts(count), record=record)
            case _:
                raise AssertionError(step)
    except NotFound as problem:
        return str(problem)
    return [(event.sequence, event.content) for event in events]


async def look(store: Store, query: SessionQuery, events: EventQuery) -> list[object]:
    """Return everything the queries show, page after page."""
    seen: list[object] = [await store.count_sessions()]
    after: tuple[str, ...] = ()
    while True:
        page = await store.list_sessions(SessionQuery(**{**_fields(query), "after": after}))
        seen.append(page)
        after = page.next_after
        if not after:
            break
    for session_id in IDS:
        found = await store.read_events(session_id, events)
        seen += [(event.sequence, event.type, event.content, event.timestamp) for event in found]
        seen += [await store.get_session(session_id), await store.last_sequence(session_id)]
    for workspace_id in WORKSPACES:
        seen.append(await store.agent_metrics(workspace_id, AGENTS, now=moment(20)))
    return seen


def _fields(query: SessionQuery) -> dict[str, object]:
    return {name: getattr(query, name) for name in query.__struct_fields__}


@settings(max_examples=60, deadline=None)
@given(script=st.lists(steps, max_size=25), query=queries, events=event_queries)
def test_both_stores_tell_the_same(script: list[tuple[object, ...]], query: SessionQuery, events: EventQuery) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            durable: Store = SqliteStore(Path(folder) / "compozy.db")
            twin: Store = MemoryStore()
            await durable.open()
            try:
                for step in script:
                    assert await take(durable, step) == await take(twin, step)
                assert await look(durable, query, events) == await look(twin, query, events)
            finally:
                await durable.close()

    asyncio.run(run())
