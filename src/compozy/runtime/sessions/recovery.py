"""After a daemon that ended without saying so: what the store still calls running is set right (contract §5.9, D20).

Append-only: dangling tool calls are closed, the turn is `interrupted`, the session stopped but resumable, pending
questions are orphaned. Processes of the old life are ended first; the store names them (P48, P58).
"""

import logging
from collections.abc import Sequence

import msgspec

from compozy.acp.contract import ProcessIdentity
from compozy.acp.processes import end_all_recorded
from compozy.model.event import EventDraft
from compozy.model.session import Failure, Session
from compozy.runtime.sessions.badge import badge_of
from compozy.runtime.sessions.content import EventMaker, read_content
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.mapping import closing_result
from compozy.store.interface import EventQuery, ProcessRecord, SessionQuery, SessionRecord, Store

log = logging.getLogger(__name__)

_PAGE = 100
_EVENT_PAGE = 1000
_REASON = "daemon stopped"
# What each state found at boot means (contract §5.9).
_FOUND = {
    "active": ("agent_crashed", "process_exit", "daemon crashed while session active"),
    "stopping": ("agent_crashed", "process_exit", "stop did not complete"),
    "starting": ("error", "startup_failure", "start did not complete"),
}


async def end_recorded_processes(records: Sequence[ProcessRecord]) -> None:
    """End what is left of launches: each recorded process that is still the same, and whatever carries its marker."""
    await end_all_recorded(
        [
            ProcessIdentity(pid=record.pid, start_time=record.start_time, group=record.group, marker=record.marker)
            for record in records
        ]
    )


async def end_old_processes(deps: Deps) -> int:
    """End every recorded process that is still ours; returns how many records there were."""
    records = await deps.store.list_processes()
    if not records:
        return 0
    try:
        # All at once: the start waits for them, and each is given a moment to end by itself.
        await deps.end_processes(records)
    except OSError as error:
        log.warning("the processes of %d launches could not be ended: %s", len(records), error)
        return len(records)
    for record in records:
        await deps.store.delete_process(record.pid, record.start_time)
    return len(records)


async def recover_sessions(deps: Deps) -> int:
    """Set right every session that was not stopped; returns how many there were."""
    stale: list[SessionRecord] = []
    for state in _FOUND:
        after: tuple[str, ...] = ()
        while True:
            query = SessionQuery(state=state, archive="include", limit=_PAGE, after=after)
            page = await deps.store.list_sessions(query)
            stale.extend(page.rows)
            after = page.next_after
            if not after:
                break
    for record in stale:
        await _recover(deps, record)
    return len(stale)


async def _recover(deps: Deps, record: SessionRecord) -> None:
    session = record.session
    reason, kind, summary = _FOUND[session.state]
    maker = EventMaker(session.agent_name, deps.redactor)
    maker.acp_session_id = session.runtime.acp_session_id
    failure = Failure(kind=kind, summary=summary)  # type: ignore[arg-type]
    drafts: list[EventDraft] = []
    if record.turn_id:
        drafts += await _dangling(deps.store, record, maker)
        drafts.append(maker.draft("error", record.turn_id, stop_reason="interrupted", error=_REASON, failure=failure))
    drafts.append(maker.draft("session_stopped", "", stop_reason=reason, text=summary, failure=failure))
    last = await deps.store.read_events(session.id, EventQuery(limit=1, archive="all"))
    last_heard = last[-1].timestamp if last else session.updated_at
    stopped = _stopped(session, reason, summary, failure, last_heard)
    changed = msgspec.structs.replace(record, session=stopped, turn_id="")
    await deps.store.append_events(session.id, drafts, record=changed)


def _stopped(session: Session, reason: str, summary: str, failure: Failure, last_heard: str) -> Session:
    orphans = tuple(msgspec.structs.replace(i, status="orphaned") for i in session.pending_interactions)
    runtime = msgspec.structs.replace(session.runtime, status="unbound", transition="", recovery=None)
    stopped = msgspec.structs.replace(
        session,
        state="stopped",
        stop_reason=reason,
        stop_detail=summary,
        failure=failure,
        # Resumable by a prompt: the agent did not end by itself (D20).
        attachable=True,
        runtime=runtime,
        pending_interactions=orphans,
        # The session stopped when it was last heard of, not when we found out (P58).
        updated_at=last_heard,
    )
    return msgspec.structs.replace(stopped, badge=badge_of(stopped, prompting=False))


async def _dangling(store: Store, record: SessionRecord, maker: EventMaker) -> list[EventDraft]:
    """Return the closing results of the tool calls that the interrupted turn left open."""
    open_calls: dict[str, str] = {}
    after = 0
    while True:
        query = EventQuery(after_sequence=after, turn_id=record.turn_id, limit=_EVENT_PAGE)
        page = await store.read_events(record.session.id, query)
        for event in page:
            if event.type == "tool_call":
                content = read_content(event.content)
                open_calls[content.tool_call_id] = content.title
            elif event.type == "tool_result":
                open_calls.pop(read_content(event.content).tool_call_id, None)
        if len(page) < _EVENT_PAGE:
            break
        after = page[-1].sequence
    return [closing_result(maker, record.turn_id, call, title, _REASON) for call, title in open_calls.items()]
