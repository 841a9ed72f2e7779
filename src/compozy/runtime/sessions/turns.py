"""One turn: a prompt from the moment it is stored until its end is stored (contract §5.2, §5.4; P44, P54, P58).

Supervises the agent while it works: a cancel that is ignored and a silence that lasts too long end the process.
Whatever happens, exactly one `done` or `error` event ends the turn, after every update that belongs to it.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from compozy.acp.contract import AgentDied, AgentError, AgentProtocolError, AgentTimeout, PromptOutcome, UpdatesLost
from compozy.model.event import EventDraft
from compozy.model.session import FailureKind
from compozy.runtime.sessions.binding import AUTH_REQUIRED, STDERR_SHOWN, end_process
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.process import AgentProcess
from compozy.runtime.sessions.supervision.turn import EndReason, Turn
from compozy.runtime.sessions.supervision.watch import TurnReports, Watch, cancel_turn

log = logging.getLogger(__name__)

# JSON-RPC code of a request that was cancelled.
CANCELLED_CODE = -32800
# Texts by which agents say that their process no longer knows the session (contract §5.4).
# Why a session stopped whose agent was silent for too long (contract §5.9).
ACTIVITY_TIMEOUT = "activity_timeout"
_SILENT = "the agent was silent for too long"
_LOGIN_WORDS = ("auth", "log in", "login", "sign in", "api key")
_LOST_SESSION = ("session not found", "resource not found", "please start a new session")
__all__ = ["CANCELLED_CODE", "EndReason", "Turn", "TurnEnd", "asked_end", "cancel_turn", "run_turn"]


@dataclass(frozen=True, kw_only=True)
class TurnEnd:
    """How a turn ended: its last events, and whether its process can go on and the session with it.

    `closing` closes what the agent left open, `drafts` ends the turn. `may_restart` says that the agent died, so that
    another attempt may still bring the turn to its end; `crash` is what it left behind.
    """

    drafts: tuple[EventDraft, ...]
    closing: tuple[EventDraft, ...] = ()
    process_lost: bool = False
    fatal: FailureKind | None = None
    summary: str = ""
    may_restart: bool = False
    crash: AgentDied | None = None
    stop_detail: str = ""
    """Not empty: the session stops with reason `timeout` and this detail."""


async def run_turn(
    deps: Deps,
    turn: Turn,
    process: AgentProcess,
    maker: EventMaker,
    blocks: Sequence[Mapping[str, object]],
    meta: Mapping[str, object],
    reports: TurnReports,
) -> TurnEnd:
    """Send the prompt, supervise it, and say how it ended."""
    connection = process.connection
    assert connection is not None, "a turn has a process"
    task = asyncio.ensure_future(connection.prompt(process.session_id, blocks, meta=meta))
    try:
        watch = Watch(deps.config.session.supervision, turn, process, reports, partial(end_process, deps))
        await watch.until(task)
        end = _ended(turn, maker, task.result())
    except AgentError as error:
        end = _refused(turn, maker, error)
    except UpdatesLost as error:
        # Not started again: the new process would do once more what this one did unseen.
        end = _failed(turn, maker, "unknown_failure", str(error), fatal=True)
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
    stop_detail = ACTIVITY_TIMEOUT if turn.ending == "timeout" else ""
    return replace(end, closing=tuple(closing), stop_detail=stop_detail)


def _ended(turn: Turn, maker: EventMaker, outcome: PromptOutcome) -> TurnEnd:
    if not turn.ending:
        reason = outcome.stop_reason
        return TurnEnd(
            drafts=(maker.draft("done", turn.id, stop_reason=reason, usage=outcome.usage, raw=outcome.raw),)
        )
    note = "" if outcome.stop_reason == "cancelled" else f"the agent answered {outcome.stop_reason!r}"
    return TurnEnd(drafts=(asked_end(turn, maker, note, outcome),))


def asked_end(turn: Turn, maker: EventMaker, note: str, outcome: PromptOutcome | None = None) -> EventDraft:
    """Return the last event of a turn that we asked to end; `note` is what the agent said or did instead."""
    usage = outcome.usage if outcome else None
    note = "; ".join(part for part in (turn.note, note) if part)
    if turn.ending == "cancelled":
        return maker.draft("done", turn.id, stop_reason="cancelled", text=note, usage=usage)
    if turn.ending == "interrupted":
        return maker.draft(
            "error", turn.id, stop_reason="interrupted", error="daemon stopped", text=note, usage=usage
        )
    late = turn.ending == "deadline"
    what = "the turn took longer than session.supervision.prompt_deadline" if late else _SILENT
    failure = maker.failure("timeout", what)
    return maker.draft("error", turn.id, stop_reason="timeout", error=what, text=note, failure=failure, usage=usage)


def _refused(turn: Turn, maker: EventMaker, error: AgentError) -> TurnEnd:
    if turn.ending:
        return TurnEnd(drafts=(asked_end(turn, maker, f"the agent answered {error}"),))
    if error.code == CANCELLED_CODE:
        return _failed(turn, maker, "cancellation", error.rpc_message)
    text = f"{error.rpc_message} {error.data or ''}".casefold()
    if any(words in text for words in _LOST_SESSION):
        end = _failed(turn, maker, "process_exit", error.rpc_message)
        return replace(end, process_lost=True, may_restart=True)
    # The protocol's own code for it is also the one that servers use for anything.
    wants_login = error.code == AUTH_REQUIRED and any(word in text for word in _LOGIN_WORDS)
    kind: FailureKind = "provider_auth_failure" if wants_login else "prompt_failure"
    return _failed(turn, maker, kind, f"{error.rpc_message} ({error.code})")


def _died(deps: Deps, turn: Turn, maker: EventMaker, error: AgentDied) -> TurnEnd:
    if turn.ending:
        note = "the agent did not end the turn; its process was ended"
        return TurnEnd(drafts=(asked_end(turn, maker, note),), process_lost=True)
    code = "unknown" if error.exit_code is None else str(error.exit_code)
    summary = f"the agent's process ended with exit code {code}"
    tail = deps.redactor.text(error.stderr_tail[-STDERR_SHOWN:]).strip()
    if tail:
        summary += f"; the last it said: {tail}"
    return replace(_failed(turn, maker, "process_exit", summary, fatal=True), may_restart=True, crash=error)


def _failed(turn: Turn, maker: EventMaker, kind: FailureKind, summary: str, *, fatal: bool = False) -> TurnEnd:
    failure = maker.failure(kind, summary)
    draft = maker.draft("error", turn.id, error=failure.summary, stop_reason="error", failure=failure)
    return TurnEnd(drafts=(draft,), process_lost=fatal, fatal=kind if fatal else None, summary=summary)
