"""One of the daemon's own jobs and who does it, as the API shows it (shapes: Role)."""

from typing import Literal

from compozy.model.record import Record

ROLES: tuple[str, ...] = (
    "coordinator",
    "dream",
    "checkpoint_summary",
    "memory_extractor",
    "auto_title",
    "memory_controller",
)
ResolutionMode = Literal["builtin", "catalog", "inherit"]


class RoleDiagnostic(Record, frozen=True, kw_only=True):
    """Why a role cannot be filled as configured."""

    code: str
    message: str
    agent: str = ""


class RoleFallback(Record, frozen=True, kw_only=True):
    """What is tried when the choice before it fails."""

    provider: str
    model: str
    reasoning_effort: str = ""


class Role(Record, frozen=True, kw_only=True):
    """A role as it resolves now; null means that the invoking agent decides, or nobody does."""

    role: str
    enabled: bool
    resolution_mode: ResolutionMode
    agent: str | None
    provider: str | None
    model: str | None
    reasoning_effort: str | None
    fallback_chain: tuple[RoleFallback, ...]
    provenance: dict[str, str]
    diagnostics: tuple[RoleDiagnostic, ...]
    timeout: str | None = None
