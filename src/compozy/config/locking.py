"""A lock across processes for one file of the home, held while it is read and written anew.

The kernel's lock on a file beside it: it ends with the process that holds it, so a killed writer leaves nothing
behind. Waiting is bounded. Knows nothing of what the file holds.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compozy.documents.locks import wait_for_lock

# A writer holds the lock for milliseconds; who waits this long waits for something that hangs.
LOCK_SECONDS = 10.0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file at `path`, which is created when needed.

    Raises:
        TimeoutError: another process holds it for too long.
        OSError: it cannot be opened.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if not wait_for_lock(handle, time.monotonic() + LOCK_SECONDS):
            raise TimeoutError(f"{str(path)!r} is held by another process; try again")
        yield
    finally:
        os.close(handle)
