"""Findings of the doctor and the report over them (contract §3.6). Knows no check."""

from compozy.model.api import ApiDiagnostic, DataFreshness, DiagnosticSeverity
from compozy.model.doctor import Report, Summary
from compozy.model.times import now

DOCTOR_SCHEMA = "compozy.doctor.v1"
_ORDER: tuple[DiagnosticSeverity, ...] = ("ok", "info", "warn", "error", "critical")
Finding = ApiDiagnostic


def finding(
    category: str,
    name: str,
    severity: DiagnosticSeverity,
    message: str,
    *,
    code: str = "",
    command: str | None = None,
    freshness: DataFreshness = "live",
    evidence: dict[str, object] | None = None,
) -> Finding:
    """Build one finding; its id is ``<category>.<name>``."""
    return ApiDiagnostic(
        id=f"{category}.{name}",
        code=code or name,
        category=category,
        title=f"{category}: {name.replace('_', ' ')}",
        message=message,
        severity=severity,
        data_freshness=freshness,
        suggested_command=command,
        evidence=evidence,
    )


def report(
    items: list[Finding], duration_ms: int, *, only: str = "", exclude: str = "", quiet: bool = False
) -> Report:
    """Filter findings by category or id (comma-separated lists) and sum them up; `quiet` leaves out what is fine."""
    wanted, unwanted = _names(only), _names(exclude)
    kept = [
        item
        for item in items
        if (not wanted or wanted & {item.category, item.id}) and not unwanted & {item.category, item.id}
    ]
    worst = max((item.severity for item in kept), key=_ORDER.index, default="ok")
    counts = {severity: sum(item.severity == severity for item in kept) for severity in _ORDER}
    shown = [item for item in kept if not quiet or item.severity not in ("ok", "info")]
    return Report(
        schema_version=DOCTOR_SCHEMA,
        status=worst,
        generated_at=now(),
        duration_ms=duration_ms,
        items=tuple(shown),
        summary=Summary(counts_by_severity={name: count for name, count in counts.items() if count}, total=len(kept)),
    )


def _names(text: str) -> set[str]:
    return {part.strip() for part in text.split(",") if part.strip()}
