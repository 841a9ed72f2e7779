"""Driving one turn from the command line: send the prompt, follow its stream, answer questions, cancel in time.

Shared by `run` and `session prompt`. What the frames mean is `turn_record`, what a person sees `turn_printer`,
how it is judged `turn_ending`. Implements contract §3.5 (Prompt, approve, cancel) and decisions D30.
"""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from compozy.cli.connection import JsonObject, as_json, as_object, text_of
from compozy.cli.daemon_start import is_still_running
from compozy.cli.interrupts import Interrupts, LeaveNow
from compozy.cli.invocation import Invocation
from compozy.cli.output import write_json_line
from compozy.cli.questions import Question, carried
from compozy.cli.status_line import StatusLine
from compozy.cli.turn_ending import Ending, judge
from compozy.cli.turn_printer import TurnPrinter
from compozy.cli.turn_record import Asked, Decided, Permission, Questioned, Step, TurnRecord
from compozy.cli.wording import seconds_until, write_duration
from compozy.model.errors import EXIT_CANCELLED, CompozyError, LocalError

if TYPE_CHECKING:
    from compozy.client.calls.streams import PromptStream
    from compozy.client.typed import Client
    from compozy.model.session import Session

# The error code of a person who left while the turn goes on.
LEFT_RUNNING = "left_running"
# How often the loop looks at the keyboard, the clock and the status line.
_TICK_SECONDS = 0.1
# How long an agent program may take to start and to agree on a session; the daemon has shorter bounds of its own.
_START_SECONDS = 600.0
# How long a cancelled turn may take to end before we leave it to the daemon, which kills the agent by itself.
_CANCEL_GRACE_SECONDS = 15.0


@dataclass(frozen=True, kw_only=True)
class TurnOptions:
    """How to treat questions (`on_ask`: ask, deny or allow) and time (`timeout` in seconds).

    `stops_session` says that the caller stops the session afterwards, whatever happens.
    """

    on_ask: str
    timeout: float | None = None
    stops_session: bool = False


@dataclass(frozen=True, kw_only=True)
class TurnResult:
    """What came of a prompt: a judged turn, or the daemon's `queued` answer when the session was busy."""

    record: TurnRecord
    ending: Ending
    stop_reason: str = ""
    queued: JsonObject | None = None


class Turn:
    """One prompt of one session, from sending it to its end."""

    def __init__(self, client: "Client", invocation: Invocation, session: "Session", options: TurnOptions) -> None:
        self.client = client
        self.invocation = invocation
        self.session = session
        self.session_id = session.id
        self.agent = session.agent_name or "the agent"
        self.options = options
        self.record = TurnRecord()
        status = StatusLine(
            enabled=invocation.has_live_notes, tells=invocation.is_human, activity=f"starting {self.agent}"
        )
        effective = session.runtime.effective
        status.explain = partial(about_the_start, effective.provider if effective is not None else "")
        self.printer = TurnPrinter(status, colour=invocation.has_coloured_notes)
        self.question: Question | None = None
        self.waiting: list[Permission] = []
        # What happens while a question stands on the screen is shown after its answer.
        self.held: list[Step] = []
        self.next_look = 0.0
        self.give_up_at: float | None = None
        self.timed_out = False
        self.interrupts = Interrupts()

    def run(self, body: Mapping[str, object]) -> TurnResult:
        """Send the prompt and stay until its turn has ended.

        Raises:
            ApiError: the daemon refuses the prompt.
            LocalError: the connection broke (69), or the person left a running turn (130).
        """
        with self.interrupts:
            try:
                queued = self._follow(body)
            except KeyboardInterrupt:
                self._cancel_early()
                queued = None
            except LocalError as error:
                if error.code != "connection_lost":
                    raise
                queued = None
                self._lost(error)
            except LeaveNow:
                raise self._left_running() from None
            finally:
                self.printer.close()
        if queued is not None:
            return TurnResult(record=self.record, ending=Ending("done", 0), queued=queued)
        return self._judged()

    def _follow(self, body: Mapping[str, object]) -> JsonObject | None:
        deadline = time.monotonic() + self.options.timeout if self.options.timeout else None
        with self._open(body) as stream:
            if stream.queued is not None:
                return as_json(stream.queued)
            self.interrupts.is_streaming = True
            self.printer.status.activity = "working"
            self.printer.status.explain = str
            for frame in stream:
                self._watch(deadline)
                if frame is not None:
                    self._take(frame)
                # Also between the events of an agent that never pauses.
                if frame is None or time.monotonic() >= self.next_look:
                    self._look_up()
                if self.give_up_at is not None and time.monotonic() > self.give_up_at:
                    break
        return None

    def _open(self, body: Mapping[str, object]) -> "PromptStream":
        """Send the prompt. The answer begins when the agent program is up, so the status line moves meanwhile."""
        limit = min(self.options.timeout or _START_SECONDS, _START_SECONDS)
        with self.printer.status.moving():
            return self.client.sessions.prompt(self.session, body, tick=_TICK_SECONDS, timeout=limit)

    def _watch(self, deadline: float | None) -> None:
        if self.give_up_at is not None:
            return
        if self.interrupts.count:
            if self.question is not None:
                self._say("")
            self._say("cancelling the turn; press Ctrl-C again to leave it running")
            self._cancel()
        elif deadline is not None and time.monotonic() > deadline:
            self.timed_out = True
            self._cancel()

    def _cancel(self) -> None:
        self.give_up_at = time.monotonic() + _CANCEL_GRACE_SECONDS
        self._end_question()
        with suppress(CompozyError):
            self.client.sessions.cancel(self.session)

    def _cancel_early(self) -> None:
        """Cancel a turn whose stream has not begun: it can only be cancelled once its agent is up."""
        if self.options.stops_session:
            return
        self._say("cancelling before the turn has begun; press Ctrl-C again to leave it running")
        deadline = time.monotonic() + _CANCEL_GRACE_SECONDS
        while time.monotonic() < deadline:
            with suppress(CompozyError):
                if self.client.sessions.cancel(self.session).outcome == "canceled" or self._has_nothing_to_cancel():
                    return
            time.sleep(_TICK_SECONDS)

    def _has_nothing_to_cancel(self) -> bool:
        session = self.client.sessions.get(self.session_id)
        runtime = session.runtime.status
        is_idle = runtime == "ready" and session.badge != "running"
        return session.state == "stopped" or runtime in ("unbound", "failed") or is_idle

    def _take(self, frame: JsonObject) -> None:
        if self.invocation.format == "jsonl":
            write_json_line(frame)
        for step in self.record.apply(frame):
            if isinstance(step, Decided) and self.question and self.question.permission is step.permission:
                self._say("")
                self._end_question()
            if self.question is not None:
                self.held.append(step)
            else:
                self._show(step)
            if isinstance(step, Asked):
                self._asked(step.permission)
            elif isinstance(step, Questioned) and self.options.on_ask == "deny":
                self._decline(step)

    def _show(self, step: Step) -> None:
        if self.invocation.is_human:
            self.printer.show(step)

    def _say(self, text: str) -> None:
        if self.invocation.is_human:
            self.printer.line(text)

    def _end_question(self) -> None:
        self.question = None
        held, self.held = self.held, []
        for step in held:
            self._show(step)

    def _asked(self, permission: Permission) -> None:
        if self.options.on_ask in ("allow", "deny"):
            self._decide(permission, "allow-once" if self.options.on_ask == "allow" else "reject-once", by="on-ask")
        elif self.invocation.can_ask:
            self.waiting.append(permission)
        else:
            self._say(
                f"waiting for an answer to {permission.subject}; give it with: "
                f"compozy session approve {self.session_id} --decision allow-once"
            )

    def _decline(self, question: Questioned) -> None:
        """Let the agent go on without an answer: nobody is here to give one."""
        try:
            self.client.sessions.answer_clarification(self.session, question.request_id, decline=True)
        except CompozyError as error:
            self._say(f"the question could not be declined: {error}")

    def _look_up(self) -> None:
        """Look at the keyboard and at the next question, and let the status line move."""
        self.next_look = time.monotonic() + _TICK_SECONDS
        if self.question is not None:
            decision = self.question.poll()
            if decision is not None:
                self._decide(self.question.permission, decision, by="person")
                self._end_question()
            return
        while self.waiting and self.give_up_at is None:
            permission = self.waiting.pop(0)
            if not permission.decision:
                self.printer.close()
                self.question = Question(
                    permission, agent=self.agent, wait_seconds=seconds_until(permission.expires_at)
                )
                self.question.show()
                return
        self.printer.tick()

    def _decide(self, permission: Permission, wish: str, *, by: str) -> None:
        decision = carried(permission, wish)
        if not decision:
            # The agent offers no way to say so, and silence would leave it waiting.
            self._say(f"the agent accepts no such answer to {permission.subject}: the turn is cancelled")
            permission.decision, permission.decided_by = wish, by
            self._cancel()
            return
        turn_id = permission.turn_id or self.record.turn_id
        try:
            self.client.sessions.approve(self.session, permission.request_id, turn_id, decision)
        except LocalError as error:
            if error.code == "connection_lost":
                raise
            # Somebody else, or the clock, was quicker; the stream tells what was decided.
            self._say(f"your answer came too late: {error.message}")
            return
        permission.decision, permission.decided_by = decision, by

    def _judged(self) -> TurnResult:
        stop_reason, failure = self._read_end()
        ending = judge(
            self.record,
            on_ask=self.options.on_ask,
            stop_reason=stop_reason,
            failure=failure,
            was_interrupted=self.interrupts.count > 0,
            timed_out_after=write_duration(self.options.timeout or 0) if self.timed_out else "",
        )
        self.printer.tell_failure(ending.message)
        return TurnResult(record=self.record, ending=ending, stop_reason=stop_reason)

    def _read_end(self) -> tuple[str, JsonObject | None]:
        """Read how the turn ended: the newest event of a turn is its `done` or `error`."""
        stop_reason, found = "", None
        with suppress(CompozyError):
            if self.record.turn_id:
                for event in self.client.sessions.events(self.session, turn_id=self.record.turn_id, limit=1):
                    facts = as_object(json.loads(bytes(event.content)))
                    stop_reason, found = text_of(facts, "stop_reason"), facts.get("failure")
            if found is None and (self.record.errors or not self.record.is_finished):
                failure = self.client.sessions.get(self.session_id).failure
                found = as_json(failure) if failure is not None else None
        return stop_reason, as_object(found) if found else None

    def _lost(self, error: LocalError) -> None:
        if not self.interrupts.is_streaming and self.options.timeout is not None:
            self.timed_out = True
            self._cancel()
            return
        alive = is_still_running(self.invocation)
        raise LocalError(
            f"the connection to the daemon broke off during the turn; what happened until then is kept in session "
            f"{self.session_id}: {error.message}",
            exit_code=error.exit_code,
            code=error.code,
            hint=f"compozy session events {self.session_id}" if alive else "compozy daemon start",
        ) from error

    def _left_running(self) -> LocalError:
        return LocalError(
            f"left; the turn goes on in session {self.session_id}",
            exit_code=EXIT_CANCELLED,
            code=LEFT_RUNNING,
            hint=f"compozy session events {self.session_id} --follow",
        )


def about_the_start(provider_name: str) -> str:
    """Say why the start of an agent may take long: a package runner fetches its program the first time."""
    from compozy.config.builtin_providers import BUILTIN_PROVIDERS  # noqa: PLC0415 - start-up cost

    provider = BUILTIN_PROVIDERS.get(provider_name)
    fetches = provider is not None and provider.command.partition(" ")[0] in ("npx", "uvx")
    return "; its program may have to be fetched the first time" if fetches else ""


def prompt_body(
    message: str, *, message_id: str = "", idempotency_key: str = "", require_context: bool = False
) -> JsonObject:
    """Return the body of a prompt with an identity of its own, so that sending it twice starts one turn."""
    identity = os.urandom(8).hex()
    return {
        "message": message,
        "message_id": message_id or f"msg-{identity}",
        "idempotency_key": idempotency_key or f"key-{identity}",
        **({"require_context": True} if require_context else {}),
    }
