"""What a daemon says of itself: identity and drain state (contract §3.6)."""

from compozy.model.record import Record


class DaemonIdentity(Record, frozen=True, kw_only=True):
    """Who serves this home."""

    pid: int
    version: str
    http_host: str
    http_port: int
    started_at: str
    user_home_dir: str


class IdentityAnswer(Record, frozen=True, kw_only=True):
    """GET /api/status/identity"""

    schema_version: str
    daemon: DaemonIdentity


class DrainState(Record, frozen=True, kw_only=True):
    """Answer of drain and undrain; safe to stop once nothing runs any more."""

    state: str
    admission_closed: bool
    active_session_executions: int
    session_execution_settled: bool
    active_task_claims: int
    authoritative_claims_settled: bool
    safe_to_stop: bool
