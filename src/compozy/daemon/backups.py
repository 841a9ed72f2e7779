"""Backup and restore of a home from the command line, with or without a running daemon.

A backup needs nobody: it reads a snapshot. A restore is checked first, then the daemon is stopped, the files are
swapped under its lock, and it is started again. Contract: none; issue 6, durability.
"""

from dataclasses import dataclass
from pathlib import Path

from compozy.config.home import Home
from compozy.daemon import control
from compozy.daemon.lock import DaemonLock
from compozy.model.backup import BackupReport
from compozy.runtime.backups.making import make_backup
from compozy.runtime.backups.restoring import Staged, alone, commit, discard, finish, stage

__all__ = ["BackupReport", "Restored", "Staged", "alone", "discard", "make_backup", "restore", "stage"]


@dataclass(frozen=True, kw_only=True)
class Restored:
    """What a restore did; `replaced` is where the old files are now."""

    replaced: Path
    restarted: bool


def restore(home: Home, staged: Staged) -> Restored:
    """Put a staged backup in place; the daemon is stopped for it and started again when it ran.

    Raises:
        LocalError: the daemon cannot be stopped (then nothing has changed) or not be started again.
    """
    is_running = control.is_running(home)
    try:
        if is_running:
            control.stop(home)
        lock = DaemonLock(home.lock_file)
        lock.acquire()
    except BaseException:
        discard(home)
        raise
    try:
        replaced = commit(home, staged)
        finish(home)
    finally:
        lock.release()
    if is_running:
        control.start_detached(home, if_running="use")
    return Restored(replaced=replaced, restarted=is_running)
