"""The report of `doctor`: findings and their counts (contract §3.6)."""

from compozy.model.api import ApiDiagnostic
from compozy.model.record import Record


class Summary(Record, frozen=True, kw_only=True):
    """Counts of one report."""

    counts_by_severity: dict[str, int]
    total: int


class Report(Record, frozen=True, kw_only=True):
    """The answer of GET /api/doctor; `status` is the worst severity."""

    schema_version: str
    status: str
    generated_at: str
    duration_ms: int
    items: tuple[ApiDiagnostic, ...]
    summary: Summary
