"""One run that changes a published folder: alone in it, and finished by the next run when it was killed (issue 8).

Every file is old or new by itself; a folder of many cannot be. So what a run is about to write is noted down first,
and the note goes last: whoever finds one knows that the folder is half old and half new, and the next run removes
what the killed one left, its temporary files included. Knows nothing of manifests.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from compozy.documents.atomic import TEMPORARY_PREFIX, write_atomically
from compozy.documents.files import read_regular
from compozy.documents.locks import wait_for_lock
from compozy.ocm.index import PublishError

NOTE_NAME = ".compozy-publishing.json"
# A run takes seconds; one that is stopped in a debugger must not stop everybody.
_PATIENCE = 60.0
_MOST_NOTE = 64 << 20


@contextlib.contextmanager
def alone_in(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Be the only run in a folder; `shared` keeps only those out that change it.

    Raises:
        PublishError: another run does not end.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(handle, folder, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path, kind: int) -> None:
    try:
        held = wait_for_lock(handle, time.monotonic() + _PATIENCE, kind)
    except OSError:
        # A file system without locks: then nobody can be waited for.
        return
    if not held:
        raise PublishError(
            f"another run has been publishing to {str(folder)!r} for {_PATIENCE:.0f} s; end it, or try again"
        )


def was_interrupted(folder: Path) -> bool:
    """Whether the last run did not come to its end."""
    return os.path.lexists(folder / NOTE_NAME)


def begin(folder: Path, paths: Iterable[str]) -> list[str]:
    """Note what a run is about to write or remove; return what a killed run noted, together with that."""
    noted = list(dict.fromkeys((*paths, *_noted(folder))))
    write_atomically(folder / NOTE_NAME, json.dumps({"paths": noted}).encode(), mode=0o644)
    return noted


def finish(folder: Path, paths: Iterable[str]) -> None:
    """End a run: temporary files that killed ones left beside these paths go, and then the note."""
    parents = {folder, *(folder / path.rpartition("/")[0] for path in paths)}
    for parent in sorted(parents):
        if parent.is_dir() and not parent.is_symlink():
            for left in parent.glob(TEMPORARY_PREFIX + "*"):
                with contextlib.suppress(OSError):
                    left.unlink()
    with contextlib.suppress(FileNotFoundError):
        (folder / NOTE_NAME).unlink()


def _noted(folder: Path) -> list[str]:
    try:
        found = json.loads(read_regular(folder / NOTE_NAME, _MOST_NOTE))["paths"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
