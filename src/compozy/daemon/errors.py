"""From an exception to the error envelope (contract §3.1; decisions D23, D31). The only place that does it.

On TCP the text of a 5xx answer is masked and its request id leads to the log line; the socket shows the real message.
"""

import logging
from collections.abc import Callable
from http import HTTPStatus

import msgspec
from starlette.responses import Response

from compozy.daemon.messages import json_response
from compozy.model.api import ApiDiagnostic, ErrorEnvelope
from compozy.model.errors import CompozyError
from compozy.model.ids import new_request_id

_log = logging.getLogger("compozy.http")
_SERVER_ERROR = 500
# Refusals on purpose say why, also over TCP (contract §1.3).
_NEVER_MASKED = frozenset({"daemon_draining"})


def error_response(error: Exception, *, transport: str, request: str, redact: Callable[[str], str] = str) -> Response:
    """Render any exception; log it when it is a fault. `request` is method and path, for the log."""
    if isinstance(error, CompozyError):
        status, envelope = error.status, envelope_of(error)
    else:
        status = _SERVER_ERROR
        envelope = ErrorEnvelope(error=f"internal error: {type(error).__name__}: {error}", code="internal_error")
    if status >= _SERVER_ERROR and envelope.code not in _NEVER_MASKED:
        envelope = _masked(envelope, error, status=status, transport=transport, request=request)
    return json_response(_redacted(msgspec.to_builtins(envelope), redact), status)


def _redacted(value: object, redact: Callable[[str], str]) -> object:
    """Redact every text of an envelope; what an error quotes may be a secret."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {name: _redacted(inner, redact) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(inner, redact) for inner in value]
    return value


def envelope_of(error: CompozyError) -> ErrorEnvelope:
    """Return the envelope of a deliberate error."""
    details = dict(error.details)
    diagnostic = None
    if error.diagnostic:
        diagnostic = ApiDiagnostic(
            id=error.diagnostic_id,
            code=error.code,
            category=error.category,
            title=error.title,
            message=error.message,
            severity="error",
            data_freshness="live",
            suggested_command=error.hint,
            evidence=error.evidence or None,
        )
    elif error.hint:
        details.setdefault("suggested_command", error.hint)
    return ErrorEnvelope(error=error.message, code=error.code, details=details or None, diagnostic=diagnostic)


def _masked(envelope: ErrorEnvelope, error: Exception, *, status: int, transport: str, request: str) -> ErrorEnvelope:
    request_id = new_request_id()
    deliberate = isinstance(error, CompozyError)
    _log.error(
        "%s failed: %s",
        request,
        envelope.error,
        exc_info=None if deliberate else error,
        extra={"request_id": request_id, "status": status},
    )
    if transport == "unix":
        return msgspec.structs.replace(envelope, request_id=request_id)
    return ErrorEnvelope(error=HTTPStatus(status).phrase, code=envelope.code, request_id=request_id)
