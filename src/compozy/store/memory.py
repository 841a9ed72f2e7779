"""The Store in memory: for tests of everything above, and the second witness of the Store's contract.

Keeps nothing when the process ends; otherwise it behaves like the SQLite store, which one suite checks.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from compozy.model.errors import NotFound
from compozy.model.event import EventDraft, StoredEvent
from compozy.model.message import Message
from compozy.model.tool import ApprovalGrant
from compozy.model.workspace import Workspace
from compozy.store.codec import store_event
from compozy.store.columns import (
    FINISHED,
    NEEDS_YOU,
    SessionColumns,
    check_query,
    derive_columns,
    microseconds,
    page_start,
    sort_key,
)
from compozy.store.interface import (
    AgentMetrics,
    EventQuery,
    OldSession,
    ProcessRecord,
    PromptRecord,
    SessionQuery,
    SessionRecord,
    SessionRows,
    StoredMessage,
    StoreSize,
    TranscriptEnd,
    TranscriptSegment,
)


class MemoryStore:
    """A Store whose facts live in dictionaries. Single event loop; no locks are needed, since nothing awaits."""

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}
        self._sessions: dict[str, tuple[SessionRecord, SessionColumns]] = {}
        self._events: dict[str, list[StoredEvent]] = {}
        self._segments: dict[str, dict[int, tuple[TranscriptSegment, int]]] = {}
        self._prompts: dict[str, list[PromptRecord]] = {}
        self._processes: dict[tuple[int, str], ProcessRecord] = {}
        self._grants: dict[tuple[str, ...], ApprovalGrant] = {}
        self._messages: dict[str, list[StoredMessage]] = {}
        self._last_number = 0

    async def open(self) -> None:
        """Do nothing: there is no file."""

    async def close(self) -> None:
        """Do nothing: there is no file."""

    async def put_workspace(self, workspace: Workspace) -> None:
        self._workspaces[workspace.id] = workspace

    async def list_workspaces(self) -> tuple[Workspace, ...]:
        return tuple(sorted(self._workspaces.values(), key=lambda w: (w.created_at, w.id)))

    async def delete_workspace(self, workspace_id: str) -> bool:
        return self._workspaces.pop(workspace_id, None) is not None

    async def put_session(self, record: SessionRecord) -> None:
        columns = derive_columns(record)
        known = self._sessions.get(record.session.id)
        if known is not None and known[1].attention == columns.attention:
            columns = columns._replace(attention_at=known[1].attention_at)
        self._sessions[record.session.id] = (record, columns)

    async def get_session(self, session_id: str) -> SessionRecord | None:
        known = self._sessions.get(session_id)
        return known[0] if known else None

    async def list_sessions(self, query: SessionQuery) -> SessionRows:
        order = check_query(query)
        found = [
            (sort_key(columns, order), record)
            for record, columns in self._sessions.values()
            if _is_match(columns, query)
        ]
        found.sort(key=lambda pair: pair[0], reverse=True)
        total = len(found)
        if query.after:
            start = page_start(query, order)
            found = [pair for pair in found if pair[0] < start]
        page = found[: query.limit]
        more = len(found) > len(page)
        return SessionRows(
            rows=tuple(record for _, record in page),
            total=total,
            next_after=tuple(str(value) for value in page[-1][0]) if more and page else (),
        )

    async def count_sessions(self) -> dict[str, int]:
        return dict(Counter(columns.state for _, columns in self._sessions.values()))

    async def count_attention(self) -> dict[str, tuple[int, int]]:
        found: dict[str, list[int]] = {}
        for _, row in self._sessions.values():
            if row.shown and not row.archived and row.attention:
                found.setdefault(row.workspace_id, []).append(row.attention)
        return {workspace: (seen.count(NEEDS_YOU), seen.count(FINISHED)) for workspace, seen in found.items()}

    async def agent_metrics(self, workspace_id: str, names: Sequence[str], *, now: str) -> dict[str, AgentMetrics]:
        moment = microseconds(now)
        shown = [row for _, row in self._sessions.values() if row.shown and row.workspace_id == workspace_id]
        return {name: _measure([row for row in shown if row.agent_name == name], moment) for name in names}

    async def active_agents(self, workspace_id: str) -> frozenset[str]:
        rows = (row for _, row in self._sessions.values() if row.shown and row.workspace_id == workspace_id)
        return frozenset(row.agent_name for row in rows if row.state == "active")

    async def delete_session(self, session_id: str) -> bool:
        if self._sessions.pop(session_id, None) is None:
            return False
        self._events.pop(session_id, None)
        self._segments.pop(session_id, None)
        self._prompts.pop(session_id, None)
        self._messages.pop(session_id, None)
        self._processes = {key: p for key, p in self._processes.items() if p.session_id != session_id}
        return True

    async def oldest_stopped(
        self, *, shown: bool, limit: int, after: tuple[str, str] = ("", "")
    ) -> tuple[OldSession, ...]:
        busy = {row.parent_id for _, row in self._sessions.values() if row.parent_id and row.state != "stopped"}
        found = sorted(
            (row.last_activity_at, row.id, row.workspace_id)
            for _, row in self._sessions.values()
            if row.state == "stopped" and bool(row.shown) is shown and row.id not in busy
        )
        return tuple(
            OldSession(id=session_id, workspace_id=workspace_id, last_activity_at=at)
            for at, session_id, workspace_id in found
            if (at, session_id) > after
        )[:limit]

    async def weigh_session(self, session_id: str) -> tuple[int, int]:
        events = self._events.get(session_id, [])
        return len(events), sum(len(event.content) for event in events)

    async def size(self) -> StoreSize:
        return StoreSize(used=sum(len(e.content) for events in self._events.values() for e in events), free=0)

    async def append_events(
        self,
        session_id: str,
        drafts: Sequence[EventDraft],
        *,
        record: SessionRecord | None = None,
        prompt: PromptRecord | None = None,
    ) -> tuple[StoredEvent, ...]:
        if record is not None:
            await self.put_session(record)
        self._require(session_id)
        if prompt is not None:
            await self.put_prompt(prompt)
        events = self._events.setdefault(session_id, [])
        stored = tuple(store_event(draft, session_id, len(events) + n) for n, draft in enumerate(drafts, start=1))
        events.extend(stored)
        return stored

    async def archive_events(
        self, session_id: str, first: int, drafts: Sequence[EventDraft], *, record: SessionRecord
    ) -> tuple[int, tuple[StoredEvent, ...]]:
        self._require(session_id)
        events = self._events.setdefault(session_id, [])
        chosen = [n for n, event in enumerate(events) if event.sequence >= first and not event.archived]
        for n in chosen:
            events[n] = msgspec.structs.replace(events[n], archived=True)
        return len(chosen), await self.append_events(session_id, drafts, record=record)

    async def read_events(self, session_id: str, query: EventQuery) -> tuple[StoredEvent, ...]:
        found = [event for event in self._events.get(session_id, ()) if _is_wanted(event, query)]
        limit = max(0, query.limit)
        if query.after_sequence is not None:
            return tuple(found[:limit])
        return tuple(found[len(found) - min(limit, len(found)) :])

    async def last_sequence(self, session_id: str) -> int:
        return len(self._events.get(session_id, ()))

    async def put_segment(self, session_id: str, segment: TranscriptSegment, *, mark: int) -> bool:
        if session_id not in self._sessions or mark != self._archived(session_id):
            return False
        kept = self._segments.setdefault(session_id, {})
        for first in [first for first in kept if segment.first <= first <= segment.last]:
            del kept[first]
        kept[segment.first] = (segment, self._archived_in(session_id, segment))
        return True

    async def read_segments(
        self, session_id: str, *, before_sequence: int | None = None, entries: int
    ) -> tuple[TranscriptSegment, ...]:
        found: list[TranscriptSegment] = []
        for segment in reversed(self._whole_segments(session_id)):
            if before_sequence is None or segment.first < before_sequence:
                found.append(segment)
            if sum(one.entries for one in found) >= entries:
                break
        return tuple(reversed(found))

    async def transcript_end(self, session_id: str) -> TranscriptEnd:
        whole = self._whole_segments(session_id)
        return TranscriptEnd(last=whole[-1].last if whole else 0, mark=self._archived(session_id))

    def _whole_segments(self, session_id: str) -> list[TranscriptSegment]:
        kept = self._segments.get(session_id, {})
        return [
            segment
            for _, (segment, archived) in sorted(kept.items())
            if archived == self._archived_in(session_id, segment)
        ]

    def _archived_in(self, session_id: str, segment: TranscriptSegment) -> int:
        events = self._events.get(session_id, [])[segment.first - 1 : segment.last]
        return sum(event.archived for event in events)

    def _archived(self, session_id: str) -> int:
        return sum(event.archived for event in self._events.get(session_id, []))

    async def put_prompt(self, prompt: PromptRecord) -> None:
        self._require(prompt.session_id)
        kept = [p for p in self._prompts.get(prompt.session_id, ()) if not _is_same_prompt(p, prompt)]
        self._prompts[prompt.session_id] = [*kept, prompt]

    async def find_prompt(
        self, session_id: str, *, idempotency_key: str = "", message_id: str = ""
    ) -> PromptRecord | None:
        prompts = self._prompts.get(session_id, ())
        by_key = (p for p in prompts if idempotency_key and p.idempotency_key == idempotency_key)
        by_message = (p for p in prompts if message_id and p.message_id == message_id)
        return next(by_key, None) or next(by_message, None)

    async def put_grant(self, grant: ApprovalGrant) -> None:
        self._grants = {key: known for key, known in self._grants.items() if known.id != grant.id}
        self._grants[grant.workspace_id, grant.tool_id, grant.agent_name, grant.input_digest] = grant

    async def list_grants(self, workspace_id: str) -> tuple[ApprovalGrant, ...]:
        found = (grant for grant in self._grants.values() if grant.workspace_id == workspace_id)
        return tuple(sorted(found, key=lambda grant: (grant.created_at, grant.id)))

    async def delete_grant(self, workspace_id: str, grant_id: str) -> bool:
        kept = {
            key: known
            for key, known in self._grants.items()
            if (known.workspace_id, known.id) != (workspace_id, grant_id)
        }
        was_there = len(kept) < len(self._grants)
        self._grants = kept
        return was_there

    async def add_message(self, message: Message, *, keep: int) -> int:
        self._require(message.to)
        self._last_number += 1
        stored = StoredMessage(number=self._last_number, message=message)
        self._messages[message.to] = [*self._messages.get(message.to, ()), stored][-keep:]
        return stored.number

    async def read_messages(
        self, session_id: str, *, after: int = 0, up_to: int | None = None, limit: int, newest: bool = False
    ) -> tuple[StoredMessage, ...]:
        found = [
            one
            for one in self._messages.get(session_id, ())
            if one.number > after and (up_to is None or one.number <= up_to)
        ]
        return tuple(found[-limit:] if newest else found[:limit])

    async def put_process(self, process: ProcessRecord) -> None:
        self._processes[process.pid, process.start_time] = process

    async def delete_process(self, pid: int, start_time: str) -> None:
        self._processes.pop((pid, start_time), None)

    async def list_processes(self) -> tuple[ProcessRecord, ...]:
        return tuple(sorted(self._processes.values(), key=lambda p: (p.started_at, p.pid)))

    def _require(self, session_id: str) -> None:
        if session_id not in self._sessions:
            raise NotFound(f"session {session_id!r} does not exist; list sessions to see which do")


def _measure(rows: Sequence[SessionColumns], now_us: int) -> AgentMetrics:
    lived = (row.lived_us if row.state == "stopped" else now_us - row.created_us for row in rows)
    return AgentMetrics(
        total=len(rows),
        active=sum(row.state == "active" for row in rows),
        failed=sum(row.failed for row in rows),
        runtime_seconds=sum(max(0, us) for us in lived) // 1_000_000,
        last_activity_at=max((row.last_activity_at for row in rows), default=""),
    )


def _is_match(row: SessionColumns, query: SessionQuery) -> bool:
    wanted = (
        (query.workspace_id, row.workspace_id),
        (query.state, row.state),
        (query.type, row.type),
        (query.agent, row.agent_name),
        (query.parent, row.parent_id),
        (query.root, row.root_id),
    )
    if not row.shown or any(want and want != have for want, have in wanted):
        return False
    if query.archive != "include" and bool(row.archived) != (query.archive == "only"):
        return False
    if query.badges and row.badge not in query.badges:
        return False
    if (query.attention and not row.attention) or (query.resumable not in (None, bool(row.resumable))):
        return False
    return query.q.casefold() in row.search


def _is_wanted(event: StoredEvent, query: EventQuery) -> bool:
    wanted = (
        (query.type, event.type),
        (query.turn_id, event.turn_id),
        (query.agent_name, event.agent_name),
    )
    return (
        (query.after_sequence is None or event.sequence > query.after_sequence)
        and (query.before_sequence is None or event.sequence < query.before_sequence)
        and event.timestamp >= query.since
        and not any(want and want != have for want, have in wanted)
        and (query.archive == "all" or event.archived == (query.archive == "archived"))
    )


def _is_same_prompt(one: PromptRecord, other: PromptRecord) -> bool:
    return (bool(one.idempotency_key) and one.idempotency_key == other.idempotency_key) or (
        bool(one.message_id) and one.message_id == other.message_id
    )
