"""How a failed call ends: one sentence with its remedy on standard error, and the documented exit code.

Implements contract §4.3 (errors) and §4.4 with decisions D30: human `error: …` and `try: …`; json the error
payload of the API; jsonl `{type: "error", error}`; identity errors `{error: {code, message, action, exit_code}}`.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

import click

from compozy.cli import toon
from compozy.cli.output import clean
from compozy.model.errors import (
    EXIT_CANCELLED,
    EXIT_CONTEXT_LOST,
    EXIT_GENERIC,
    EXIT_REFUSED,
    EXIT_USAGE,
    CompozyError,
    LocalError,
    exit_code_for_status,
)

# Answered with their own payload and 65 instead of the 77 of other refusals (contract §4.4).
_IDENTITY_CODES = ("identity_mismatch", "identity_stale", "identity_unauthorized")
CONTEXT_LOST = "context_lost"
_SUGGESTION = "suggested_command"


class Failure(NamedTuple):
    """What went wrong: the API's error payload, the exit code, and the command that helps ("" for none)."""

    payload: dict[str, object]
    exit_code: int
    remedy: str = ""

    @property
    def message(self) -> str:
        told = self.payload.get("error")
        # The tool endpoints put an object there (contract §3.1).
        return str((told.get("message") if isinstance(told, Mapping) else told) or "")


class IdentityError(LocalError):
    """The caller's agent identity is missing or refused; `action` says what the agent should do."""

    def __init__(self, code: str, message: str, *, action: str, exit_code: int) -> None:
        super().__init__(message, code=code, exit_code=exit_code)
        self.action = action


def describe(error: BaseException) -> Failure:
    """Turn any exception into what to print and how to exit."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return Failure({"error": "interrupted", "code": "interrupted"}, EXIT_CANCELLED)
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, IdentityError):
        inner = {"code": error.code, "message": error.message, "action": error.action, "exit_code": error.exit_code}
        return Failure({"error": inner}, error.exit_code)
    envelope = getattr(error, "envelope", None)
    if envelope is not None:
        return refusal(int(getattr(error, "status", 500)), as_payload(envelope))
    if isinstance(error, LocalError):
        return local(error.message, code=error.code, remedy=error.hint or "", exit_code=error.exit_code)
    if isinstance(error, CompozyError):
        return local(error.message, code=error.code, remedy=error.hint or "", exit_code=_status_exit(error))
    if isinstance(error, OSError):
        return local(_os_sentence(error), code="local_error")
    if isinstance(error, UnicodeEncodeError) and "surrogate" in error.reason:
        # An argument or a file's name that is not UTF-8, on its way to the daemon or the terminal.
        said = str(error.object)[max(0, error.start - 20) : error.end + 20]
        return local(f"{said!r} is not UTF-8; rename it or name another", code="not_utf8", exit_code=EXIT_USAGE)
    if os.environ.get("COMPOZY_DEBUG"):
        import traceback  # noqa: PLC0415 - start-up cost

        traceback.print_exception(error)
    name = type(error).__name__
    text = f"this is a fault of compozy itself: {name}: {error}; set COMPOZY_DEBUG=1 and repeat to see where"
    return local(text, code="internal_error")


def local(message: str, *, code: str, remedy: str = "", exit_code: int = EXIT_GENERIC) -> Failure:
    """Build the failure of something that went wrong on this side."""
    payload: dict[str, object] = {"error": message, "code": code}
    if remedy:
        payload["diagnostic"] = {
            "id": f"cli.{code}",
            "code": code,
            "category": "cli",
            "title": code.replace("_", " "),
            "message": message,
            "severity": "error",
            "data_freshness": "offline",
            _SUGGESTION: remedy,
        }
    return Failure(payload, exit_code, remedy)


def refusal(status: int, payload: dict[str, object]) -> Failure:
    """Build the failure of an answer of the daemon that is not a success."""
    diagnostic = payload.get("diagnostic")
    facts: Mapping[str, object] = diagnostic if isinstance(diagnostic, Mapping) else {}
    code = str(facts.get("code") or payload.get("code") or "")
    details = payload.get("details")
    remedy = str(facts.get(_SUGGESTION) or (details.get(_SUGGESTION) if isinstance(details, Mapping) else "") or "")
    if code in _IDENTITY_CODES:
        return Failure(payload, EXIT_REFUSED, remedy)
    if code == CONTEXT_LOST:
        return Failure(payload, EXIT_CONTEXT_LOST, remedy)
    return Failure(payload, exit_code_for_status(status, str(facts.get("severity") or "")), remedy)


def as_payload(envelope: object) -> dict[str, object]:
    """Return an error envelope as plain JSON data, whether it came as a mapping or as a record."""
    if isinstance(envelope, Mapping):
        return {str(key): value for key, value in envelope.items()}
    import msgspec  # noqa: PLC0415 - start-up cost

    built = msgspec.to_builtins(envelope)
    return {key: value for key, value in built.items() if value is not None} if isinstance(built, dict) else {}


def report(failure: Failure, output_format: str) -> None:
    """Write a failure to standard error in the format of the call."""
    with suppress(OSError):
        # The failure may be that standard output takes nothing more; it is told all the same.
        sys.stdout.flush()
    sys.stderr.write(render(failure, output_format))
    sys.stderr.flush()


def render(failure: Failure, output_format: str) -> str:
    """Return the text of a failure in a format, with its line end."""
    if output_format == "json":
        return json.dumps(failure.payload, ensure_ascii=False, indent=2) + "\n"
    if output_format == "jsonl":
        line = {"type": "error", "error": failure.payload}
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
    if output_format == "toon":
        return toon.render_object("error", {"message": _sentence(failure), "try": failure.remedy})
    if failure.payload.get("code") == "interrupted":
        return "\n"
    remedy = f"try: {clean(failure.remedy)}\n" if failure.remedy else ""
    return f"error: {clean(_sentence(failure))}\n{remedy}"


def _sentence(failure: Failure) -> str:
    inner = failure.payload.get("error")
    if isinstance(inner, Mapping):
        # The tool endpoints' errors say what to do in their message.
        return "; ".join(str(inner[part]) for part in ("message", "action") if inner.get(part))
    request = failure.payload.get("request_id")
    return str(inner or "the daemon gave no reason") + (f" ({request} in the daemon's log)" if request else "")


def _usage(error: click.ClickException) -> Failure:
    context = error.ctx if isinstance(error, click.UsageError) else None
    remedy = str(getattr(error, "remedy", "")) or (f"{context.command_path} --help" if context else "")
    message = error.format_message().rstrip(".")
    if not isinstance(error, click.UsageError):
        return local(message, code=str(getattr(error, "code", "local_error")), exit_code=error.exit_code)
    return local(message[:1].lower() + message[1:], code="usage", remedy=remedy, exit_code=EXIT_USAGE)


def _status_exit(error: CompozyError) -> int:
    return exit_code_for_status(error.status, "error" if error.diagnostic else None)


def _os_sentence(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    if error.filename is None:
        return f"the system refused: {reason}"
    return f"{os.fsdecode(error.filename)!r}: {reason}; check the path and its permissions"
