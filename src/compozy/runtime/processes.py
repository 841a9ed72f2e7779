"""Which processes run for which session: what was started and is remembered, matched with the system's table (P48).

Reads only. Membership is decided as when a session is stopped (`acp/processes.py`), so what is listed here is what a
stop would end.
"""

import asyncio

from compozy.acp.contract import ProcessIdentity
from compozy.acp.processes import ProcessEntry, members_in, process_table
from compozy.model.process import AgentProcesses, AgentProcessRow
from compozy.store.interface import ProcessRecord, SessionRecord, Store


async def agent_processes(store: Store) -> AgentProcesses:
    """Return the living processes of all sessions, by session and start."""
    records = await store.list_processes()
    table = await asyncio.to_thread(process_table, [record.marker for record in records])
    rows: dict[int, AgentProcessRow] = {}
    for record in sorted(records, key=lambda one: (one.session_id, one.started_at)):
        session = await store.get_session(record.session_id)
        for entry in members_in(table, _identity(record)):
            # A launch that is being started is remembered twice for a moment.
            if entry.pid not in rows or entry.pid == record.pid:
                rows[entry.pid] = _row(entry, record, session)
    found = tuple(rows.values())
    return AgentProcesses(processes=found, total=len(found), rss_bytes=sum(row.rss_bytes for row in found))


def _identity(record: ProcessRecord) -> ProcessIdentity:
    return ProcessIdentity(pid=record.pid, start_time=record.start_time, group=record.group, marker=record.marker)


def _row(entry: ProcessEntry, record: ProcessRecord, session: SessionRecord | None) -> AgentProcessRow:
    return AgentProcessRow(
        pid=entry.pid,
        parent_pid=entry.parent,
        group=entry.group,
        session_id=record.session_id,
        started_at=record.started_at,
        rss_bytes=entry.memory,
        name=entry.name,
        is_leader=entry.pid == record.pid,
        agent_name=session.session.agent_name if session else "",
        workspace_id=session.session.workspace_id if session else "",
    )
