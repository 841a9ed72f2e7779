"""Watching a turn until its agent answers: silence, deadline, progress, and the end of one that ignores a cancel.

A silence is first told (`runtime_warning`, the session counts as stalled), then ended by a cancel, then by ending the
process. Who waits for a person is not silent. Settings: `[session.supervision]` (contract §2.2, §5.9).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec

from compozy.acp.contract import AgentDied, AgentProtocolError, AgentTimeout, PromptOutcome
from compozy.config.sections import Supervision
from compozy.runtime.sessions.content import EventMaker, raw_json
from compozy.runtime.sessions.journal import Journal
from compozy.runtime.sessions.process import AgentProcess
from compozy.runtime.sessions.supervision.turn import Turn

# A question or an update moves the marks of silence: they are looked at this often.
_LOOK_AGAIN_SECONDS = 60.0
# After its process was ended a prompt must return; this is only a belt.
_LAST_RESORT_SECONDS = 10.0


class TurnReports:
    """What is told about a running turn, as events and in the session's row."""

    def __init__(self, journal: Journal, maker: EventMaker) -> None:
        self._journal = journal
        self._maker = maker

    async def stalled(self, turn: Turn, silent: float) -> None:
        """Say that the agent shows no sign of life; the session counts as hung until it does."""
        draft = self._maker.draft(
            "runtime_warning",
            turn.id,
            title="inactivity",
            text=f"no sign of life for {silent:.0f} s{_last(turn)}",
            raw=raw_json(turn.activity()),
        )
        await self._journal.write([draft], lambda record: msgspec.structs.replace(record, stalled_turn=turn.id))

    async def revived(self) -> None:
        """Say that it lives."""
        await self._journal.change(lambda record: msgspec.structs.replace(record, stalled_turn=""))

    async def progress(self, turn: Turn) -> None:
        """Say that a long turn still runs."""
        activity = turn.activity()
        text = (
            f"working for {activity.elapsed_seconds} s, last sign of life {activity.idle_seconds} s ago{_last(turn)}"
        )
        draft = self._maker.draft("runtime_progress", turn.id, title="progress", text=text, raw=raw_json(activity))
        await self._journal.write([draft])
        turn.signs.progress_at = draft.timestamp

    async def heartbeat(self) -> None:
        """Let watchers of the session list look again."""
        await self._journal.change(lambda record: record)


def _last(turn: Turn) -> str:
    signs = turn.signs
    return f" ({signs.kind}{f' {signs.detail!r}' if signs.detail else ''})" if signs.kind else ""


class Watch:
    """Watches one prompt of one process."""

    def __init__(
        self,
        rules: Supervision,
        turn: Turn,
        process: AgentProcess,
        reports: TurnReports,
        end: Callable[[AgentProcess], Awaitable[None]],
    ) -> None:
        self._rules, self._turn, self._process, self._reports, self._end = rules, turn, process, reports, end
        now = time.monotonic()
        self._told_at = self._beat_at = now
        self._warn_after = float(rules.inactivity_warning_after)
        self._limit = float(rules.inactivity_timeout)

    async def until(self, task: "asyncio.Future[PromptOutcome]") -> None:
        """Return when the prompt has been answered, or its process was ended.

        Raises:
            AgentDied: the process was ended and the prompt did not return by itself.
        """
        turn = self._turn
        turn.signs.note()
        # The prompt goes out first: who asked for the end before that could not reach the agent yet.
        await asyncio.sleep(0)
        if turn.ending and not task.done():
            await cancel_turn(self._process)
        while not task.done():
            turn.changed.clear()
            if turn.ending:
                left = turn.asked_at + float(self._rules.timeout_cancel_grace) - time.monotonic()
                if left <= 0:
                    await self._end_stubborn(task)
                    return
            else:
                left = await self._look()
            change = asyncio.ensure_future(turn.changed.wait())
            try:
                await asyncio.wait((task, change), timeout=max(0.0, left), return_when=asyncio.FIRST_COMPLETED)
            finally:
                change.cancel()

    async def _end_stubborn(self, task: "asyncio.Future[PromptOutcome]") -> None:
        await self._end(self._process)
        await asyncio.wait((task,), timeout=_LAST_RESORT_SECONDS)
        if not task.done():
            raise AgentDied("the process was ended because it ignored the cancel")

    async def _look(self) -> float:
        """Do what is due, and return for how long nothing will be."""
        turn, rules = self._turn, self._rules
        if self._process.questions.is_waiting:
            # The question has its own time.
            turn.signs.note()
        silent = turn.signs.silence()
        await self._tell_silence(silent)
        now, deadline = time.monotonic(), float(rules.prompt_deadline)
        lived = now - turn.signs.started
        if 0 < self._limit <= silent or 0 < deadline <= lived:
            turn.ask_to_end("timeout" if 0 < self._limit <= silent else "deadline")
            await cancel_turn(self._process)
            return 0.0
        progress, heartbeat = float(rules.progress_notify_interval), float(rules.activity_heartbeat_interval)
        if 0 < progress <= now - self._told_at:
            self._told_at = now
            await self._reports.progress(turn)
        if 0 < heartbeat <= now - self._beat_at:
            self._beat_at = now
            await self._reports.heartbeat()
        marks = [mark - silent for mark in (self._warn_after, self._limit) if mark > silent]
        marks += [deadline - lived] if deadline else []
        marks += [self._told_at + progress - now] if progress else []
        marks += [self._beat_at + heartbeat - now] if heartbeat else []
        return min((*marks, _LOOK_AGAIN_SECONDS))

    async def _tell_silence(self, silent: float) -> None:
        turn = self._turn
        is_stalled = 0 < self._warn_after <= silent
        if is_stalled == turn.is_stalled:
            return
        turn.is_stalled = is_stalled
        if is_stalled:
            await self._reports.stalled(turn, silent)
        else:
            await self._reports.revived()


async def cancel_turn(process: AgentProcess) -> None:
    """Answer what is pending with `cancelled` and ask the agent to stop."""
    process.questions.cancel_all()
    connection = process.connection
    if connection is not None and connection.is_alive:
        try:
            await connection.cancel(process.session_id)
        except (AgentDied, AgentProtocolError, AgentTimeout):
            # Its death ends the turn anyway.
            pass
