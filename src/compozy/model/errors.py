"""Every error the product raises on purpose, in one tree, with one table to HTTP and exit codes.

CompozyError                      code, message, hint, details, evidence
├── InvalidRequest       400      a request, filter or cursor that cannot be understood
├── IdentityRequired     401      an agent call without identity headers
├── Forbidden            403      refused for who asks or where from
├── NotFound             404      no such session, workspace, agent, route
├── Conflict             409      digest, name, fence, busy, trust
├── Gone                 410      a workspace root or a wait that no longer exists
├── TooLarge             413      body, attachment, queue
├── UnsupportedMedia     415      a MIME type that is not accepted
├── Unprocessable        422      understood, but refused by a rule (reserved name, negotiation, provider)
├── Unavailable          503      draining, store or projection out of reach
├── InternalError        500      a fault of ours
└── LocalError           –        raised on the caller's side only (CLI, client), with its own exit code

`code` is stable and documented; messages name what was wrong and end with what to do next.
Sources: contract §3.1 (envelope, statuses), §4.4 (exit codes), decisions D30.
"""

from collections.abc import Mapping
from typing import ClassVar


class CompozyError(Exception):
    """Base of all deliberate errors.

    Args:
        message: one sentence for a person, values quoted with ``!r``, ending in what to do.
        code: the stable diagnostic code; the class's default when omitted.
        hint: a command line that mends it, shown as ``try: …``.
        details: short text facts for the envelope's ``details``.
        evidence: structured facts for ``diagnostic.evidence``.
        diagnostic_id: the diagnostic's id where the contract fixes one; category and code otherwise.
        diagnostic: whether the envelope carries a diagnostic object (exit code 71 on the CLI, contract §4.4).
    """

    status: ClassVar[int] = 500
    default_code: ClassVar[str] = "internal_error"
    category: str = "daemon"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        details: Mapping[str, str] | None = None,
        evidence: Mapping[str, object] | None = None,
        diagnostic: bool = False,
        category: str | None = None,
        title: str | None = None,
        diagnostic_id: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.hint = hint
        self.details = dict(details or {})
        self.evidence = dict(evidence or {})
        self.diagnostic = diagnostic or bool(evidence)
        if category is not None:
            self.category = category
        self.title = title or self.code.replace("_", " ")
        self.diagnostic_id = diagnostic_id or f"{self.category}.{self.code}"

    def __str__(self) -> str:
        return self.message


class InvalidRequest(CompozyError):
    """The request cannot be understood: bad JSON, validation, unknown agent for a session, bad cursor."""

    status = 400
    default_code = "invalid_request"


class IdentityRequired(CompozyError):
    """An agent call without `X-Compozy-Session-ID` and `X-Compozy-Agent`."""

    status = 401
    default_code = "identity_required"


class Forbidden(CompozyError):
    """Refused because of who asks or where the call comes from."""

    status = 403
    default_code = "forbidden"


class NotFound(CompozyError):
    """The named thing does not exist."""

    status = 404
    default_code = "not_found"


class Conflict(CompozyError):
    """The state of the thing forbids the change: digest, name taken, busy, fence, trust."""

    status = 409
    default_code = "conflict"


class Gone(CompozyError):
    """The thing existed and is no longer there."""

    status = 410
    default_code = "gone"


class TooLarge(CompozyError):
    """A body, attachment or queue exceeds its limit."""

    status = 413
    default_code = "too_large"


class UnsupportedMedia(CompozyError):
    """The content type is not accepted."""

    status = 415
    default_code = "unsupported_media"


class Unprocessable(CompozyError):
    """Understood, but a rule refuses it: reserved name, negotiation, provider."""

    status = 422
    default_code = "unprocessable"


class Unavailable(CompozyError):
    """The daemon cannot do it now: draining, store or projection out of reach."""

    status = 503
    default_code = "daemon_unavailable"


class InternalError(CompozyError):
    """A fault of ours; the text is masked on TCP and carries a request id."""

    status = 500
    default_code = "internal_error"


class LocalError(CompozyError):
    """An error on the caller's side, before or instead of an answer from the daemon."""

    default_code = "local_error"

    def __init__(self, message: str, *, exit_code: int = 1, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, code=code, hint=hint)
        self.exit_code = exit_code


# Exit codes of the command line (contract §4.4 and decisions D30).
EXIT_OK = 0
EXIT_GENERIC = 1
EXIT_USAGE = 2
EXIT_IDENTITY_REQUIRED = 64
EXIT_REFUSED = 65
EXIT_NOTHING_IN_FLIGHT = 66
EXIT_UNAVAILABLE = 69
EXIT_DIAGNOSTIC_WARN = 70
EXIT_DIAGNOSTIC_ERROR = 71
EXIT_CONTEXT_LOST = 74
EXIT_TIMEOUT = 75
EXIT_DENIED = 77
EXIT_INVALID = 78
EXIT_CANCELLED = 130
# `run` reports a dead agent with 70, the same number as a warning diagnostic (D30).
EXIT_AGENT_DIED = 70


def exit_code_for_status(status: int, diagnostic_severity: str | None = None) -> int:
    """Map an API error to the CLI's exit code; an error diagnostic wins over the status (contract §4.4)."""
    if diagnostic_severity in ("error", "critical"):
        return EXIT_DIAGNOSTIC_ERROR
    if diagnostic_severity == "warn":
        return EXIT_DIAGNOSTIC_WARN
    if status in (400, 409):
        return EXIT_REFUSED
    if status in (401, 403):
        return EXIT_DENIED
    if status == 422:
        return EXIT_INVALID
    if status in (404, 408, 410, 413, 429) or status >= 500:
        return EXIT_UNAVAILABLE
    return EXIT_GENERIC
