"""What of a home belongs to a backup, and the list that lies in each backup file.

In: the store, settings, trust, agents with their history, skills, extensions, attachments. Out: what can be made anew
(logs, caches, installed programs), other programs' own folders, and the vault unless it is asked for.
"""

from pathlib import PurePosixPath

from compozy.model.record import Record

SCHEMA = "compozy.backup.v1"
MANIFEST = "backup.json"
STORE = "compozy.db"
PARTS = (
    "config.toml",
    "mcp.json",
    "trust.json",
    "onboarding.json",
    "agents",
    "skills",
    "history",
    "extensions",
    "memory",
    "loops",
    "session-attachments",
    "tool-artifacts",
)
# Only together, and only on request: the vault without its key is worthless, with it a backup is a secret itself.
SECRET_PARTS = ("vault.json", "vault.key")


class BackupFile(Record, frozen=True, kw_only=True):
    """One file of a backup."""

    path: str
    bytes: int
    sha256: str


class Manifest(Record, frozen=True, kw_only=True):
    """What a backup says about itself; the last member of the file, so that a cut one has none.

    `parts` are replaced as a whole when the backup is restored, also those of which there was nothing.
    """

    schema: str
    created_at: str
    version: str
    layout: int
    sessions: int
    events: int
    parts: tuple[str, ...]
    files: tuple[BackupFile, ...]
    skipped: tuple[str, ...] = ()
    """Links and special files, which are never followed."""


def belongs(path: str) -> bool:
    """Whether a member of a backup may be written into a home: below a known part, without tricks."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or str(pure) != path or any(word in ("..", ".") for word in pure.parts):
        return False
    top = pure.parts[0] if pure.parts else ""
    if top not in (STORE, *PARTS, *SECRET_PARTS):
        return False
    return top != STORE or path == STORE
