"""A running turn: who it is, why it should end, and what its agent showed last (contract §5.9; shapes: Activity).

Only facts; what follows from them is decided in `watch.py` and `restarts.py`.
"""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from compozy.model import times
from compozy.model.attachment import AttachmentRef
from compozy.model.session import Activity
from compozy.runtime.sessions.startup.messages import Delivery

EndReason = Literal["", "cancelled", "interrupted", "timeout", "deadline"]
# Titles of tools and the like: enough for one line.
_DETAIL = 200


@dataclass(kw_only=True)
class Signs:
    """The signs of life of the agent in one turn; moments are `time.monotonic()`."""

    started: float = field(default_factory=time.monotonic)
    started_at: str = field(default_factory=times.now)
    last: float = field(default_factory=time.monotonic)
    kind: str = ""
    detail: str = ""
    tool: str = ""
    tool_call_id: str = ""
    progress_at: str = ""

    def note(self, kind: str = "", detail: str = "") -> None:
        """Take note of a sign; without a kind only the silence begins anew."""
        self.last = time.monotonic()
        if kind:
            self.kind, self.detail = kind, detail[:_DETAIL]

    def note_tool(self, call_id: str, title: str, *, is_over: bool) -> None:
        """Take note of the tool that is at work, or no longer."""
        if not is_over:
            self.tool_call_id, self.tool = call_id, title[:_DETAIL] or self.tool
        elif call_id == self.tool_call_id:
            self.tool_call_id = self.tool = ""

    def silence(self) -> float:
        """Return the seconds since the last sign."""
        return time.monotonic() - self.last


@dataclass(kw_only=True)
class Turn:
    """A running turn. `ending` says why we asked it to end, "" while it runs freely."""

    id: str
    message_id: str
    idempotency_key: str
    start_sequence: int
    text: str = ""
    """What the user said, as the agent was told it."""
    attachments: tuple[AttachmentRef, ...] = ()
    require_context: bool = False
    """The agent must remember the session: no new agent session may take its place."""
    ending: EndReason = ""
    note: str = ""
    """Why it was asked to end, where there is more to say than that."""
    asked_at: float = 0.0
    signs: Signs = field(default_factory=Signs)
    is_stalled: bool = False
    is_closing: bool = False
    """Its last event is being stored."""
    watchers: int = 0
    """How many clients read its stream now: what they see end needs no looking at later."""
    is_restarting: bool = False
    """Its agent died and is being started again."""
    restarts: int = 0
    delivery: Delivery = field(default_factory=Delivery)
    """What it told its agent of other sessions' messages."""
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def ask_to_end(self, reason: EndReason) -> None:
        """Remember why the turn should end; the first reason stays."""
        if not self.ending:
            self.ending, self.asked_at = reason, time.monotonic()
            self.changed.set()

    def was_asked_to_end(self) -> bool:
        """Whether anybody asked for the end by now."""
        return bool(self.ending)

    def revive(self) -> None:
        """Let whoever watches know at once that a stalled agent showed a sign of life."""
        if self.is_stalled:
            self.changed.set()

    def activity(self, deadline: float = 0.0) -> Activity:
        """Return what the turn does now; `deadline` is its longest life in seconds, 0 for none."""
        now, signs = datetime.now(UTC), self.signs
        elapsed, idle = time.monotonic() - signs.started, signs.silence()
        ends = now + timedelta(seconds=deadline - elapsed)
        return Activity(
            elapsed_ms=int(elapsed * 1000),
            elapsed_seconds=int(elapsed),
            idle_seconds=int(idle),
            iteration_current=0,
            iteration_max=0,
            current_tool=signs.tool,
            deadline_at=times.format_time(ends) if deadline else None,
            last_activity_at=times.format_time(now - timedelta(seconds=idle)),
            last_activity_detail=signs.detail,
            last_activity_kind=signs.kind,
            last_progress_at=signs.progress_at or None,
            tool_call_id=signs.tool_call_id,
            turn_id=self.id,
            turn_source="user",
            turn_started_at=signs.started_at,
        )
