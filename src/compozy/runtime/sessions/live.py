"""One session with everything that moves: the single owner of its state (contract §5.1, §5.2, §5.9).

Every transition happens here and nowhere else: admit a prompt, bind, run a turn, cancel, stop, restart. One lock
keeps lifecycle steps apart; the turn itself runs beside it as a task this object owns. What is durable goes through
the journal.
"""

import asyncio
import logging

import msgspec

from compozy.model.errors import Conflict
from compozy.model.event import EventDraft
from compozy.model.session import (
    EffectiveRuntime,
    Failure,
    Interaction,
    RuntimeStatus,
    SessionState,
    StopReason,
)
from compozy.runtime.sessions.binding import BindFailed, bind, end_process, new_marker
from compozy.runtime.sessions.containment import Roots
from compozy.runtime.sessions.content import EventMaker, raw_json
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.fanout import Ring
from compozy.runtime.sessions.journal import Change, Journal, Listener, change_runtime, change_session
from compozy.runtime.sessions.negotiation import Agreement
from compozy.runtime.sessions.process import AgentProcess
from compozy.runtime.sessions.prompts import first_turn, prompt_meta
from compozy.runtime.sessions.questions import Answer, check_decision, not_pending, without_pending
from compozy.runtime.sessions.replay import history_text
from compozy.runtime.sessions.turns import EndReason, Turn, TurnEnd, cancel_turn, run_turn
from compozy.store.interface import PromptRecord, SessionRecord

log = logging.getLogger(__name__)


class LiveSession:
    """A session in memory. Methods are called on the event loop; each leaves the session in a stored state."""

    def __init__(
        self, deps: Deps, record: SessionRecord, last_sequence: int, last_turn_id: str, on_change: Listener
    ) -> None:
        self._deps = deps
        self.journal = Journal(deps.store, record, Ring(last_sequence), on_change)
        self._maker = EventMaker(record.session.agent_name, deps.redact_text, deps.redact_raw)
        self._roots = Roots(record.cwd, record.additional_dirs)
        self._process: AgentProcess | None = None
        self._turn: Turn | None = None
        self._turn_task: asyncio.Task[None] | None = None
        self._last_turn_id = last_turn_id
        self._is_admitting = False
        # Keeps bind, restart and stop from overlapping.
        self._lifecycle = asyncio.Lock()
        if record.session.state == "stopped":
            self.journal.ring.close()

    # --- what others may ask

    @property
    def record(self) -> SessionRecord:
        """The newest stored record."""
        return self.journal.record

    @property
    def permission_mode(self) -> str:
        """The mode in force."""
        return self.journal.record.permission_mode

    @property
    def turn(self) -> Turn | None:
        """The turn in flight."""
        return self._turn

    @property
    def current_turn_id(self) -> str:
        """The turn in flight, else the last one."""
        return self._turn.id if self._turn is not None else self._last_turn_id

    @property
    def is_prompting(self) -> bool:
        """Whether a turn is in flight."""
        return self._turn is not None

    @property
    def is_busy(self) -> bool:
        """Whether a prompt would have to wait."""
        return self._turn is not None or self._is_admitting

    @property
    def process(self) -> AgentProcess | None:
        """The process that serves the session now."""
        return self._process

    def touch(self) -> None:
        """Note a sign of life of the agent."""
        if self._turn is not None:
            self._turn.last_sign = asyncio.get_running_loop().time()

    # --- prompts

    async def prompt(self, text: str, identity: PromptRecord) -> Turn:
        """Start a turn: bind if needed, store the user's message, send it. Returns once the message is stored.

        Raises:
            Conflict: a turn is in flight, or the session is read-only.
            CompozyError: the agent cannot be started or refuses what was chosen; no message is left behind.
        """
        if self._turn is not None and self._turn.is_closing:
            # Who saw the last event of a turn may send the next prompt at once.
            await self._turn.finished.wait()
        if self.is_busy:
            raise Conflict(
                f"session {self.record.session.id!r} is busy with turn {self.current_turn_id!r}: wait for its end or "
                "cancel it",
                code="session_busy",
                diagnostic=True,
                category="session",
            )
        self._is_admitting = True
        try:
            async with self._lifecycle:
                self._refuse_read_only()
                process = await self._ensure_bound()
                return await self._begin(text, identity, process)
        finally:
            self._is_admitting = False

    def _refuse_read_only(self) -> None:
        session = self.record.session
        if session.archived_at is not None:
            raise Conflict(f"session {session.id!r} is archived: unarchive it first", code="session_archived")
        if session.state == "stopped" and not session.attachable:
            raise Conflict(
                f"session {session.id!r} is read-only history: its agent ended by itself; start a new session",
                code="session_not_attachable",
            )

    async def _begin(self, text: str, identity: PromptRecord, process: AgentProcess) -> Turn:
        turn_id = identity.turn_id
        prompt_text = text
        if process.is_first_prompt:
            history = await history_text(self._deps.store, self.record.session.id)
            prompt_text = first_turn(self.record.startup_prompt, text, history=history)
        await self._deps.store.put_prompt(identity)
        draft = self._maker.draft("user_message", turn_id, text=text, message_id=identity.message_id)
        turn = Turn(
            id=turn_id, message_id=identity.message_id, idempotency_key=identity.idempotency_key, start_sequence=0
        )
        self._turn = turn
        try:
            stored = await self.journal.write([draft], self._set(turn_id=turn_id))
        except BaseException:
            self._turn = None
            raise
        turn.start_sequence = stored[0].sequence
        meta = prompt_meta(is_first=process.is_first_prompt)
        process.is_first_prompt = False
        blocks: list[dict[str, object]] = [{"type": "text", "text": prompt_text}]
        self._turn_task = asyncio.get_running_loop().create_task(self._run(turn, process, blocks, meta))
        return turn

    async def _run(
        self, turn: Turn, process: AgentProcess, blocks: list[dict[str, object]], meta: dict[str, object]
    ) -> None:
        try:
            end = await run_turn(self._deps, turn, process, self._maker, blocks, meta)
            await self._finish(turn, process, end)
        except Exception:
            log.exception("the end of turn %s could not be stored", turn.id)
        finally:
            self._last_turn_id = turn.id
            if self._turn is turn:
                self._turn = None
            turn.finished.set()

    async def _finish(self, turn: Turn, process: AgentProcess, end: TurnEnd) -> None:
        process.questions.cancel_all()
        process.end_turn()
        if end.process_lost:
            await self._drop(process)
        drafts = end.drafts
        turn.is_closing = True
        if end.fatal is None:
            await self.journal.write(drafts, self._set(turn_id=""))
            return
        failure = self._maker.failure(end.fatal, end.summary)
        reason: StopReason = "agent_crashed" if end.fatal == "process_exit" else "error"
        await self._write_stopped(drafts, reason, "the agent died during a turn", failure, attachable=True)

    async def cancel(self) -> tuple[str, str]:
        """Ask the turn in flight to end; idempotent.

        Returns:
            The outcome (`canceled` or `nothing-in-flight`) and the turn's id.
        """
        turn, process = self._turn, self._process
        if turn is None or process is None:
            return "nothing-in-flight", ""
        if not turn.ending:
            turn.ask_to_end("cancelled", asyncio.get_running_loop().time())
            await cancel_turn(process)
        return "canceled", turn.id

    async def approve(self, request_id: str, turn_id: str, decision: str) -> Answer:
        """Give a person's answer to a permission request.

        Raises:
            Conflict: nothing of that id is pending in that turn.
            InvalidRequest: the decision is not on offer.
        """
        process = self._process
        if process is not None and process.questions.has(request_id):
            return process.questions.approve(request_id, turn_id, decision)
        orphan = next(
            (i for i in self.record.session.pending_interactions if i.provider_request_id == request_id), None
        )
        if orphan is None or orphan.status != "orphaned":
            raise not_pending(request_id, turn_id)
        return await self._resolve_orphan(orphan, decision)

    async def _resolve_orphan(self, orphan: Interaction, decision: str) -> Answer:
        """Record an answer to a question whose agent is gone; it can reach nobody (contract §5.9)."""
        check_decision(decision, orphan)
        draft = self._maker.draft(
            "permission",
            orphan.turn_id,
            request_id=orphan.provider_request_id,
            title=orphan.title,
            decision=decision,
            resolved_by="operator",
            interaction_id=orphan.interaction_id,
        )
        await self.journal.write([draft], lambda record: without_pending(record, orphan.interaction_id))
        return Answer(
            decision=decision,
            outcome="resolved-after-restart",
            request_id=orphan.provider_request_id,
            interaction_id=orphan.interaction_id,
            resolved_decision=decision,
        )

    # --- binding

    async def _ensure_bound(self) -> AgentProcess:
        process = self._process
        if process is not None and process.connection is not None and process.connection.is_alive:
            return process
        if process is not None:
            await self._drop(process)
        before = self.record.session
        restarting = before.state == "stopped"
        await self.journal.change(
            self._set(
                state="starting" if restarting else before.state,
                status="binding",
                transition="initial_bind",
                failure="",
            )
        )
        process = AgentProcess(self, self._maker, self._roots, new_marker(), self._deps.bounds.answer)
        self._process = process
        self._maker.acp_session_id = ""
        try:
            agreement = await bind(self._deps, self.record, process)
        except BindFailed as failed:
            self._process = None
            await self.journal.change(
                self._set(state=before.state, status="unbound", transition="", failure=failed.error.message)
            )
            raise failed.error from failed
        except BaseException:
            self._process = None
            await self.journal.change(self._set(state=before.state, status="unbound", transition=""))
            raise
        await self._bound(process, agreement)
        return process

    async def _bound(self, process: AgentProcess, agreement: Agreement) -> None:
        acp_id = process.session_id
        self._maker.acp_session_id = acp_id
        record = self.record
        drafts = [self._maker.draft("system", "", title="negotiation", text=note) for note in agreement.notes]
        if record.provider_session_ids and process.is_first_prompt:
            drafts.append(self._context_lost(record.provider_session_ids[-1], acp_id))

        def change(record: SessionRecord) -> SessionRecord:
            known = record.provider_session_ids
            record = change_runtime(
                record,
                status="ready",
                transition="",
                failure="",
                acp_session_id=acp_id,
                acp_caps=process.capabilities(),
                generation=record.session.runtime.generation + 1,
                effective=_effective(record.session.runtime.effective, agreement),
            )
            record = msgspec.structs.replace(
                record, provider_session_ids=known if known[-1:] == (acp_id,) else (*known, acp_id)
            )
            return change_session(
                record, state="active", stop_reason=None, stop_detail="", failure=None, attachable=True
            )

        self.journal.ring.reopen()
        await self.journal.write(drafts, change)

    def _context_lost(self, old: str, new: str) -> EventDraft:
        return self._maker.draft(
            "transcript_marker.created",
            "",
            title="context_lost",
            text=f"the agent could not load its session {old!r}: a new one was told the transcript",
            raw=raw_json({"kind": "context_lost", "previous_session_id": old, "session_id": new}),
        )

    async def _drop(self, process: AgentProcess) -> None:
        """End a process that serves no longer; the session can bind again."""
        if self._process is process:
            self._process = None
        await end_process(self._deps, process)
        await self.journal.change(self._set(status="unbound", transition=""))

    # --- ends

    async def process_exited(self, process: AgentProcess, exit_code: int | None, stderr_tail: str) -> None:
        """The process ended without us asking. During a turn the turn tells the story."""
        if process is not self._process or process.is_ending or self._turn is not None or self._is_admitting:
            return
        async with self._lifecycle:
            if process is not self._process or self._turn is not None:
                return
            self._process = None
            await end_process(self._deps, process)
            if exit_code == 0:
                await self._write_stopped((), "completed", "the agent's process exited", None, attachable=True)
                return
            tail = self._deps.redact_text(stderr_tail[-2000:]).strip()
            failure = self._maker.failure("process_exit", f"exit code {exit_code} while idle; {tail}".rstrip("; "))
            await self._write_stopped((), "agent_crashed", "the agent died while idle", failure, attachable=False)

    async def stop(self, reason: StopReason, detail: str, ending: EndReason = "cancelled") -> None:
        """Stop the session: end its turn, then its process. A stop in progress is joined; a stopped one is fine."""
        turn, process = self._turn, self._process
        if turn is not None and process is not None:
            # Before the lock: a turn may be what the lock's holder waits for.
            turn.ask_to_end(ending, asyncio.get_running_loop().time())
            await cancel_turn(process)
        elif process is not None and self._is_admitting:
            # A bind may take minutes; ending its process ends it now.
            await end_process(self._deps, process)
        async with self._lifecycle:
            if self._is_stopped():
                return
            await self.journal.change(self._set(state="stopping"))
            await self._end_turn(ending)
            if self._process is not None:
                process, self._process = self._process, None
                await end_process(self._deps, process)
            if not self._is_stopped():
                await self._write_stopped((), reason, detail, None, attachable=True)

    def _is_stopped(self) -> bool:
        return self.record.session.state == "stopped"

    async def _end_turn(self, ending: EndReason) -> None:
        turn, process = self._turn, self._process
        if turn is None or process is None:
            return
        turn.ask_to_end(ending, asyncio.get_running_loop().time())
        try:
            await asyncio.wait_for(turn.finished.wait(), self._deps.bounds.stop_turn)
        except TimeoutError:
            await end_process(self._deps, process)
            await turn.finished.wait()

    async def _write_stopped(
        self,
        drafts: tuple[EventDraft, ...],
        reason: StopReason,
        detail: str,
        failure: Failure | None,
        *,
        attachable: bool,
    ) -> None:
        stopped = self._maker.draft("session_stopped", "", stop_reason=reason, text=detail, failure=failure)

        def change(record: SessionRecord) -> SessionRecord:
            record = change_runtime(record, status="failed" if failure else "unbound", transition="")
            record = msgspec.structs.replace(record, turn_id="")
            return change_session(
                record,
                state="stopped",
                stop_reason=reason,
                stop_detail=detail,
                failure=failure,
                attachable=attachable,
                pending_interactions=(),
            )

        await self.journal.write((*drafts, stopped), change)
        self.journal.ring.close()

    # --- changes of the record

    def _set(
        self,
        *,
        state: SessionState | None = None,
        status: RuntimeStatus | None = None,
        transition: str | None = None,
        failure: str | None = None,
        turn_id: str | None = None,
    ) -> Change:
        given = {"status": status, "transition": transition, "failure": failure}
        runtime = {key: value for key, value in given.items() if value is not None}

        def change(record: SessionRecord) -> SessionRecord:
            if turn_id is not None:
                record = msgspec.structs.replace(record, turn_id=turn_id)
            if runtime:
                record = change_runtime(record, **runtime)
            return change_session(record, state=state) if state is not None else record

        return change


def _effective(known: EffectiveRuntime | None, agreement: Agreement) -> EffectiveRuntime | None:
    """Return what is in force: what the agent took, or the profile's provider alone."""
    if known is None:
        return None
    return msgspec.structs.replace(known, model=agreement.model, reasoning_effort=agreement.effort)
