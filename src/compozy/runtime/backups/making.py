"""Making a backup: a gzipped tar of the store at one moment and of the files of the home, old-or-new at its place.

Works beside a running daemon and without one. Links are not followed. Nothing is left behind when it fails; what one
that was killed left is removed by the next that writes into the same folder.
"""

import contextlib
import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from compozy import __version__
from compozy.config.backup_notes import draft_paths, killed_drafts, lock_draft, noted, parts_of
from compozy.config.home import Home
from compozy.model import times
from compozy.model.backup import BackupReport
from compozy.model.errors import Conflict, InvalidRequest, NotFound, Unavailable
from compozy.runtime.backups.parts import (
    MANIFEST,
    PARTS,
    SCHEMA,
    SECRET_PARTS,
    STORE,
    BackupFile,
    Manifest,
)
from compozy.store.copying import StoreFacts, copy_store

# Events are JSON: the fastest level already makes a fifth of them.
_LEVEL = 1
_BLOCK = 1 << 20
# While it is written, the name has a mark of its own around it. Linux: 255 bytes a name, 4,096 a path.
_LONGEST_NAME, _LONGEST_PATH = 200, 3_500


def make_backup(home: Home, target: Path, *, with_secrets: bool = False, overwrite: bool = False) -> BackupReport:
    """Write a backup of the home to `target`.

    Args:
        target: an absolute path; its folder must exist.
        with_secrets: the vault and its key too.
        overwrite: replace what lies at `target`.

    Raises:
        InvalidRequest, NotFound, Conflict: the target cannot be used.
        StoreUnavailable: the store cannot be copied.
        Unavailable: the file cannot be written.
    """
    _check_target(home, target, overwrite)
    mark = os.urandom(8).hex()
    draft, copy = draft_paths(target, mark)
    try:
        _sweep(target.parent)
        if not home.database.exists():
            raise NotFound(
                f"{str(home.database)!r} does not exist: there is nothing to back up", code="store_missing"
            )
        with noted(home, target, mark):
            handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as raw:
                # As long as it is held, somebody works on this draft and its copy.
                lock_draft(handle)
                facts = copy_store(home.database, copy)
                parts = (*PARTS, *SECRET_PARTS) if with_secrets else PARTS
                manifest = _write(home, raw, copy, facts, parts)
                if overwrite:
                    draft.replace(target)
                else:
                    os.link(draft, target)
            _sync(target.parent)
    except FileExistsError as problem:
        raise _exists(target) from problem
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise Unavailable(
            f"the backup {str(target)!r} cannot be written: {reason}; check the folder and its free space",
            code="backup_failed",
        ) from problem
    finally:
        _remove(draft)
    return BackupReport(
        path=str(target),
        bytes=target.stat().st_size,
        created_at=manifest.created_at,
        sessions=manifest.sessions,
        events=manifest.events,
        files=len(manifest.files),
        parts=manifest.parts,
        skipped=manifest.skipped,
    )


def _remove(draft: Path) -> None:
    for path in parts_of(draft):
        path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what backups that were killed left in a folder."""
    for draft in killed_drafts(folder):
        with contextlib.suppress(OSError):
            _remove(draft)


def _check_target(home: Home, target: Path, overwrite: bool) -> None:
    if not target.is_absolute() or "\0" in str(target):
        raise InvalidRequest(f"path {str(target)!r} is not absolute; give the whole path of the file to write")
    try:
        lengths = [len(part.encode("utf-8")) for part in (str(target), *target.parts)]
    except UnicodeEncodeError as problem:
        raise InvalidRequest(f"path {str(target)!r} is not UTF-8; name another") from problem
    if lengths[0] > _LONGEST_PATH or max(lengths[1:]) > _LONGEST_NAME:
        raise InvalidRequest(f"path {str(target)[:40]!r}… is too long: a name has {_LONGEST_NAME} bytes at most")
    if not target.parent.is_dir():
        raise NotFound(f"{str(target.parent)!r} is not a folder; make it first", code="folder_missing")
    # Nothing of the home may be a target: its log, lock and the store's own files are in use now.
    if Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(home.root)):
        raise InvalidRequest(
            f"{str(target)!r} lies in the home that is backed up; choose a place outside of {str(home.root)!r}"
        )
    if target.is_dir():
        raise Conflict(f"{str(target)!r} is a folder; give the name of a file in it", code="backup_exists")
    if os.path.lexists(target) and not (overwrite and (target.is_file() or target.is_symlink())):
        raise _exists(target)


def _exists(target: Path) -> Conflict:
    return Conflict(f"{str(target)!r} exists already; choose another name or add --force", code="backup_exists")


def _write(home: Home, raw: BinaryIO, copy: Path, facts: StoreFacts, parts: tuple[str, ...]) -> Manifest:
    files: list[BackupFile] = []
    skipped: list[str] = []
    with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=_LEVEL, format=tarfile.PAX_FORMAT) as archive:
        files.append(_add_store(archive, copy))
        for part in parts:
            for path in _files_below(home.root / part):
                name = path.relative_to(home.root).as_posix()
                added = _add_file(archive, path, name)
                if added is None:
                    skipped.append(name)
                else:
                    files.append(added)
        manifest = Manifest(
            schema=SCHEMA,
            created_at=times.now(),
            version=__version__,
            layout=facts.layout,
            sessions=facts.sessions,
            events=facts.events,
            parts=(STORE, *parts),
            files=tuple(files),
            skipped=tuple(skipped),
        )
        _add(archive, MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1), 0o600)
    raw.flush()
    os.fsync(raw.fileno())
    return manifest


def _files_below(path: Path) -> Iterator[Path]:
    """Yield what is no folder, in a stable order; folders that are links are yielded, not entered."""
    if path.is_symlink() or not path.is_dir():
        if os.path.lexists(path):
            yield path
        return
    try:
        children = sorted(path.iterdir())
    except OSError:
        yield path
        return
    for child in children:
        yield from _files_below(child)


def _add_store(archive: tarfile.TarFile, copy: Path) -> BackupFile:
    digest = hashlib.sha256()
    with copy.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
        size = file.tell()
        file.seek(0)
        archive.addfile(_head(STORE, size, 0o600), file)
    return BackupFile(path=STORE, bytes=size, sha256=digest.hexdigest())


def _add_file(archive: tarfile.TarFile, path: Path, name: str) -> BackupFile | None:
    """Add a regular file; return None for what is none, or went or cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            return None
        data = file.read()
    return _add(archive, name, data, stat.S_IMODE(mode) & 0o700)


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int) -> BackupFile:
    archive.addfile(_head(name, len(data), mode), io.BytesIO(data))
    return BackupFile(path=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())


def _head(name: str, size: int, mode: int) -> tarfile.TarInfo:
    head = tarfile.TarInfo(name)
    head.size, head.mode = size, mode
    return head


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
