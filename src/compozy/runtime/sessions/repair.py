"""Mending a session's history, append-only: turns without an end, tool calls without a result (contract §3.5 repair).

A daemon that was killed is set right when it starts (`recovery.py`); this looks at any session on demand. What runs
now is left alone unless the caller insists.
"""

from collections.abc import Sequence

import msgspec

from compozy.model.event import EventDraft, StoredEvent
from compozy.model.session_reads import Repair, RepairAction, RepairIssue
from compozy.runtime.sessions.content import EventMaker, read_content
from compozy.runtime.sessions.live import LiveSession
from compozy.runtime.sessions.mapping import closing_result
from compozy.store.interface import EventQuery, Store

_PAGE = 1000
_REASON = "repaired: no end of it was stored"


class _Seen:
    """What the events tell of turns and tool calls."""

    def __init__(self) -> None:
        self.open_turns: dict[str, StoredEvent] = {}
        self.open_calls: dict[tuple[str, str], tuple[StoredEvent, str]] = {}

    def add(self, event: StoredEvent) -> None:
        """Take one event, in order."""
        if event.type == "user_message":
            self.open_turns[event.turn_id] = event
        elif event.type in ("done", "error"):
            self.open_turns.pop(event.turn_id, None)
        elif event.type == "tool_call":
            content = read_content(event.content)
            self.open_calls.setdefault((event.turn_id, content.tool_call_id), (event, content.title))
        elif event.type == "tool_result":
            call = read_content(event.content).tool_call_id
            for key in [key for key in self.open_calls if key[1] == call]:
                del self.open_calls[key]


async def repair(store: Store, live: LiveSession, maker: EventMaker, *, dry_run: bool, force: bool) -> Repair:
    """Say what is wrong with a session's history, and append what mends it unless this is a dry run.

    The running turn is left out; `force` mends its dangling tool calls too.
    """
    session = live.record.session
    seen = await _read(store, session.id)
    running = live.record.turn_id
    issues: list[RepairIssue] = []
    actions: list[RepairAction] = []
    drafts: list[EventDraft] = []
    if running:
        detail = "a turn runs: it is left alone" + ("" if force else "; force mends its tool calls too")
        issues.append(RepairIssue(code="turn_running", severity="info", turn_id=running, detail=detail))
    for (turn_id, call_id), (event, title) in seen.open_calls.items():
        if turn_id == running and not force:
            continue
        issues.append(
            RepairIssue(
                code="dangling_tool_call", severity="warning", turn_id=turn_id, event_id=event.id, detail=title
            )
        )
        actions.append(
            RepairAction(
                code="append_tool_result", turn_id=turn_id, persisted=False, tool_call_id=call_id, tool_name=title
            )
        )
        drafts.append(closing_result(maker, turn_id, call_id, title, _REASON))
    for turn_id, event in seen.open_turns.items():
        if turn_id == running:
            continue
        issues.append(RepairIssue(code="turn_without_end", severity="error", turn_id=turn_id, event_id=event.id))
        actions.append(RepairAction(code="append_turn_end", turn_id=turn_id, persisted=False))
        drafts.append(maker.draft("error", turn_id, stop_reason="interrupted", error=_REASON))
    persisted = bool(drafts) and not dry_run
    if persisted:
        stored = await live.journal.write(drafts, lambda record: record)
        actions = [_stored(action, event) for action, event in zip(actions, stored, strict=True)]
    return Repair(session_id=session.id, issues=tuple(issues), actions=tuple(actions), persisted=persisted)


def _stored(action: RepairAction, event: StoredEvent) -> RepairAction:
    return msgspec.structs.replace(action, persisted=True, event_id=event.id)


async def _read(store: Store, session_id: str) -> _Seen:
    seen = _Seen()
    after = 0
    while True:
        page: Sequence[StoredEvent] = await store.read_events(
            session_id, EventQuery(after_sequence=after, limit=_PAGE)
        )
        for event in page:
            seen.add(event)
        if len(page) < _PAGE:
            return seen
        after = page[-1].sequence
