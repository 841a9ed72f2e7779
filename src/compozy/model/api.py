"""The error envelope of every answer that is not a success (contract §3.1)."""

from typing import Literal

from compozy.model.record import Record

DiagnosticSeverity = Literal["ok", "info", "warn", "error", "critical"]
DataFreshness = Literal["live", "offline", "stale"]


class ApiDiagnostic(Record, frozen=True, kw_only=True):
    """A structured finding inside an error envelope or a doctor report."""

    id: str
    code: str
    category: str
    title: str
    message: str
    severity: DiagnosticSeverity
    data_freshness: DataFreshness
    suggested_command: str | None = None
    doc_url: str | None = None
    evidence: dict[str, object] | None = None


class ErrorEnvelope(Record, frozen=True, kw_only=True):
    """`{error, code?, details?, diagnostic?}`; `request_id` is additive and matches the log line (D23)."""

    error: str
    code: str | None = None
    details: dict[str, str] | None = None
    diagnostic: ApiDiagnostic | None = None
    request_id: str | None = None
