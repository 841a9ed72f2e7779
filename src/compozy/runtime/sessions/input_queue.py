"""The prompts of one busy session: queue, interrupt and steer, and what may still be done to a prompt that waits.

Implements contract §3.5 (busy modes, queue list, edit, promote, cancel) and P53. Whether a prompt may start now, and
the turn itself, are the session's business (`live.py`). Every change of the queue is stored before it is answered.
"""

import asyncio
from typing import Protocol

import msgspec

from compozy.model import times
from compozy.model.errors import Conflict, InvalidRequest, NotFound
from compozy.model.event import EventDraft
from compozy.model.session import RuntimeSelection
from compozy.model.session_answers import PromptResult
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.journal import Journal
from compozy.runtime.sessions.prompting import Admission, InputEdit, PromptRequest, check_size, edit_digest
from compozy.runtime.sessions.queueing import (
    check_room,
    find_entry,
    inserted,
    new_entry,
    result_of,
    with_queue,
    without_entry,
)
from compozy.runtime.sessions.turns import Turn
from compozy.store.interface import EventQuery, PromptRecord, QueuedPrompt


class InputOwner(Protocol):
    """What the queue needs of its session."""

    @property
    def journal(self) -> Journal: ...
    @property
    def admission(self) -> Admission: ...
    @property
    def turn(self) -> Turn | None: ...
    @property
    def is_busy(self) -> bool: ...

    async def cancel(self, note: str = "") -> tuple[str, str]: ...

    async def start_queued(self, entry: QueuedPrompt, identity: PromptRecord) -> None:
        """Start the turn of a prompt that waited."""
        ...


class InputQueue:
    """The waiting prompts of one session. Used on the event loop."""

    def __init__(self, deps: Deps, maker: EventMaker, owner: InputOwner) -> None:
        self._deps = deps
        self._maker = maker
        self._owner = owner
        self._task: asyncio.Task[None] | None = None
        self._steering: asyncio.Task[tuple[str, str]] | None = None
        # The entry whose turn is being started: it can no longer be changed.
        self._starting = ""

    # --- in

    async def enqueue(
        self, request: PromptRequest, identity: PromptRecord, choice: RuntimeSelection | None
    ) -> PromptResult:
        """Let a prompt wait, or end the running turn for it, as its mode says.

        Raises:
            Conflict: the turn it names is not the one in flight.
            TooLarge: the queue is full.
        """
        rules = self._deps.config.session.busy_input
        mode = request.mode or rules.default_mode
        running = self._running()
        if (mode == "interrupt" and request.mode) or (mode == "steer" and request.expected_turn_id):
            self._check_fence(request.expected_turn_id)
        record = self._owner.journal.record
        check_room(record, rules.queue_cap)
        entry = new_entry(request, identity, mode, choice, target=running if mode == "steer" else "")
        await self._deps.store.put_prompt(identity)
        await self._owner.journal.change(lambda record: with_queue(record, inserted(record.queue, entry)))
        return await self._accepted(entry)

    async def steer(self, request: PromptRequest, identity: PromptRecord) -> PromptResult:
        """Hand a message to the running turn: it ends at its next resting point and the message is prompted.

        Raises:
            Conflict: no turn is running, or it is another one.
            TooLarge: the queue is full.
        """
        self._check_fence(request.expected_turn_id)
        return await self.enqueue(msgspec.structs.replace(request, mode="steer"), identity, None)

    async def _accepted(self, entry: QueuedPrompt) -> PromptResult:
        running = self._running()
        if entry.mode == "interrupt":
            await self._owner.cancel()
        self.kick()
        return result_of(self._owner.journal.record, entry, previous_turn_id=running)

    async def replayed(self, result: PromptResult) -> PromptResult:
        """Say of a prompt that was sent again what became of it: it waits, it was withdrawn, or it has its turn."""
        if not result.replayed:
            return result
        record, turn_id = self._owner.journal.record, result.new_turn_id
        entry = next((entry for entry in record.queue if entry.turn_id == turn_id), None)
        if entry is not None:
            return msgspec.structs.replace(result_of(record, entry), replayed=True)
        events = EventQuery(turn_id=turn_id, limit=1, archive="all")
        if turn_id != self._running() and not await self._deps.store.read_events(record.session.id, events):
            return msgspec.structs.replace(result, status="canceled", delivery="none")
        return result

    def _running(self) -> str:
        turn = self._owner.turn
        return turn.id if turn is not None else ""

    def _check_fence(self, expected: str) -> None:
        running = self._running()
        if not running:
            raise _refused(
                f"no turn is in flight, so {expected!r} cannot be steered or interrupted: send a normal prompt",
                expected,
                running,
            )
        if expected != running:
            raise _refused(
                f"expected_turn_id {expected!r} is not the turn in flight ({running!r}): look again and decide anew",
                expected,
                running,
            )

    # --- changes of what waits

    async def replace(self, entry_id: str, edit: InputEdit) -> QueuedPrompt:
        """Give a waiting prompt another text and identity.

        Raises:
            NotFound: it does not wait any more.
            Conflict: the identity belongs to another prompt.
        """
        return await self._edit(entry_id, edit, mode="", target="")

    async def promote(self, entry_id: str, edit: InputEdit, expected_turn_id: str) -> PromptResult:
        """Turn a waiting prompt into one that steers the running turn.

        Raises:
            NotFound: it does not wait any more.
            Conflict: no such turn is running, or the identity belongs to another prompt.
        """
        self._waiting(entry_id)
        self._check_fence(expected_turn_id)
        entry = await self._edit(entry_id, edit, mode="steer", target=expected_turn_id)
        return await self._accepted(entry)

    async def withdraw(self, entry_id: str) -> PromptResult:
        """Take a waiting prompt out of the queue.

        Raises:
            NotFound: it does not wait any more.
        """
        entry = self._waiting(entry_id)
        await self._owner.journal.change(lambda record: without_entry(record, entry_id))
        result = result_of(self._owner.journal.record, entry)
        return msgspec.structs.replace(result, status="canceled", delivery="none", queue_position=None)

    def _waiting(self, entry_id: str) -> QueuedPrompt:
        if entry_id == self._starting:
            raise NotFound(
                f"prompt {entry_id!r} waits no longer: its turn is being started; cancel the turn instead",
                code="queue_entry_not_found",
            )
        return find_entry(self._owner.journal.record, entry_id)

    async def _edit(self, entry_id: str, edit: InputEdit, *, mode: str, target: str) -> QueuedPrompt:
        entry = self._waiting(entry_id)
        identity = PromptRecord(
            session_id=self._owner.journal.record.session.id,
            idempotency_key=edit.idempotency_key,
            message_id=edit.message_id,
            payload_digest=edit_digest(edit),
            turn_id=entry.turn_id,
            created_at=times.now(),
        )
        await self._owner.admission.rename(identity)
        # Looked at again: it may have started while the identity was stored.
        entry = self._waiting(entry_id)
        changed = msgspec.structs.replace(
            entry,
            text=edit.text,
            message_id=edit.message_id,
            idempotency_key=edit.idempotency_key,
            mode=mode or entry.mode,
            target_turn_id=target or entry.target_turn_id,
        )
        await self._owner.journal.change(lambda record: with_queue(record, inserted(record.queue, changed)))
        return changed

    # --- out

    def at_rest(self) -> None:
        """Take note that the last open tool call of the turn has its result: a prompt that steers goes first now."""
        turn, queue = self._owner.turn, self._owner.journal.record.queue
        if turn is None or turn.ending or not queue or queue[0].mode != "steer":
            return
        if queue[0].target_turn_id in ("", turn.id) and (self._steering is None or self._steering.done()):
            # A task, because who reports the agent's updates must not wait for the agent.
            self._steering = asyncio.get_running_loop().create_task(self._owner.cancel(_steered(queue[0])))

    def kick(self) -> None:
        """Let the next waiting prompt run when nothing else does."""
        if self._task is None and self._owner.journal.record.queue and not self._owner.is_busy:
            self._task = asyncio.get_running_loop().create_task(self._run_next())

    async def _run_next(self) -> None:
        """Run the first waiting prompt; a turn's end calls for the next one."""
        journal = self._owner.journal
        entry = journal.record.queue[0]
        self._starting = entry.id
        try:
            drafts = await self._start(entry)
        finally:
            self._starting = ""
            self._task = None
        if journal.is_deleted:
            return
        await journal.write(drafts, lambda record: without_entry(record, entry.id))
        self.kick()

    async def _start(self, entry: QueuedPrompt) -> list[EventDraft]:
        session_id = self._owner.journal.record.session.id
        identity = PromptRecord(
            session_id=session_id,
            idempotency_key=entry.idempotency_key,
            message_id=entry.message_id,
            payload_digest="",
            turn_id=entry.turn_id,
            created_at=entry.enqueued_at,
        )
        try:
            known = await self._deps.store.find_prompt(session_id, idempotency_key=entry.idempotency_key)
            await self._owner.start_queued(entry, known or identity)
            return []
        except Exception as error:  # noqa: BLE001 - supervisor: nobody waits for this task, so its failure is stored
            is_cancelled = isinstance(error, Conflict) and error.code == "prompt_canceled"
            failure = self._maker.failure("cancellation" if is_cancelled else "prompt_failure", str(error))
            return [self._maker.draft("error", entry.turn_id, error=failure.summary, failure=failure)]

    def dropped(self) -> list[EventDraft]:
        """Return what to store of the prompts that a stop drops: who sent them finds out what became of them."""
        return [
            self._maker.draft(
                "system",
                entry.turn_id,
                title="queued_prompt_dropped",
                text=f"the session was stopped before this prompt ran: {entry.text}",
                message_id=entry.message_id,
            )
            for entry in self._owner.journal.record.queue
            if entry.id != self._starting
        ]


def check_edit(edit: InputEdit, max_bytes: int) -> InputEdit:
    """Refuse an edit that lacks text or identity.

    Raises:
        InvalidRequest, TooLarge: naming the field.
    """
    for field in ("text", "message_id", "idempotency_key"):
        if not getattr(edit, field).strip():
            raise InvalidRequest(f"{field} is required")
    check_size(edit.text, max_bytes, "text")
    return edit


def _steered(entry: QueuedPrompt) -> str:
    return f"steered: the conversation goes on in turn {entry.turn_id}"


def _refused(message: str, expected: str, running: str) -> Conflict:
    evidence = {"expected_turn_id": expected, "turn_id": running}
    return Conflict(
        message,
        code="session_busy" if running else "prompt_not_in_progress",
        category="session",
        diagnostic=True,
        evidence=evidence,
    )
