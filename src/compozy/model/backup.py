"""What the daemon and the command line say about a backup that was made. No input or output."""

from compozy.model.record import Record


class BackupReport(Record, frozen=True, kw_only=True):
    """A backup that was made."""

    path: str
    bytes: int
    created_at: str
    sessions: int
    events: int
    files: int
    parts: tuple[str, ...]
    skipped: tuple[str, ...] = ()
