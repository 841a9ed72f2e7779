"""One daemon for one home: an advisory lock on daemon.lock that the kernel drops with the process (contract §1.1).

The file holds ``<pid>\\n`` while the lock is held and ``0`` after a clean release. The text is for people; only the
lock itself decides.
"""

import contextlib
import fcntl
import os
from pathlib import Path

from compozy.config.errors import HomeError
from compozy.model.errors import EXIT_GENERIC, LocalError


class AlreadyRunning(LocalError):
    """Another process holds the lock of this home."""

    default_code = "daemon_already_running"

    def __init__(self, pid: int) -> None:
        super().__init__(f"daemon: already running with pid {pid}", exit_code=EXIT_GENERIC)
        self.pid = pid


class DaemonLock:
    """The held lock; `release` must be called once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = -1

    def acquire(self) -> None:
        """Take the lock without waiting.

        Raises:
            AlreadyRunning: somebody holds it.
            HomeError: the file cannot be opened.
        """
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(self._path, flags, 0o600)
        except OSError as error:
            raise HomeError(f"cannot open {str(self._path)!r}: {error.strerror}; check its owner and mode") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            pid = _read_pid(handle)
            os.close(handle)
            raise AlreadyRunning(pid) from error
        self._handle = handle
        self._write(f"{os.getpid()}\n")

    def release(self) -> None:
        """Say that nobody holds it, and let go."""
        if self._handle >= 0:
            self._write("0")
            os.close(self._handle)
            self._handle = -1

    def _write(self, text: str) -> None:
        # For people only: a full disk must neither refuse the lock nor hide why a daemon ends.
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, text.encode("ascii"), 0)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of this file now."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared, so that two observers never take each other for a daemon.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _read_pid(handle: int) -> int:
    text = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else 0
