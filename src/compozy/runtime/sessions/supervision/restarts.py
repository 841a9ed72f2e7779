"""Running a turn to its end over as many agent processes as it takes (contract §5.9).

An agent that dies during a turn is started again after each of `session.recovery.delays`: the same turn, no second
user message, its own session loaded where it can be, else the transcript told. What is said to the new process names
what the turn has already done, so that nothing is done twice unseen.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from compozy.model import times
from compozy.model.errors import CompozyError
from compozy.model.event import EventDraft
from compozy.model.session import RuntimeRecovery
from compozy.runtime.sessions.content import EventMaker, raw_json
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.hosting import AgentHost
from compozy.runtime.sessions.journal import Journal, change_runtime
from compozy.runtime.sessions.ladder import CONTEXT_LOST, lost_marker
from compozy.runtime.sessions.process import AgentProcess, ProcessOwner
from compozy.runtime.sessions.prompts import prompt_meta
from compozy.runtime.sessions.supervision.turn import Turn
from compozy.runtime.sessions.supervision.watch import TurnReports
from compozy.runtime.sessions.turn_input import turn_blocks
from compozy.runtime.sessions.turns import TurnEnd, asked_end, run_turn
from compozy.store.interface import SessionRecord

log = logging.getLogger(__name__)

Blocks = Sequence[Mapping[str, object]]


class TurnRunner:
    """Runs the turns of one session."""

    def __init__(self, deps: Deps, journal: Journal, maker: EventMaker, host: AgentHost, owner: ProcessOwner) -> None:
        self._deps, self._journal, self._maker, self._host, self._owner = deps, journal, maker, host, owner
        self._reports = TurnReports(journal, maker)
        self._delays = [float(delay) for delay in deps.config.session.recovery.delays]

    async def run(
        self, turn: Turn, process: AgentProcess, blocks: Blocks, meta: Mapping[str, object]
    ) -> tuple[AgentProcess, TurnEnd]:
        """Return the process that served the turn last, and how the turn ended."""
        while True:
            end = await run_turn(self._deps, turn, process, self._maker, blocks, meta, self._reports)
            if not end.may_restart or turn.ending or not self._delays:
                return process, end
            turn.is_restarting = True
            try:
                found = await self._restart(turn, process, end)
            finally:
                turn.is_restarting = False
            if isinstance(found, TurnEnd):
                return process, found
            process, meta = found, prompt_meta(is_first=found.is_first_prompt)
            try:
                # What the new process is told: the request, and what the turn has done already.
                blocks = await turn_blocks(self._deps, self._journal.record, process, turn, is_restarted=True)
            except CompozyError as error:
                return process, self._untold(turn, error)
            if turn.was_asked_to_end():
                return process, self._asked(turn)
            found.is_first_prompt = False

    async def _restart(self, turn: Turn, process: AgentProcess, end: TurnEnd) -> AgentProcess | TurnEnd:
        """Start the agent again, as often as the settings say; a turn that should end meanwhile ends."""
        process.questions.end_turn()
        process.end_turn()
        await self._host.drop(process)
        since, left_open = times.now(), end.closing
        while turn.restarts < len(self._delays):
            delay = self._delays[turn.restarts]
            turn.restarts += 1
            await self._tell_start(turn, end, delay, since, left_open)
            left_open = ()
            if not await _is_wanted_after(turn, delay):
                return self._asked(turn)
            await self._tell_attempt()
            try:
                started = await self._host.ensure_bound(
                    self._owner, transition="automatic_recovery", require_context=turn.require_context
                )
            except CompozyError as error:
                if turn.ending:
                    return self._asked(turn)
                end = replace(end, summary=error.message)
                if error.code == CONTEXT_LOST:
                    # Another attempt would lose it as well.
                    return self._refused(turn, error)
                continue
            if turn.ending:
                return self._asked(turn)
            await self._tell_success(turn, started)
            return started
        return replace(end, closing=left_open, drafts=(self._exhausted(turn, end), *end.drafts))

    def _asked(self, turn: Turn) -> TurnEnd:
        note = "the agent had died and was being started again"
        return TurnEnd(drafts=(asked_end(turn, self._maker, note),), process_lost=True)

    def _untold(self, turn: Turn, error: CompozyError) -> TurnEnd:
        failure = self._maker.failure("prompt_failure", error.message)
        draft = self._maker.draft("error", turn.id, error=failure.summary, stop_reason="error", failure=failure)
        return TurnEnd(drafts=(draft,))

    def _refused(self, turn: Turn, error: CompozyError) -> TurnEnd:
        failure = self._maker.failure("load_session_failure", error.message)
        draft = self._maker.draft("error", turn.id, error=failure.summary, stop_reason=CONTEXT_LOST, failure=failure)
        return TurnEnd(drafts=(draft,), process_lost=True, fatal="load_session_failure", summary=error.message)

    # --- what is told

    async def _tell_start(
        self, turn: Turn, end: TurnEnd, delay: float, since: str, left_open: tuple[EventDraft, ...]
    ) -> None:
        most = len(self._delays)
        state = RuntimeRecovery(
            attempt=turn.restarts,
            max_attempts=most,
            generation=self._journal.record.session.runtime.generation,
            started_at=since,
            last_attempt_at=times.now(),
            next_attempt_at=times.later(delay),
            last_error=self._maker.redact(end.summary),
        )
        draft = self._draft(
            "started",
            turn,
            f"{end.summary}; attempt {turn.restarts} of {most} to start it again in {delay:g} s",
            {"attempt": turn.restarts, "max_attempts": most, "delay_ms": round(delay * 1000)},
        )

        def change(record: SessionRecord) -> SessionRecord:
            return change_runtime(
                record, status="recovering", transition="automatic_recovery", recovery=state, failure=state.last_error
            )

        await self._journal.write([*left_open, draft], change)

    async def _tell_attempt(self) -> None:
        def change(record: SessionRecord) -> SessionRecord:
            state = record.session.runtime.recovery
            if state is None:
                return record
            return change_runtime(record, recovery=_attempted(state))

        await self._journal.change(change)

    async def _tell_success(self, turn: Turn, process: AgentProcess) -> None:
        how = {"resume": "resumed its session", "load": "loaded its session"}.get(
            process.rung, "was told the transcript"
        )
        draft = self._draft(
            "succeeded",
            turn,
            f"the agent runs again and {how}",
            {"attempt": turn.restarts, "method": process.rung, "session_id": process.session_id},
        )
        lost = lost_marker(self._maker, process, turn.id)
        await self._journal.write([draft, *lost], lambda record: change_runtime(record, recovery=None))

    def _exhausted(self, turn: Turn, end: TurnEnd) -> EventDraft:
        text = f"the agent could not be brought back in {turn.restarts} attempts: {end.summary}"
        return self._draft("exhausted", turn, text, {"attempt": turn.restarts, "max_attempts": len(self._delays)})

    def _draft(self, name: str, turn: Turn, text: str, facts: Mapping[str, object]) -> EventDraft:
        kind = f"runtime_recovery_{name}"
        return self._maker.draft(kind, turn.id, title=kind.replace("_", " "), text=text, raw=raw_json(facts))


def _attempted(state: RuntimeRecovery) -> RuntimeRecovery:
    return RuntimeRecovery(
        attempt=state.attempt,
        max_attempts=state.max_attempts,
        generation=state.generation,
        started_at=state.started_at,
        last_attempt_at=times.now(),
        last_error=state.last_error,
    )


async def _is_wanted_after(turn: Turn, seconds: float) -> bool:
    """Wait, unless the turn should end before; returns whether it should go on."""
    try:
        async with asyncio.timeout(seconds):
            while not turn.ending:
                turn.changed.clear()
                await turn.changed.wait()
    except TimeoutError:
        pass
    return not turn.ending
