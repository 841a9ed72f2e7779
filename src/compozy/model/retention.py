"""Retention as the API shows it: limits, what the store takes, and what a run removed (issue 6)."""

from typing import Literal

from compozy.model.record import Record

Reason = Literal["age", "count", "size", "own_job"]


class Limits(Record, frozen=True, kw_only=True):
    """What may stay; 0 is unlimited. `max_age` in seconds."""

    max_age: float = 0.0
    max_sessions: int = 0
    max_bytes: int = 0


class RemovedSession(Record, frozen=True, kw_only=True):
    """A session that was removed, or would be."""

    id: str
    workspace_id: str
    last_activity_at: str
    reason: Reason
    events: int
    bytes: int


class RetentionReport(Record, frozen=True, kw_only=True):
    """One run. `bytes_after` is smaller only once the file has shrunk; `more` says that a bound ended the run."""

    at: str
    dry_run: bool
    sessions: int
    events: int
    bytes_before: int
    bytes_after: int
    more: bool
    removed: tuple[RemovedSession, ...]
    problem: str = ""


class RetentionState(Record, frozen=True, kw_only=True):
    """What is in force, what the store takes, and the last run of this daemon."""

    limits: Limits
    own_jobs_days: int
    interval_seconds: float
    used_bytes: int
    free_bytes: int
    stopped_sessions: int
    last: RetentionReport | None = None
