"""The reading statements of the SQLite store, run in the reader threads on connections that cannot write.

Each function takes a connection and answers with records. Events come out of SQLite as one row for a whole page:
every row fetched gives the interpreter lock away, and getting it back from a busy event loop is what costs.
"""

import sqlite3
from collections.abc import Sequence

import msgspec

from compozy.model.event import StoredEvent
from compozy.model.tool import ApprovalGrant
from compozy.model.workspace import Workspace
from compozy.store.codec import decode_grant, decode_session, decode_workspace
from compozy.store.columns import FINISHED, NEEDS_YOU, check_query, page_start
from compozy.store.interface import (
    AgentMetrics,
    EventQuery,
    ProcessRecord,
    PromptRecord,
    SessionQuery,
    SessionRecord,
    SessionRows,
)
from compozy.store.keys import find_last_sequence, find_session, first_key

_SESSION_ROW = (
    "SELECT d.data, p.startup_prompt FROM sessions s JOIN session_data d ON d.session = s.num "
    "JOIN session_startup p ON p.session = s.num "
)
_AGENT_METRICS = """
SELECT coalesce(sum(sessions), 0), coalesce(sum(sessions * (state = 'active')), 0),
    coalesce(sum(sessions * failed), 0),
    coalesce(sum(CASE state WHEN 'stopped' THEN lived_us ELSE max(0, sessions * ? - created_us) END), 0),
    coalesce((
        SELECT max(last_activity_at) FROM sessions WHERE agent_name = ? AND workspace_id = ? AND shown = 1
    ), '')
FROM session_rollup WHERE agent_name = ? AND workspace_id = ? AND shown = 1
"""
# One row for all names, and an index that holds nothing else (migrations/0002_active_agents.sql).
_ACTIVE_AGENTS = """
SELECT json_group_array(agent_name) FROM session_rollup
WHERE workspace_id = ? AND state = 'active' AND shown = 1
"""
# Fewer matches than this are found by their filter and sorted; sorting them costs about a millisecond.
_FEW_MATCHES = 1_000
# Key, id, type, turn, agent, time, archived, length of the content.
_EventHead = tuple[int, str, str, str, str, str, int, int]
_names = msgspec.json.Decoder(frozenset[str])
_event_heads = msgspec.json.Decoder(list[_EventHead])


def list_workspaces(connection: sqlite3.Connection) -> tuple[Workspace, ...]:
    """Return all workspaces, oldest first."""
    rows = connection.execute("SELECT data FROM workspaces ORDER BY created_at, id").fetchall()
    return tuple(decode_workspace(row[0]) for row in rows)


def list_grants(connection: sqlite3.Connection, workspace_id: str) -> tuple[ApprovalGrant, ...]:
    """Return the remembered answers of a workspace, oldest first."""
    rows = connection.execute(
        "SELECT data FROM tool_grants WHERE workspace_id = ? ORDER BY created_at, id", (workspace_id,)
    ).fetchall()
    return tuple(decode_grant(row[0]) for row in rows)


def get_session(connection: sqlite3.Connection, session_id: str) -> SessionRecord | None:
    """Return the session with that id."""
    row = connection.execute(_SESSION_ROW + "WHERE s.id = ?", (session_id,)).fetchone()
    return decode_session(row[0], row[1]) if row else None


def count_sessions(connection: sqlite3.Connection) -> dict[str, int]:
    """Return how many sessions are in each state."""
    rows = connection.execute("SELECT state, sum(sessions) FROM session_rollup GROUP BY state").fetchall()
    return dict(rows)


def count_attention(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Return how many sessions of each workspace need a person, and how many have something finished to show."""
    rows = connection.execute(
        "SELECT workspace_id, sum(attention = ?), sum(attention = ?) FROM sessions "
        "WHERE attention > 0 AND +shown = 1 AND archived = 0 GROUP BY workspace_id",
        (NEEDS_YOU, FINISHED),
    ).fetchall()
    return {workspace: (needs, finished) for workspace, needs, finished in rows}


def agent_metrics(
    connection: sqlite3.Connection, workspace_id: str, names: Sequence[str], now_us: int
) -> dict[str, AgentMetrics]:
    """Return the metrics of each named agent, from the rollup and the end of one index each."""
    connection.execute("BEGIN")
    try:
        return {name: _agent_metrics(connection, workspace_id, name, now_us) for name in names}
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")


def _agent_metrics(connection: sqlite3.Connection, workspace_id: str, name: str, now_us: int) -> AgentMetrics:
    who = (name, workspace_id)
    total, active, failed, runtime_us, last = connection.execute(_AGENT_METRICS, (now_us, *who, *who)).fetchone()
    return AgentMetrics(
        total=total, active=active, failed=failed, runtime_seconds=runtime_us // 1_000_000, last_activity_at=last
    )


def active_agents(connection: sqlite3.Connection, workspace_id: str) -> frozenset[str]:
    """Return the names of the agents with active sessions."""
    return _names.decode(connection.execute(_ACTIVE_AGENTS, (workspace_id,)).fetchone()[0])


def list_sessions(connection: sqlite3.Connection, query: SessionQuery) -> SessionRows:
    """Return one page and its total, both of the same moment."""
    order = check_query(query)
    start = page_start(query, order) if query.after else ()
    connection.execute("BEGIN")
    try:
        where, values = _session_filter(query)
        total = _count_matches(connection, query, where, values)
        page = _select_page(connection, query, order, start, total) if total else []
        wanted = page[: query.limit]
        records = _load_sessions(connection, [row[0] for row in wanted])
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")
    more = len(page) > len(wanted) and bool(wanted)
    return SessionRows(
        rows=records, total=total, next_after=tuple(str(value) for value in wanted[-1][1:]) if more else ()
    )


def _session_filter(query: SessionQuery) -> tuple[str, list[str | int]]:
    """Return the condition in the rollup's columns plus ancestry, badge and text, and its values."""
    parts = ["shown = 1"]
    values: list[str | int] = []
    for column, value in (
        ("workspace_id", query.workspace_id),
        ("state", query.state),
        ("type", query.type),
        ("agent_name", query.agent),
        ("parent_id", query.parent),
        ("root_id", query.root),
    ):
        if value:
            parts.append(f"{column} = ?")
            values.append(value)
    # A partial index is used only where its own condition is spelled out.
    if query.parent:
        parts.append("parent_id <> ''")
    if query.root:
        parts.append("root_id <> ''")
    if query.state not in ("", "stopped"):
        parts.append("state <> 'stopped'")
    if query.type not in ("", "user"):
        parts.append("type <> 'user'")
    if query.archive != "include":
        parts.append(f"archived = {int(query.archive == 'only')}")
    if query.badges:
        parts.append(f"badge IN ({', '.join('?' * len(query.badges))})")
        values.extend(query.badges)
    if query.attention:
        parts.append("attention > 0")
    if query.resumable is not None:
        parts.append(f"resumable = {int(query.resumable)}")
    if query.q:
        parts.append("instr(search, ?) > 0")
        values.append(query.q.casefold())
    return " AND ".join(parts), values


def _count_matches(connection: sqlite3.Connection, query: SessionQuery, where: str, values: list[str | int]) -> int:
    """Count by the rollup, which knows neither ancestry nor badges nor free text."""
    is_counted = query.parent or query.root or query.q or query.badges or query.attention
    if is_counted or query.resumable is not None:
        # The `+` keeps SQLite from counting along the list's own index, which holds none of these columns.
        statement = f"SELECT count(*) FROM sessions WHERE +{where}"  # noqa: S608
    else:
        statement = f"SELECT coalesce(sum(sessions), 0) FROM session_rollup WHERE {where}"  # noqa: S608
    return int(connection.execute(statement, values).fetchone()[0])


def _select_page(
    connection: sqlite3.Connection,
    query: SessionQuery,
    order: tuple[str, ...],
    start: tuple[str | int, ...],
    total: int,
) -> list[tuple[int, ...]]:
    """Return number and order values of one row more than the page holds.

    Many matches: walk the list's own index until the page is full. Few: find them by their filter and sort them;
    the `+` keeps SQLite from walking the whole list in search of them.
    """
    where, values = _session_filter(query)
    plus = "+" if total < _FEW_MATCHES else ""
    where = plus + where
    if start:
        where += f" AND ({', '.join(order)}) < ({', '.join('?' * len(order))})"
    ordered = ", ".join(f"{plus}{name} DESC" for name in order)
    return connection.execute(
        f"SELECT num, {', '.join(order)} FROM sessions WHERE {where} ORDER BY {ordered} LIMIT ?",  # noqa: S608
        [*values, *start, query.limit + 1],
    ).fetchall()


def _load_sessions(connection: sqlite3.Connection, nums: list[int]) -> tuple[SessionRecord, ...]:
    if not nums:
        return ()
    rows = connection.execute(
        "SELECT d.session, d.data, p.startup_prompt FROM session_data d "  # noqa: S608
        f"JOIN session_startup p ON p.session = d.session WHERE d.session IN ({', '.join('?' * len(nums))})",
        nums,
    ).fetchall()
    records = {num: decode_session(data, prompt) for num, data, prompt in rows}
    return tuple(records[num] for num in nums)


def last_sequence(connection: sqlite3.Connection, session_id: str) -> int:
    """Return the session's highest sequence, 0 without events or session."""
    num = find_session(connection, session_id)
    return 0 if num is None else find_last_sequence(connection, num)


def read_events(connection: sqlite3.Connection, session_id: str, query: EventQuery) -> tuple[StoredEvent, ...]:
    """Return the wanted events in ascending order."""
    num = find_session(connection, session_id)
    if num is None:
        return ()
    base = first_key(num)
    where, values = _event_filter(query, base, first_key(num + 1))
    direction = "DESC" if query.after_sequence is None else "ASC"
    wanted = f"SELECT * FROM events WHERE {where} ORDER BY key {direction} LIMIT ?"  # noqa: S608 - fixed fragments
    heads, contents = connection.execute(
        "SELECT json_group_array(json_array(key, id, type, turn_id, agent_name, timestamp, archived, "  # noqa: S608
        f"length(content))), CAST(group_concat(content, '') AS BLOB) FROM ({wanted})",
        [*values, max(0, query.limit)],
    ).fetchone()
    events = []
    place = 0
    for key, event_id, kind, turn_id, agent_name, timestamp, archived, length in _event_heads.decode(heads):
        events.append(
            StoredEvent(
                id=event_id,
                session_id=session_id,
                sequence=key - base,
                type=kind,
                turn_id=turn_id,
                agent_name=agent_name,
                content=contents[place : place + length],
                timestamp=timestamp,
                archived=bool(archived),
            )
        )
        place += length
    events.sort(key=lambda event: event.sequence)
    return tuple(events)


def _event_filter(query: EventQuery, base: int, end: int) -> tuple[str, list[str | int]]:
    after = base if query.after_sequence is None else base + max(0, query.after_sequence)
    before = end if query.before_sequence is None else min(end, base + query.before_sequence)
    parts = ["key > ?", "key < ?"]
    values: list[str | int] = [after, before]
    for column, value in (("type", query.type), ("turn_id", query.turn_id), ("agent_name", query.agent_name)):
        if value:
            parts.append(f"{column} = ?")
            values.append(value)
    if query.since:
        parts.append("timestamp >= ?")
        values.append(query.since)
    if query.archive != "all":
        parts.append("archived = ?")
        values.append(int(query.archive == "archived"))
    return " AND ".join(parts), values


def find_prompt(
    connection: sqlite3.Connection, session_id: str, idempotency_key: str, message_id: str
) -> PromptRecord | None:
    """Return the prompt with that key, else the one with that message id."""
    num = find_session(connection, session_id)
    for column, value in (("idempotency_key", idempotency_key), ("message_id", message_id)):
        if num is None or not value:
            continue
        row = connection.execute(
            "SELECT idempotency_key, message_id, payload_digest, turn_id, created_at FROM prompts "  # noqa: S608
            f"WHERE session = ? AND {column} = ? AND {column} <> ''",
            (num, value),
        ).fetchone()
        if row:
            key, message, digest, turn_id, created_at = row
            return PromptRecord(
                session_id=session_id,
                idempotency_key=key,
                message_id=message,
                payload_digest=digest,
                turn_id=turn_id,
                created_at=created_at,
            )
    return None


def list_processes(connection: sqlite3.Connection) -> tuple[ProcessRecord, ...]:
    """Return the remembered processes, oldest first."""
    rows = connection.execute(
        "SELECT session_id, pid, start_time, pgid, marker, started_at FROM processes ORDER BY started_at, pid"
    ).fetchall()
    return tuple(
        ProcessRecord(
            session_id=session_id,
            pid=pid,
            start_time=start_time,
            group=group,
            marker=marker,
            started_at=started_at,
        )
        for session_id, pid, start_time, group, marker, started_at in rows
    )
