"""One session with everything that moves: the single owner of its state (contract §5.1, §5.2, §5.9).

Every transition happens here and nowhere else: admit a prompt, bind, run a turn, cancel, stop, restart. One lock
keeps lifecycle steps apart; the turn itself runs beside it as a task this object owns. What is durable goes through
the journal.
"""

import asyncio
import logging
from collections.abc import Mapping
from functools import partial

from compozy.config.config import Config
from compozy.model import times
from compozy.model.errors import CompozyError, Conflict
from compozy.model.event import EventDraft
from compozy.model.session import (
    RuntimeSelection,
    StopReason,
)
from compozy.model.session_answers import ApprovalAnswer, PromptResult
from compozy.runtime.sessions.binding import end_process
from compozy.runtime.sessions.choosing import check_revision, read_choice
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.fanout import Ring
from compozy.runtime.sessions.hosting import AgentHost, set_fields
from compozy.runtime.sessions.input_queue import InputQueue
from compozy.runtime.sessions.journal import Journal, Listener, change_session
from compozy.runtime.sessions.ladder import lost_marker
from compozy.runtime.sessions.presence import Viewers
from compozy.runtime.sessions.process import AgentProcess
from compozy.runtime.sessions.prompting import Admission, PromptRequest
from compozy.runtime.sessions.prompts import prompt_meta
from compozy.runtime.sessions.questions import not_pending, resolve_orphan
from compozy.runtime.sessions.queueing import with_queue
from compozy.runtime.sessions.rewinds import Rewinds
from compozy.runtime.sessions.settling import turn_ended
from compozy.runtime.sessions.startup.messages import Delivery, mailed_change
from compozy.runtime.sessions.supervision.restarts import TurnRunner
from compozy.runtime.sessions.turn_input import turn_blocks
from compozy.runtime.sessions.turns import EndReason, Turn, TurnEnd, cancel_turn
from compozy.store.interface import PromptRecord, QueuedPrompt, SessionRecord

log = logging.getLogger(__name__)
# How often the end of a turn is offered to a store that could not take it.
_STORE_AGAIN_SECONDS = 1.0


class LiveSession:
    """A session in memory. Methods are called on the event loop; each leaves the session in a stored state."""

    def __init__(
        self, deps: Deps, record: SessionRecord, last_sequence: int, last_turn_id: str, on_change: Listener
    ) -> None:
        self._deps = deps
        self.journal = Journal(deps.store, record, Ring(last_sequence), on_change)
        self._maker = EventMaker(record.session.agent_name, deps.redactor)
        self.admission = Admission(deps.store, record.session.id, is_fresh=last_sequence == 0 and not record.queue)
        self._host = AgentHost(deps, self.journal, self._maker)
        self.viewers = Viewers()
        self._runner = TurnRunner(deps, self.journal, self._maker, self._host, self)
        self._turn: Turn | None = None
        self._turn_task: asyncio.Task[None] | None = None
        self._last_turn_id = last_turn_id
        self.inputs = InputQueue(deps, self._maker, self)
        self._is_admitting = False
        # The turn whose start somebody cancelled while its agent was being started.
        self._cancelled_start = ""
        self._admitting_turn = ""
        self._is_stopping = False
        # Keeps bind, restart and stop from overlapping.
        self.lifecycle = asyncio.Lock()
        self.rewinds = Rewinds(deps, self._maker, self._host, self)
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
    def takes_requests(self) -> bool:
        """Whether a turn is in flight that nobody asked to end."""
        return self._turn is not None and not self._turn.ending

    @property
    def is_busy(self) -> bool:
        """Whether a prompt would have to wait."""
        return self._turn is not None or self._is_admitting

    @property
    def process(self) -> AgentProcess | None:
        """The process that serves the session now."""
        return self._host.process

    def asks(self, request_id: str) -> bool:
        """Whether that question waits for a person, or was just answered by one."""
        process = self._host.process
        return process is not None and process.questions.has(request_id)

    def shown(self) -> SessionRecord:
        """Return the newest record with what its turn does now."""
        if self._turn is None:
            return self.record
        deadline = float(self._deps.config.session.supervision.prompt_deadline)
        return change_session(self.record, activity=self._turn.activity(deadline))

    def touch(self, kind: str = "", detail: str = "") -> None:
        """Note a sign of life of the agent."""
        if self._turn is not None:
            self._turn.signs.note(kind, detail)
            self._turn.revive()

    def at_work(self, call_id: str, title: str, *, is_over: bool) -> None:
        """Note which tool the agent uses, or no longer."""
        if self._turn is not None:
            self._turn.signs.note_tool(call_id, title, is_over=is_over)

    def at_rest(self) -> None:
        """Let a prompt that steers the turn take over."""
        self.inputs.at_rest()

    # --- prompts

    async def prompt(self, request: PromptRequest, identity: PromptRecord) -> Turn | PromptResult:
        """Start a turn: bind if needed, store the user's message, send it. Returns once the message is stored.

        A busy session queues the prompt, or ends its turn first, as the request's mode says.

        Raises:
            Conflict: the session is read-only, or the turn to interrupt is another one.
            CompozyError: the agent cannot be started or refuses what was chosen; no message is left behind.
        """
        if self._turn is not None and self._turn.is_closing:
            # Who saw the last event of a turn may send the next prompt at once.
            await self._turn.finished.wait()
        if self.is_busy or self.record.queue:
            return await self.inputs.enqueue(request, identity, read_choice(request.runtime, await self._config()))
        self._refuse_read_only()
        choice = read_choice(request.runtime, await self._config())
        return await self._start(request, identity, choice)

    async def _start(
        self, words: PromptRequest | QueuedPrompt, identity: PromptRecord, choice: RuntimeSelection | None
    ) -> Turn:
        self._is_admitting = True
        self._admitting_turn = identity.turn_id
        before = self.record
        try:
            async with self.lifecycle:
                if choice is not None:
                    await self._host.choose(choice, keeps_old=True)
                try:
                    process = await self._host.ensure_bound(self, require_context=words.require_context)
                except CompozyError as error:
                    if choice is not None:
                        await self._host.restore(before)
                    if self._is_stopping:
                        raise self._stopped_meanwhile() from error
                    if self._cancelled_start == identity.turn_id:
                        raise _cancelled_meanwhile() from error
                    raise
                return await self._begin(words, identity, process)
        finally:
            self._is_admitting = False

    async def start_queued(self, entry: QueuedPrompt, identity: PromptRecord) -> None:
        """Start the turn of a prompt that waited."""
        await self._start(entry, identity, entry.runtime)

    async def steer(self, request: PromptRequest, identity: PromptRecord) -> PromptResult:
        """Hand a message to the running turn.

        Raises:
            Conflict: no turn is running, or it is another one.
        """
        return await self.inputs.steer(request, identity)

    def _stopped_meanwhile(self) -> Conflict:
        session_id = self.record.session.id
        return Conflict(
            f"session {session_id!r} was stopped while its agent started: prompt again", code="session_stopped"
        )

    def _busy(self, message: str) -> Conflict:
        return Conflict(message, code="session_busy", diagnostic=True, category="session")

    def _refuse_read_only(self) -> None:
        session = self.record.session
        expires = session.lineage.ttl_expires_at if session.lineage else None
        if session.state == "stopped" and expires and expires <= times.now():
            raise Conflict(
                f"session {session.id!r} was a child for a limited time, which is over: let its parent start another",
                code="spawn_expired",
            )
        if session.archived_at is not None:
            raise Conflict(f"session {session.id!r} is archived: unarchive it first", code="session_archived")
        if session.state == "stopped" and not session.attachable:
            raise Conflict(
                f"session {session.id!r} is read-only history: its agent ended by itself; start a new session",
                code="session_not_attachable",
            )

    async def _begin(
        self, words: PromptRequest | QueuedPrompt, identity: PromptRecord, process: AgentProcess
    ) -> Turn:
        turn_id = identity.turn_id
        turn = Turn(
            id=turn_id,
            message_id=identity.message_id,
            idempotency_key=identity.idempotency_key,
            start_sequence=0,
            text=words.message if isinstance(words, PromptRequest) else words.text,
            attachments=words.attachments,
            require_context=words.require_context,
        )
        blocks = await turn_blocks(self._deps, self.record, process, turn)
        draft = self._maker.draft(
            "user_message", turn_id, text=turn.text, message_id=turn.message_id, attachments=turn.attachments
        )
        self._turn = turn
        try:
            told = turn.delivery
            messages = told.drafts(self._maker, turn_id)
            drafts = [*self._left_open(), draft, *messages, *lost_marker(self._maker, process, turn_id)]
            # One commit for message and identity: the one is never there without the other.
            stored = await self.journal.write(drafts, partial(_begun, told, turn_id), identity)
        except BaseException:
            self._turn = None
            raise
        turn.start_sequence = next(event.sequence for event in stored if event.turn_id == turn_id)
        meta = prompt_meta(is_first=process.is_first_prompt)
        process.is_first_prompt = False
        self._turn_task = asyncio.get_running_loop().create_task(self._run(turn, process, blocks, meta))
        return turn

    def _left_open(self) -> list[EventDraft]:
        """Return the end of a turn whose own end could not be stored, because the store was out of reach."""
        left = self.record.turn_id
        if not left:
            return []
        return [
            self._maker.draft(
                "error", left, stop_reason="interrupted", error="the end of the turn could not be stored"
            )
        ]

    async def _run(
        self, turn: Turn, process: AgentProcess, blocks: list[dict[str, object]], meta: dict[str, object]
    ) -> None:
        try:
            process, end = await self._runner.run(turn, process, blocks, meta)
            await self._finish(turn, process, end)
        except Exception as error:
            log.exception("the end of turn %s could not be stored", turn.id)
            # Followers learn that nothing more comes; the next start of the session opens the ring again.
            self.journal.ring.close(problem=str(error))
            await end_process(self._deps, self._host.process or process)
        finally:
            self._last_turn_id = turn.id
            if self._turn is turn:
                self._turn = None
            turn.finished.set()
        await self._end_left_open(turn.id)
        if not self._is_stopping:
            self.inputs.kick()
            await self.process_exited(process)

    async def _end_left_open(self, turn_id: str) -> None:
        """Store the end of a turn as soon as the store can be written again; a prompt or a stop may do it first."""
        while self.record.turn_id == turn_id and not self.journal.is_deleted:
            if self._is_stopping:
                return
            await asyncio.sleep(_STORE_AGAIN_SECONDS)
            async with self.lifecycle:
                if self.record.turn_id != turn_id or self._turn is not None:
                    continue
                try:
                    process = self._host.process
                    if process is not None:
                        await self._host.drop(process)
                    await self.journal.write(self._left_open(), set_fields(turn_id=""))
                except CompozyError as error:
                    log.info("the end of turn %s cannot be stored yet: %s", turn_id, error.message)

    async def _finish(self, turn: Turn, process: AgentProcess, end: TurnEnd) -> None:
        process.questions.end_turn()
        process.end_turn()
        if end.process_lost or end.stop_detail:
            await self._host.drop(self._host.process or process)
        drafts = (*end.closing, *end.drafts)
        turn.is_closing = True
        if end.stop_detail:
            failure = self._maker.failure("timeout", "the agent was silent for too long")
            await self._host.write_stopped(drafts, "timeout", end.stop_detail, failure, attachable=True)
            return
        if end.fatal is None:
            is_seen = turn.watchers > 0 or self.viewers.is_watched
            await self.journal.write(drafts, turn_ended(turn, drafts, process.cost, is_seen=is_seen))
            return
        failure = await self._host.with_bundle(self._maker.failure(end.fatal, end.summary), end.crash, turn.id)
        reason: StopReason = "agent_crashed" if end.fatal == "process_exit" else "error"
        detail = "the agent died during a turn" if end.fatal == "process_exit" else "the turn could not go on"
        await self._host.write_stopped(drafts, reason, detail, failure, attachable=True)

    async def choose(self, given: Mapping[str, object], expected_revision: int | None) -> None:
        """Change what the session runs with from now on.

        Raises:
            Conflict: a turn is in flight, or the choice was made on an older one.
            CompozyError: it cannot be met.
        """
        choice = read_choice(given, await self._config())
        if self.is_busy:
            raise self._busy(
                f"session {self.record.session.id!r} is busy: change its runtime when the turn has ended"
            )
        async with self.lifecycle:
            check_revision(self.record, expected_revision)
            if choice is not None:
                await self._host.choose(choice)

    def refuse_unsettled(self, what: str) -> None:
        """Refuse what cannot be done while a turn runs or waits.

        Raises:
            Conflict: one does, or the session is read-only.
        """
        if self.is_busy or self.record.queue:
            raise self._busy(f"session {self.record.session.id!r} is busy: {what} when the turn has ended")
        self._refuse_read_only()

    async def _config(self) -> Config:
        return await self._deps.configs.of(self.record.session.workspace_path)

    async def cancel(self, note: str = "") -> tuple[str, str]:
        """Ask the turn in flight to end; idempotent. `note` is kept with its end.

        Returns:
            The outcome (`canceled` or `nothing-in-flight`) and the turn's id.
        """
        turn, process = self._turn, self._host.process
        if turn is None and process is not None and self.record.session.runtime.status == "binding":
            # Starting an agent may take minutes; ending its process ends that now.
            self._cancelled_start = self._admitting_turn
            await end_process(self._deps, process)
            return "canceled", self._cancelled_start
        if turn is None:
            return "nothing-in-flight", ""
        if not turn.ending:
            turn.note = note
            await self._ask_to_end(turn, "cancelled")
        return "canceled", turn.id

    async def _ask_to_end(self, turn: Turn, reason: EndReason) -> None:
        turn.ask_to_end(reason)
        process = self._host.process
        if process is not None and turn.is_restarting:
            # A start may take minutes; ending its process ends it now.
            await end_process(self._deps, process)
        elif process is not None:
            await cancel_turn(process)

    async def approve(self, request_id: str, turn_id: str, decision: str) -> ApprovalAnswer:
        """Give a person's answer to a permission request.

        Raises:
            Conflict: nothing of that id is pending in that turn.
            InvalidRequest: the decision is not on offer.
        """
        process = self._host.process
        if process is not None and process.questions.has(request_id):
            return process.questions.approve(request_id, turn_id, decision)
        orphan = next(
            (i for i in self.record.session.pending_interactions if i.provider_request_id == request_id), None
        )
        if orphan is None or orphan.status != "orphaned":
            raise not_pending(request_id, turn_id)
        return await resolve_orphan(self.journal, self._maker, orphan, decision)

    # --- ends

    async def process_exited(self, process: AgentProcess) -> None:
        """The process ended without us asking. A turn tells its own story; this is called again after it."""
        if process is not self._host.process or process.is_ending or self.is_busy or process.exit is None:
            return
        async with self.lifecycle:
            if process is not self._host.process or self._turn is not None:
                return
            await self._host.end_idle(process)

    async def stop(self, reason: StopReason, detail: str, ending: EndReason = "cancelled") -> None:
        """Stop the session: end its turn, then its process. A stop in progress is joined; a stopped one is fine."""
        self._is_stopping = True
        try:
            await self._hurry(ending)
            async with self.lifecycle:
                await self._stop_held(reason, detail, ending)
        finally:
            self._is_stopping = False

    async def delete(self) -> None:
        """Stop the session and remove all of it in one step: who waited meanwhile finds nothing to start."""
        self._is_stopping = True
        try:
            await self._hurry("cancelled")
            async with self.lifecycle:
                await self._stop_held("user_canceled", "deleted", "cancelled")
                await self.journal.delete()
        finally:
            self._is_stopping = False

    async def _hurry(self, ending: EndReason) -> None:
        """Let whoever holds the lifecycle lock come to its end."""
        turn, process = self._turn, self._host.process
        if turn is not None:
            # Before the lock: a turn may be what the lock's holder waits for.
            await self._ask_to_end(turn, ending)
        elif process is not None and self._is_admitting:
            # A bind may take minutes; ending its process ends it now.
            await end_process(self._deps, process)

    async def _stop_held(self, reason: StopReason, detail: str, ending: EndReason) -> None:
        if self.journal.is_deleted or self._is_stopped():
            return
        await self.journal.change(set_fields(state="stopping"))
        await self._end_turn(ending)
        if self._host.process is not None:
            process, self._host.process = self._host.process, None
            await end_process(self._deps, process)
        await self._host.end_aside()
        if reason != "shutdown":
            # What waits runs after a restart of the daemon; a person who stops wants nothing more to run.
            await self.journal.write(self.inputs.dropped(), lambda record: with_queue(record, ()))
        if not self._is_stopped():
            await self._host.write_stopped(tuple(self._left_open()), reason, detail, None, attachable=True)

    def _is_stopped(self) -> bool:
        return self.record.session.state == "stopped"

    async def _end_turn(self, ending: EndReason) -> None:
        turn = self._turn
        if turn is None:
            return
        turn.ask_to_end(ending)
        while True:
            try:
                await asyncio.wait_for(turn.finished.wait(), self._deps.bounds.stop_turn)
                return
            except TimeoutError:
                # Read anew: a restart that was under way may have brought another one.
                if self._host.process is not None:
                    await end_process(self._deps, self._host.process)


def _begun(told: Delivery, turn_id: str, record: SessionRecord) -> SessionRecord:
    return mailed_change(told, set_fields(turn_id=turn_id)(record))


def _cancelled_meanwhile() -> Conflict:
    return Conflict("the prompt was cancelled while its agent started: send it again", code="prompt_canceled")
