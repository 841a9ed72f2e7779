"""`compozy backup FILE` and `compozy restore FILE`: the store and what a person wrote, as one file (issue 6).

Both work while the daemon runs. Restoring says what it replaces and asks; a script says `--yes`.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from compozy.cli.commands.session_write import confirm
from compozy.cli.connection import JsonObject
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import Column, note, print_object
from compozy.cli.status_line import StatusLine
from compozy.cli.wording import count

if TYPE_CHECKING:
    from compozy.daemon.backups import Staged

_BACKUP_FIELDS = (
    Column("Backup", "path"),
    Column("Size", "bytes", lambda row: f"{_number(row, 'bytes') / 1024 / 1024:.1f} MiB"),
    Column("Sessions", "sessions"),
    Column("Events", "events"),
    Column("Files", "files"),
)
_RESTORE_FIELDS = (
    Column("Restored", "path"),
    Column("Sessions", "sessions"),
    Column("Events", "events"),
    Column("The state before lies in", "replaced"),
    Column("Daemon", "daemon"),
)


@command(
    "backup", examples=("compozy backup ~/compozy.backup", "compozy backup ~/compozy.backup --with-secrets --force")
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--with-secrets", is_flag=True, help="The vault and its key too: keep such a file like a password.")
@click.option("--force", is_flag=True, help="Replace FILE when it exists.")
@pass_invocation
def backup(invocation: Invocation, file: Path, with_secrets: bool, force: bool) -> None:
    """Write sessions, settings, agents, skills and trust to one file. The daemon goes on working."""
    from compozy.daemon.backups import make_backup  # noqa: PLC0415 - start-up cost

    refuse_agents("backup")
    with StatusLine(enabled=invocation.has_live_notes, tells=invocation.is_human, activity="copying").moving():
        report = make_backup(invocation.home, _whole(file), with_secrets=with_secrets, overwrite=force)
    if report.skipped:
        note(invocation, f"left out, because they are links or cannot be read: {', '.join(report.skipped)}")
    print_object(invocation, _plain(report), _BACKUP_FIELDS, name="backup")


@command("restore", examples=("compozy restore ~/compozy.backup", "compozy restore ~/compozy.backup --yes"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Check the backup and say what it would replace; change nothing.")
@pass_invocation
def restore(invocation: Invocation, file: Path, yes: bool, dry_run: bool) -> None:
    """Put a backup in the place of what this home holds. Running sessions are stopped; the old state is kept."""
    from compozy.daemon import backups  # noqa: PLC0415 - start-up cost

    refuse_agents("restore")
    with backups.alone(invocation.home):
        with StatusLine(
            enabled=invocation.has_live_notes, tells=invocation.is_human, activity="checking the backup"
        ).moving():
            staged = backups.stage(invocation.home, _whole(file))
        try:
            for line in _what_happens(staged):
                note(invocation, line)
            if dry_run:
                answer = _plain(staged)
                del answer["manifest"]
                print_object(invocation, answer, (), name="restore")
                return
            confirm(invocation, "Restore it?", yes)
            with StatusLine(
                enabled=invocation.has_live_notes, tells=invocation.is_human, activity="restoring"
            ).moving():
                restored = backups.restore(invocation.home, staged)
        finally:
            backups.discard(invocation.home)
    answer = {
        "path": staged.path,
        "sessions": staged.manifest.sessions,
        "events": staged.manifest.events,
        "created_at": staged.manifest.created_at,
        "replaced": str(restored.replaced),
        "daemon": "started again" if restored.restarted else "not running",
    }
    print_object(invocation, answer, _RESTORE_FIELDS, name="restore")


def _what_happens(staged: "Staged") -> list[str]:
    made = staged.manifest
    now = staged.now
    held = "a store that cannot be read" if now is None else _holds(now.sessions, now.events)
    return [
        f"backup of {made.created_at[:19].replace('T', ' ')}, compozy {made.version}: "
        f"{_holds(made.sessions, made.events)}",
        f"it replaces: {', '.join(staged.replaces) or 'nothing'}"
        + (f" ({held})" if "compozy.db" in staged.replaces else ""),
        "what is there now is kept in the home below replaced/; running sessions are stopped",
    ]


def _holds(sessions: int, events: int) -> str:
    return f"{count(sessions, 'session')}, {count(events, 'event')}"


def _whole(file: Path) -> Path:
    return Path(os.path.abspath(file.expanduser()))


def _plain(record: object) -> JsonObject:
    return msgspec.convert(msgspec.to_builtins(record), JsonObject)


def _number(row: Mapping[str, object], key: str) -> int:
    value = row.get(key)
    return value if isinstance(value, int) else 0
