"""Where backups are being written, so that what a killed one left beside its target can be found again.

While a backup is made, a note in `cache/backups` of the home names the folder of its target. Notes are an aid:
without them (a home that cannot be written, a cache that was removed) backups work all the same. What lies in a
backup is not known here (issue 6).
"""

import contextlib
import os
import re
import shlex
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from compozy.config.findings import Finding, finding
from compozy.config.home import Home
from compozy.documents.atomic import write_atomically
from compozy.documents.files import read_regular
from compozy.documents.locks import wait_for_lock

# Names that nobody else gives, because a sweep removes what has them.
_DRAFT_END, _COPY_END = "compozy-part", "compozy-db"
_DRAFT_NAME = re.compile(rf"\..+\.([0-9a-f]{{16}})\.{_DRAFT_END}", re.DOTALL)
_MARK = re.compile(r"[0-9a-f]{16}")
_SIDECARS = ("-wal", "-shm", "-journal")
# A backup that was begun a moment ago may not have its lock yet.
_YOUNG_SECONDS = 60.0
_MOST_NOTES, _MOST_BYTES = 100, 8_192


def draft_paths(target: Path, mark: str) -> tuple[Path, Path]:
    """Return the draft of a backup and the copy of the store beside it, while it is made."""
    draft, copy = (target.with_name(f".{target.name}.{mark}.{end}") for end in (_DRAFT_END, _COPY_END))
    return draft, copy


def parts_of(draft: Path) -> tuple[Path, ...]:
    """Return what may lie there of one backup; the draft last: what is without one was left behind."""
    copy = draft.with_name(draft.name.removesuffix(_DRAFT_END) + _COPY_END)
    return (copy, *(copy.with_name(copy.name + end) for end in _SIDECARS), draft)


@contextlib.contextmanager
def noted(home: Home, target: Path, mark: str) -> Iterator[None]:
    """Keep a note of a backup while it is made; notes of earlier ones whose drafts are gone are removed."""
    notes = home.root / "cache" / "backups"
    with contextlib.suppress(OSError):
        notes.parent.mkdir(mode=0o700, exist_ok=True)
        notes.mkdir(mode=0o700, exist_ok=True)
        for note, folder in _read_notes(home):
            # A disk that is not there now may come back.
            if folder.is_dir() and not _draft_of(folder, note.name):
                note.unlink(missing_ok=True)
        write_atomically(notes / mark, os.fsencode(target.parent))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            (notes / mark).unlink(missing_ok=True)


def killed_drafts(folder: Path) -> Iterator[Path]:
    """Yield the drafts in a folder that nobody works on any more; each is locked until the next is asked for."""
    for path in folder.glob(f".*.{_DRAFT_END}"):
        if not _DRAFT_NAME.fullmatch(path.name):
            continue
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            # Somebody else's, or just gone.
            continue
        try:
            found = os.fstat(handle)
            is_old = time.time() - found.st_mtime > _YOUNG_SECONDS
            if stat.S_ISREG(found.st_mode) and is_old and lock_draft(handle):
                yield path
        finally:
            os.close(handle)


def lock_draft(handle: int) -> bool:
    """Take the kernel's lock on a draft, if nobody has it; it ends with the process that took it."""
    try:
        return wait_for_lock(handle, 0.0)
    except OSError:
        return False


def backup_findings(home: Home) -> Iterator[Finding]:
    """Name what backups of this home that were killed left behind."""
    marks: dict[Path, set[str]] = {}
    for note, folder in _read_notes(home):
        marks.setdefault(folder, set()).add(note.name)
    left: list[Path] = []
    for folder, known in marks.items():
        with contextlib.suppress(OSError):
            drafts = [path for path in killed_drafts(folder) if _mark_of(path) in known]
            left += (part for draft in drafts for part in parts_of(draft) if os.path.lexists(part))
    if left:
        size = sum(path.lstat().st_size for path in left if os.path.lexists(path))
        folders = ", ".join(sorted({repr(str(path.parent)) for path in left}))
        text = (
            f"backups that were killed left {max(size >> 20, 1)} MiB, with your sessions in it, in {folders}; "
            "remove it, or back up into that folder again"
        )
        command = "rm -f " + " ".join(shlex.quote(str(path)) for path in left)
        evidence: dict[str, object] = {"paths": [str(path) for path in left], "bytes": size}
        yield finding("backup", "backup_left", "warn", text, command=command, evidence=evidence)


def _read_notes(home: Home) -> Iterator[tuple[Path, Path]]:
    """Yield each note with the folder it names."""
    try:
        notes = sorted((home.root / "cache" / "backups").iterdir())[:_MOST_NOTES]
    except OSError:
        return
    for note in notes:
        if _MARK.fullmatch(note.name):
            with contextlib.suppress(OSError, ValueError):
                folder = Path(os.fsdecode(read_regular(note, _MOST_BYTES)))
                if folder.is_absolute():
                    yield note, folder


def _draft_of(folder: Path, mark: str) -> bool:
    return any(_mark_of(path) == mark for path in folder.glob(f".*.{mark}.{_DRAFT_END}"))


def _mark_of(draft: Path) -> str:
    found = _DRAFT_NAME.fullmatch(draft.name)
    return found[1] if found else ""
