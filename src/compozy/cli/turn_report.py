"""What a finished turn leaves on the screen: the final object for programs, the footer for people, the exit code."""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from compozy.cli.connection import JsonObject
from compozy.cli.failures import Failure, local, report
from compozy.cli.invocation import Invocation
from compozy.cli.output import note, print_object, write_json_line
from compozy.cli.turns import TurnResult

if TYPE_CHECKING:
    from compozy.model.session import Session

# Printed as the last line of jsonl, after the frames of the stream.
RESULT_FRAME = "compozy-result"


def report_object(result: TurnResult, session: "Session", first: Mapping[str, object] | None = None) -> JsonObject:
    """Return the one object that says everything about the turn; `first` holds fields to put before the others."""
    record, ending = result.record, result.ending
    found: JsonObject = {
        **(first or {}),
        "agent": session.agent_name,
        "session_id": session.id,
        "workspace_id": session.workspace_id,
        "turn_id": record.turn_id,
        "text": record.text,
        "tool_calls": [call.as_json() for call in record.tool_calls.values()],
        "plan": [{"status": status, "content": content} for status, content in record.plan],
        "permissions": [permission.as_json() for permission in record.permissions.values()],
        "stop_reason": result.stop_reason,
        "exit_reason": ending.reason,
        "exit_code": ending.exit_code,
    }
    if record.context_lost:
        found["context_lost"] = True
    if record.usage:
        found["usage"] = record.usage
    if ending.message:
        found["error"] = ending.message
    return found


def login_remedy(result: TurnResult, session: "Session") -> str:
    """Return the line that logs in at the session's provider when that is what the turn wanted, else ""."""
    effective = session.runtime.effective
    if not result.ending.wants_login or effective is None:
        return ""
    return f"compozy provider auth login {shlex.quote(effective.provider)}"


def finish(invocation: Invocation, result: TurnResult, final: JsonObject, *, remedy: str = "") -> int:
    """Print the end of a turn and return the exit code."""
    if invocation.format == "jsonl":
        write_json_line({"type": RESULT_FRAME, **final})
    elif not invocation.is_human:
        print_object(invocation, final, (), name="result")
    ending = result.ending
    if ending.message:
        failure = local(ending.message, code=ending.reason, remedy=remedy, exit_code=ending.exit_code)
        report(_without_diagnostic(failure) if not remedy else failure, invocation.format)
    elif invocation.is_human and not result.record.text:
        note(invocation, "the agent ended its turn without an answer")
    return ending.exit_code


def _without_diagnostic(failure: Failure) -> Failure:
    return Failure({k: v for k, v in failure.payload.items() if k != "diagnostic"}, failure.exit_code)
