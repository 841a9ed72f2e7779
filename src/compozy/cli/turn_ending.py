"""How a turn ended, and what that means for a script: one reason, one exit code, one sentence (decisions D30).

Pure: it judges a `TurnRecord` and the session as read afterwards. P45: a denial is never a silent success.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from compozy.cli.connection import text_of
from compozy.cli.turn_record import Permission, TurnRecord
from compozy.model.errors import (
    EXIT_AGENT_DIED,
    EXIT_CANCELLED,
    EXIT_CONTEXT_LOST,
    EXIT_DENIED,
    EXIT_GENERIC,
    EXIT_INVALID,
    EXIT_OK,
    EXIT_TIMEOUT,
)

ExitReason = Literal[
    "done",
    "context_lost",
    "denied",
    "agent_died",
    "timeout",
    "unanswered",
    "cancelled",
    "refused",
    "cut_off",
    "failed",
]
# Failure kinds that mean: the agent program is gone, or never came up (contract §5.1).
DEATHS = (
    "startup_failure",
    "handshake_failure",
    "load_session_failure",
    "protocol_failure",
    "process_exit",
    "transport_failure",
)


class Ending(NamedTuple):
    """The verdict on a turn; `message` is empty when it is done."""

    reason: ExitReason
    exit_code: int
    message: str = ""

    @property
    def wants_login(self) -> bool:
        """Whether the agent program has to be logged in first: no other failed turn has this code."""
        return self.reason == "failed" and self.exit_code == EXIT_INVALID


def judge(
    record: TurnRecord,
    *,
    on_ask: str,
    stop_reason: str = "",
    failure: Mapping[str, object] | None = None,
    was_interrupted: bool = False,
    timed_out_after: str = "",
) -> Ending:
    """Decide how the turn ended. What we did ourselves comes first, then a dead agent, then what was refused."""
    failed = failure or {}
    kind = text_of(failed, "kind")
    reason = text_of(failed, "summary") or next(iter(record.errors), "")
    if was_interrupted:
        return Ending("cancelled", EXIT_CANCELLED, "the turn was cancelled")
    if timed_out_after:
        return Ending("timeout", EXIT_TIMEOUT, _timeout_text(record, timed_out_after))
    if stop_reason == "context_lost":
        return Ending("context_lost", EXIT_CONTEXT_LOST, _with("the agent lost its context", reason))
    if kind in DEATHS:
        return Ending("agent_died", EXIT_AGENT_DIED, _with("the agent program ended or broke", reason))
    unanswered = [p for p in record.permissions.values() if _is_unanswered(p, on_ask)]
    if unanswered:
        return Ending("unanswered", EXIT_TIMEOUT, f"nobody answered in time: {unanswered[0].subject}")
    denied = [p for p in record.permissions.values() if p.is_denied and p.decided_by != "person"]
    if denied or kind == "permission_failure":
        subject = denied[0].subject if denied else reason
        return Ending("denied", EXIT_DENIED, f"permission denied by policy: {subject}")
    if kind == "timeout":
        return Ending("timeout", EXIT_TIMEOUT, _with("the agent was silent for too long", reason))
    if kind == "provider_auth_failure":
        return Ending("failed", EXIT_INVALID, _with("the agent program is not logged in", reason))
    return _by_stop_reason(record, stop_reason, reason)


def _by_stop_reason(record: TurnRecord, stop_reason: str, reason: str) -> Ending:
    if stop_reason in ("cancelled", "canceled"):
        return Ending("cancelled", EXIT_CANCELLED, "the turn was cancelled from elsewhere")
    if record.errors:
        return Ending("failed", EXIT_GENERIC, _with("the turn failed", reason))
    if stop_reason == "refusal":
        return Ending("refused", EXIT_GENERIC, "the agent refused the task")
    if stop_reason in ("max_tokens", "max_turn_requests") or record.finish_reason == "length":
        return Ending("cut_off", EXIT_GENERIC, f"the answer is not complete: {stop_reason or 'length'}")
    if not record.is_finished:
        return Ending("failed", EXIT_GENERIC, "the stream of the turn ended before the turn did")
    return Ending("done", EXIT_OK)


def _is_unanswered(permission: Permission, on_ask: str) -> bool:
    return on_ask == "ask" and permission.was_pending and permission.is_denied and permission.decided_by == "provider"


def _timeout_text(record: TurnRecord, after: str) -> str:
    waiting = [p for p in record.permissions.values() if not p.decision]
    if waiting:
        return f"nobody answered within {after}: {waiting[0].subject}; the turn was cancelled"
    return f"the turn took longer than {after} and was cancelled"


def _with(text: str, reason: str) -> str:
    return f"{text}: {reason}" if reason else text
