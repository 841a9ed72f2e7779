"""What a caller of the daemon can run into: it cannot be reached, it refuses, or a stream breaks off.

`ApiError` keeps the daemon's envelope as plain data, so that the command line can print it unchanged (contract §4.3).
"""

from collections.abc import Mapping

from compozy.model.errors import EXIT_UNAVAILABLE, LocalError, exit_code_for_status

START_COMMAND = "compozy daemon start"


class DaemonUnreachable(LocalError):
    """No daemon answers for this home; exit code 69 (contract §4.4)."""

    default_code = "daemon_unavailable"

    def __init__(self, message: str, *, hint: str | None = START_COMMAND) -> None:
        super().__init__(message, exit_code=EXIT_UNAVAILABLE, hint=hint)


class ConnectionLost(LocalError):
    """The connection ended before the answer was complete. Whether the daemon acted on the request is unknown."""

    default_code = "connection_lost"

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=EXIT_UNAVAILABLE, hint="compozy status")


class ApiError(LocalError):
    """An answer that is not a success: its HTTP status and the envelope of contract §3.1."""

    default_code = "api_error"

    def __init__(self, status: int, envelope: Mapping[str, object], headers: Mapping[str, str] | None = None) -> None:
        self.envelope = dict(envelope)
        self.headers: Mapping[str, str] = headers or {}
        found = self.envelope.get("diagnostic")
        # The tool endpoints put an object there (contract §3.1).
        told = self.envelope.get("error")
        tool: Mapping[str, object] = told if isinstance(told, Mapping) else {}
        self.facts: dict[str, object] = dict(found) if isinstance(found, Mapping) else {}
        severity = str(self.facts.get("severity") or "")
        hint = self.facts.get("suggested_command")
        super().__init__(
            str(tool.get("message") or told or f"the daemon answered with status {status}"),
            exit_code=exit_code_for_status(status, severity),
            code=str(self.facts.get("code") or self.envelope.get("code") or tool.get("code") or self.default_code),
            hint=str(hint) if hint else None,
        )
        # The table of classes fixes a status per class; here it is the answer's own.
        self.http_status = status

    @property
    def status(self) -> int:  # type: ignore[override]
        """The HTTP status of the answer."""
        return self.http_status


class UnexpectedAnswer(LocalError):
    """An answer that is not what the contract says: another version, or another program, answered."""

    default_code = "unexpected_answer"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the daemon's answer is not understood ({what}); is it of the same version?",
            hint="compozy daemon stop && compozy daemon start",
        )
