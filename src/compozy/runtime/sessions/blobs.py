"""Files that belong to one session beside the store: attachments, results of tools, what its agent program keeps.

Blocking: call it in a thread. Contract §1.1. Links are removed, never followed.
"""

import logging
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from compozy.documents.atomic import TEMPORARY_PREFIX
from compozy.model.session import Session

log = logging.getLogger(__name__)
_PREFIX = "sess-"
# Far longer than any upload may take (`daemon/body_limit.py`).
_UPLOAD_SECONDS = 3600.0
# Places with a folder per session, directly or in a folder per workspace (contract §1.1).
_PLACES = ("session-attachments", "tool-artifacts", "sessions")


def remove_blobs(home: Path, session: Session) -> None:
    """Remove everything of a session that lies beside the store."""
    for place in _PLACES:
        for folder in (home / place / session.id, home / place / session.workspace_id / session.id):
            remove_folder(folder)


def orphaned_folders(home: Path) -> list[tuple[str, Path]]:
    """Return the session id and path of every folder that belongs to a session."""
    found: list[tuple[str, Path]] = []
    for place in _PLACES:
        for folder in _folders(home / place):
            if folder.name.startswith(_PREFIX):
                found.append((folder.name, folder))
            else:
                found.extend((inner.name, inner) for inner in _folders(folder) if inner.name.startswith(_PREFIX))
    return found


def remove_broken_uploads(home: Path) -> int:
    """Remove what uploads left that a killed daemon broke off, and return how many files went.

    Bytes without facts count for nobody, but would fill the session's room. Young ones may be in the making.
    """
    oldest, count = time.time() - _UPLOAD_SECONDS, 0
    for _, folder in orphaned_folders(home):
        if folder.parent.parent != home / "session-attachments":
            continue
        for path in sorted(folder.iterdir()):
            is_whole = path.suffix == ".json" or path.with_name(f"{path.name}.json").exists()
            if (path.name.startswith(TEMPORARY_PREFIX) or not is_whole) and path.lstat().st_mtime < oldest:
                path.unlink(missing_ok=True)
                count += 1
    return count


def _folders(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return


def remove_folder(folder: Path) -> None:
    """Remove a folder with all it holds; what cannot be removed is left to the next run and named in the log."""
    if folder.is_symlink():
        folder.unlink(missing_ok=True)
    elif folder.is_dir():
        shutil.rmtree(folder, onerror=_tell)


def _tell(_: object, path: str, why: object) -> None:
    log.warning("a file of a removed session stays", extra={"path": path, "why": str(why)})
