"""Waiting for the kernel's lock on an open file, for a bounded time. It ends with the process that holds it."""

import fcntl
import time

# Whoever holds such a lock writes a file or two: it is free again within milliseconds.
_POLL_SECONDS = 0.005


def wait_for_lock(handle: int, deadline: float, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the lock on an open file; say whether it could be had by `deadline` (of `time.monotonic`).

    Raises:
        OSError: the file system has no locks.
    """
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True
