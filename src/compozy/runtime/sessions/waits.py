"""Waiting for a session to reach a badge (contract §3.5 wait). In memory: a daemon that restarts has no waits.

A wait that ran out can be taken up again with its id: what the session reached meanwhile is not lost. Knows sessions
only as records that change.
"""

import asyncio
import time
from dataclasses import dataclass, field

from compozy.model import ids
from compozy.model.errors import Conflict, Gone, Unprocessable
from compozy.model.session import BADGES
from compozy.model.session_reads import WaitAnswer
from compozy.store.interface import SessionRecord

DEFAULT_UNTIL = ("waiting-for-input", "waiting-for-auth", "idle", "stopped", "failed")
MOST_WAITS = 32
MOST_MILLISECONDS = 1_800_000
# A wait that nobody takes up again is forgotten after this.
KEPT_SECONDS = 600.0


@dataclass(eq=False)
class _Wait:
    id: str
    until: tuple[str, ...]
    state: str = ""
    outcome: str = ""
    is_held: bool = False
    left_at: float = 0.0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def look(self, record: SessionRecord) -> None:
        if not self.outcome and is_reached(record, self.until):
            self.end("state-reached", record.session.badge)

    def end(self, outcome: str, state: str = "") -> None:
        if not self.outcome:
            self.outcome, self.state = outcome, state
        self.changed.set()


def is_reached(record: SessionRecord, until: tuple[str, ...]) -> bool:
    """Whether the session shows one of the badges; `done` is an idle session nobody looked at yet.

    A session with prompts that wait is not idle: the next turn begins at once.
    """
    badge = record.session.badge
    if badge in ("idle", "done") and record.queue:
        return False
    return badge in until or (badge == "done" and "idle" in until)


def check_wait(timeout_ms: int, until: tuple[str, ...]) -> tuple[str, ...]:
    """Return the badges to wait for.

    Raises:
        Unprocessable: a time out of bounds, or no such badge.
    """
    if not 1 <= timeout_ms <= MOST_MILLISECONDS:
        raise Unprocessable(
            f"timeout_ms {timeout_ms} is out of bounds: give 1 to {MOST_MILLISECONDS}", code="wait_timeout_invalid"
        )
    for badge in until:
        if badge not in BADGES:
            raise Unprocessable(
                f"until has {badge!r}, which is no badge: use some of {', '.join(BADGES)}", code="wait_until_invalid"
            )
    return until or DEFAULT_UNTIL


class Waits:
    """All waits of this daemon, by session."""

    def __init__(self) -> None:
        self._waits: dict[str, dict[str, _Wait]] = {}
        self._is_closed = False

    async def wait(
        self, record: SessionRecord, timeout_ms: int, until: tuple[str, ...], resume_id: str = ""
    ) -> tuple[WaitAnswer, bool]:
        """Wait for a badge; returns the answer, without the revision, and whether the session is gone.

        Raises:
            Conflict: too many wait for this session, or the wait to resume is for other badges or in use.
            Gone: the wait to resume is forgotten.
        """
        session_id = record.session.id
        wait = self._resumed(session_id, resume_id, until) if resume_id else self._new(session_id, until)
        wait.look(record)
        began = time.monotonic()
        wait.is_held = True
        try:
            if not wait.outcome and not self._is_closed:
                async with asyncio.timeout(timeout_ms / 1000):
                    await wait.changed.wait()
        except TimeoutError:
            pass
        finally:
            wait.is_held, wait.left_at = False, time.monotonic()
        outcome = wait.outcome or ("canceled" if self._is_closed else "timeout")
        if outcome != "timeout":
            self._forget(session_id, wait.id)
        answer = WaitAnswer(
            session_id=session_id,
            outcome=outcome,  # type: ignore[arg-type]
            revision=0,
            waited_ms=round((time.monotonic() - began) * 1000),
            until=wait.until,
            state=wait.state,
            resume_id=wait.id if outcome == "timeout" else "",
        )
        return answer, outcome == "session-gone"

    def changed(self, record: SessionRecord) -> None:
        """Take note of a changed session."""
        for wait in self._waits.get(record.session.id, {}).values():
            wait.look(record)

    def gone(self, session_id: str) -> None:
        """Take note of a deleted session."""
        for wait in self._waits.get(session_id, {}).values():
            wait.end("session-gone")

    def close(self) -> None:
        """End every wait with `canceled`."""
        self._is_closed = True
        for waits in self._waits.values():
            for wait in waits.values():
                wait.end("canceled")

    def _new(self, session_id: str, until: tuple[str, ...]) -> _Wait:
        waits = self._waits.setdefault(session_id, {})
        left = sorted((w for w in waits.values() if not w.is_held), key=lambda w: w.left_at)
        for wait in left:
            if len(waits) >= MOST_WAITS or time.monotonic() - wait.left_at > KEPT_SECONDS:
                waits.pop(wait.id)
        if len(waits) >= MOST_WAITS:
            raise Conflict(
                f"{MOST_WAITS} clients wait for session {session_id!r} already: let one of them end",
                code="too_many_waits",
            )
        wait = _Wait(id=ids.new_wait_id(), until=until)
        waits[wait.id] = wait
        return wait

    def _resumed(self, session_id: str, resume_id: str, until: tuple[str, ...]) -> _Wait:
        wait = self._waits.get(session_id, {}).get(resume_id)
        if wait is None or (not wait.is_held and time.monotonic() - wait.left_at > KEPT_SECONDS):
            raise Gone(f"wait {resume_id!r} is not known any more: wait anew without resume_id", code="wait_gone")
        if wait.is_held or until not in (DEFAULT_UNTIL, wait.until):
            raise Conflict(
                f"wait {resume_id!r} is in use or waits for {', '.join(wait.until)}: wait anew without resume_id",
                code="wait_conflict",
            )
        return wait

    def _forget(self, session_id: str, wait_id: str) -> None:
        waits = self._waits.get(session_id, {})
        waits.pop(wait_id, None)
        if not waits:
            self._waits.pop(session_id, None)
