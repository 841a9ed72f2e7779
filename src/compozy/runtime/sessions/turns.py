"""One turn: a prompt from the moment it is stored until its end is stored (contract §5.2, §5.4; P44, P54, P58).

Supervises the agent while it works: a cancel that is ignored and a silence that lasts too long end the process.
Whatever happens, exactly one `done` or `error` event ends the turn, after every update that belongs to it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from compozy.acp.contract import AgentDied, AgentError, AgentProtocolError, AgentTimeout, PromptOutcome
from compozy.config.sections import Supervision
from compozy.model.event import EventDraft
from compozy.model.session import FailureKind
from compozy.runtime.sessions.binding import STDERR_SHOWN, end_process
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.process import AgentProcess

log = logging.getLogger(__name__)

# JSON-RPC code of a request that was cancelled.
CANCELLED_CODE = -32800
# Texts by which agents say that their process no longer knows the session (contract §5.4).
_LOST_SESSION = ("session not found", "resource not found", "please start a new session")
# A question or an update moves the marks of silence: they are looked at this often.
_LOOK_AGAIN_SECONDS = 60.0
# After its process was ended a prompt must return; this is only a belt.
_LAST_RESORT_SECONDS = 10.0

Tell = Callable[[str], Awaitable[None]]
EndReason = Literal["", "cancelled", "interrupted", "timeout"]


@dataclass(kw_only=True)
class Turn:
    """A running turn. `ending` says why we asked it to end, "" while it runs freely."""

    id: str
    message_id: str
    idempotency_key: str
    start_sequence: int
    ending: EndReason = ""
    note: str = ""
    """Why it was asked to end, where there is more to say than that."""
    asked_at: float = 0.0
    last_sign: float = 0.0
    has_warned: bool = False
    is_closing: bool = False
    """Its last event is being stored."""
    watchers: int = 0
    """How many clients read its stream now: what they see end needs no looking at later."""
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def ask_to_end(self, reason: EndReason, now: float) -> None:
        """Remember why the turn should end; the first reason stays, save that a stop outranks a wish."""
        if not self.ending:
            self.ending, self.asked_at = reason, now
            self.changed.set()


@dataclass(frozen=True, kw_only=True)
class TurnEnd:
    """How a turn ended: its last events, and whether its process can go on and the session with it."""

    drafts: tuple[EventDraft, ...]
    process_lost: bool = False
    fatal: FailureKind | None = None
    summary: str = ""


async def run_turn(
    deps: Deps,
    turn: Turn,
    process: AgentProcess,
    maker: EventMaker,
    blocks: Sequence[Mapping[str, object]],
    meta: Mapping[str, object],
    tell: Tell,
) -> TurnEnd:
    """Send the prompt, supervise it, and say how it ended; `tell` takes warnings for the person who waits."""
    connection = process.connection
    assert connection is not None, "a turn has a process"
    task = asyncio.ensure_future(connection.prompt(process.session_id, blocks, meta=meta))
    try:
        await _supervise(deps, turn, process, task, tell)
        end = _ended(turn, maker, task.result())
    except AgentError as error:
        end = _refused(turn, maker, error)
    except AgentDied as error:
        end = _died(deps, turn, maker, error)
    except (AgentTimeout, AgentProtocolError) as error:
        end = _failed(turn, maker, "protocol_failure", str(error), fatal=True)
    except Exception as error:
        log.exception("turn %s failed", turn.id)
        end = _failed(turn, maker, "unknown_failure", f"{type(error).__name__}: {error}", fatal=True)
    finally:
        if not task.done():
            task.cancel()
    closing = process.mapper.close_turn(turn.id, f"the turn ended ({turn.ending or 'no result came'})")
    return TurnEnd(
        drafts=(*closing, *end.drafts), process_lost=end.process_lost, fatal=end.fatal, summary=end.summary
    )


async def _supervise(
    deps: Deps, turn: Turn, process: AgentProcess, task: "asyncio.Future[PromptOutcome]", tell: Tell
) -> None:
    loop = asyncio.get_running_loop()
    rules = deps.config.session.supervision
    turn.last_sign = loop.time()
    while not task.done():
        turn.changed.clear()
        if turn.ending:
            left = turn.asked_at + float(rules.timeout_cancel_grace) - loop.time()
            if left <= 0:
                await end_process(deps, process)
                await asyncio.wait((task,), timeout=_LAST_RESORT_SECONDS)
                if not task.done():
                    raise AgentDied("the process was ended because it ignored the cancel")
                return
        else:
            left = await _watch_silence(rules, turn, process, tell)
            if left <= 0:
                continue
        change = asyncio.ensure_future(turn.changed.wait())
        try:
            await asyncio.wait((task, change), timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            change.cancel()


async def _watch_silence(rules: Supervision, turn: Turn, process: AgentProcess, tell: Tell) -> float:
    """Warn of a silence, end it when it lasts too long, and return for how long nothing has to be done."""
    loop = asyncio.get_running_loop()
    limit = float(rules.inactivity_timeout)
    if process.questions.is_waiting:
        # Who waits for a person is not silent; the question has its own time.
        turn.last_sign = loop.time()
    silent = loop.time() - turn.last_sign
    warn_after = float(rules.inactivity_warning_after)
    if silent < warn_after:
        turn.has_warned = False
    elif warn_after > 0 and not turn.has_warned:
        turn.has_warned = True
        await tell(f"no sign of life for {silent:.0f} s")
    if limit > 0 and silent >= limit:
        turn.ask_to_end("timeout", loop.time())
        await cancel_turn(process)
        return 0.0
    marks = [mark - silent for mark in (warn_after, limit) if mark > silent]
    return min((*marks, _LOOK_AGAIN_SECONDS))


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


def _ended(turn: Turn, maker: EventMaker, outcome: PromptOutcome) -> TurnEnd:
    if not turn.ending:
        reason = outcome.stop_reason
        return TurnEnd(
            drafts=(maker.draft("done", turn.id, stop_reason=reason, usage=outcome.usage, raw=outcome.raw),)
        )
    note = "" if outcome.stop_reason == "cancelled" else f"the agent answered {outcome.stop_reason!r}"
    return TurnEnd(drafts=(_asked_end(turn, maker, note, outcome),))


def _asked_end(turn: Turn, maker: EventMaker, note: str, outcome: PromptOutcome | None = None) -> EventDraft:
    """Return the last event of a turn that we asked to end; `note` is what the agent said or did instead."""
    usage = outcome.usage if outcome else None
    note = "; ".join(part for part in (turn.note, note) if part)
    if turn.ending == "cancelled":
        draft = maker.draft("done", turn.id, stop_reason="cancelled", text=note, usage=usage)
    elif turn.ending == "timeout":
        failure = maker.failure("timeout", "no sign of life for too long")
        draft = maker.draft(
            "error",
            turn.id,
            stop_reason="timeout",
            error="the agent was silent for too long",
            text=note,
            failure=failure,
        )
    else:
        draft = maker.draft(
            "error", turn.id, stop_reason="interrupted", error="daemon stopped", text=note, usage=usage
        )
    return draft


def _refused(turn: Turn, maker: EventMaker, error: AgentError) -> TurnEnd:
    if turn.ending:
        return TurnEnd(drafts=(_asked_end(turn, maker, f"the agent answered {error}"),))
    if error.code == CANCELLED_CODE:
        return _failed(turn, maker, "cancellation", error.rpc_message)
    text = f"{error.rpc_message} {error.data or ''}".casefold()
    if any(words in text for words in _LOST_SESSION):
        end = _failed(turn, maker, "process_exit", error.rpc_message)
        return TurnEnd(drafts=end.drafts, process_lost=True)
    return _failed(turn, maker, "prompt_failure", f"{error.rpc_message} ({error.code})")


def _died(deps: Deps, turn: Turn, maker: EventMaker, error: AgentDied) -> TurnEnd:
    if turn.ending:
        note = "the agent did not end the turn; its process was ended"
        return TurnEnd(drafts=(_asked_end(turn, maker, note),), process_lost=True)
    code = "unknown" if error.exit_code is None else str(error.exit_code)
    summary = f"the agent's process ended with exit code {code}"
    tail = deps.redactor.text(error.stderr_tail[-STDERR_SHOWN:]).strip()
    if tail:
        summary += f"; the last it said: {tail}"
    return _failed(turn, maker, "process_exit", summary, fatal=True)


def _failed(turn: Turn, maker: EventMaker, kind: FailureKind, summary: str, *, fatal: bool = False) -> TurnEnd:
    failure = maker.failure(kind, summary)
    draft = maker.draft("error", turn.id, error=failure.summary, stop_reason="error", failure=failure)
    return TurnEnd(drafts=(draft,), process_lost=fatal, fatal=kind if fatal else None, summary=summary)
