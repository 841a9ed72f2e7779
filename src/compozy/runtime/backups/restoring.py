"""Putting a backup back, old-or-new: checked beside the home first, then swapped in while no daemon runs.

`stage` unpacks and judges everything without touching what is in use. `commit` decides the swap;
`finish` does it, and does the rest of one that was interrupted: the daemon calls it before it reads anything.
What was there is moved to ``replaced/`` in the home and kept there.
"""

import fcntl
import hashlib
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from compozy.config.home import Home
from compozy.documents.atomic import write_atomically
from compozy.model import times
from compozy.model.errors import CompozyError, Conflict, NotFound, Unavailable, Unprocessable
from compozy.model.record import Record
from compozy.runtime.backups.parts import MANIFEST, SCHEMA, STORE, Manifest, belongs
from compozy.store.copying import StoreFacts, describe_store, judge_copy
from compozy.store.interface import ForeignStore

_FOLDER, _STAGED, _PLAN = "restore", "staged", "plan.json"
_REPLACED = "replaced"
_BLOCK = 1 << 20
# The list of a backup of a hundred thousand files.
_MOST_MANIFEST = 64 << 20
_SIDECARS = ("-wal", "-shm")


class Staged(Record, frozen=True, kw_only=True):
    """A backup that is ready to be put in place, and what it would replace."""

    path: str
    manifest: Manifest
    replaces: tuple[str, ...]
    """Parts of the home that are there now."""
    now: StoreFacts | None = None
    """What the home's store holds now, None when there is none that can be read."""


class Plan(Record, frozen=True, kw_only=True):
    """A swap that was decided; as long as its file is there, it is not finished."""

    parts: tuple[str, ...]
    brings: tuple[str, ...]
    """Those of the parts that the backup holds something of; of the others there was nothing."""
    replaced: str
    created_at: str


@contextmanager
def alone(home: Home) -> Iterator[None]:
    """Keep every other restore away from this home: what one staged, another must neither remove nor put in place.

    The kernel's lock on the home's folder; it ends with the process, and leaves nothing behind.

    Raises:
        Conflict: another restore is at work, or waits for an answer.
        Unavailable: the home cannot be made.
    """
    try:
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(home.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise Unavailable(
            f"the home {str(home.root)!r} cannot be used: {reason}; check its owner and mode"
        ) from problem
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                f"another restore works on the home {str(home.root)!r}, or waits for an answer: let it end, then try "
                "again",
                code="restore_running",
            ) from None
        yield
    finally:
        os.close(handle)


def stage(home: Home, source: Path) -> Staged:
    """Unpack a backup beside the home's own files and judge it; nothing in use is changed.

    Raises:
        NotFound, Unprocessable: there is no such backup, or it is damaged, foreign or newer.
        Conflict: an earlier restore waits for the daemon's next start.
        Unavailable: there is no room for it.
    """
    folder = home.root / _FOLDER
    if (folder / _PLAN).exists():
        raise Conflict("a restore is not finished: start the daemon, which finishes it", code="restore_pending")
    staged = folder / _STAGED
    discard(home)
    try:
        staged.mkdir(mode=0o700, parents=True)
        manifest = _check(source, staged, _unpack(source, staged))
        judge_copy(staged / STORE)
    except ForeignStore as problem:
        discard(home)
        raise Unprocessable(
            f"the backup {str(source)!r} cannot be used: {problem}", code="backup_foreign"
        ) from problem
    except CompozyError:
        discard(home)
        raise
    except OSError as problem:
        discard(home)
        reason = (problem.strerror or str(problem)).lower()
        raise Unavailable(f"the backup cannot be unpacked into {str(staged)!r}: {reason}") from problem
    return Staged(
        path=str(source),
        manifest=manifest,
        replaces=tuple(part for part in manifest.parts if os.path.lexists(home.root / part)),
        now=describe_store(home.database),
    )


def discard(home: Home) -> None:
    """Remove what was staged and not decided."""
    if not (home.root / _FOLDER / _PLAN).exists():
        shutil.rmtree(home.root / _FOLDER, ignore_errors=True)


def commit(home: Home, staged: Staged) -> Path:
    """Decide the swap, durably; return the folder that will keep what is there now.

    Raises:
        Conflict: what was staged is gone; a swap would leave an empty home.
    """
    stamp = times.now()[:23].replace(":", "").replace(".", "-")
    unpacked = home.root / _FOLDER / _STAGED
    if not (unpacked / STORE).is_file():
        raise Conflict(
            f"what was unpacked into {str(unpacked)!r} is gone: nothing was changed; run the restore again",
            code="restore_lost",
        )
    plan = Plan(
        parts=staged.manifest.parts,
        brings=tuple(part for part in staged.manifest.parts if os.path.lexists(unpacked / part)),
        replaced=f"{_REPLACED}/{stamp}",
        created_at=times.now(),
    )
    _sync_tree(unpacked)
    write_atomically(Path(os.path.realpath(home.root / _FOLDER)) / _PLAN, msgspec.json.encode(plan))
    return home.root / plan.replaced


def finish(home: Home) -> Path | None:
    """Do the swap that was decided, or the rest of it; return where the old files are, None when nothing was to do.

    The caller holds the daemon's lock. Each step can be done again after a crash.

    Raises:
        OSError: a file cannot be moved; the next start tries again.
    """
    folder = home.root / _FOLDER
    try:
        plan = msgspec.json.decode((folder / _PLAN).read_bytes(), type=Plan)
    except FileNotFoundError:
        return None
    old = home.root / plan.replaced
    old.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The store last: as long as it is the old one, nothing of the new state is in use.
    for part in sorted(plan.parts, key=lambda name: name == STORE):
        if part not in plan.brings or os.path.lexists(folder / _STAGED / part):
            _swap(home.root, folder / _STAGED, old, part)
    for place in (old, home.root):
        _sync(place)
    (folder / _PLAN).unlink()
    _sync(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return old


def _swap(root: Path, staged: Path, old: Path, part: str) -> None:
    for name in (part, *(part + end for end in _SIDECARS if part == STORE)):
        if os.path.lexists(root / name) and not os.path.lexists(old / name):
            (root / name).rename(old / name)
    if os.path.lexists(staged / part):
        (staged / part).rename(root / part)
    _sync(root)


def _unpack(source: Path, staged: Path) -> dict[str, str]:
    """Unpack every file of the archive; return their digests."""
    digests: dict[str, str] = {}
    try:
        with tarfile.open(source, mode="r|gz") as archive:
            for member in archive:
                if not member.isreg() or not (member.name == MANIFEST or belongs(member.name)):
                    raise _unusable(source, f"it holds {member.name!r}, which no backup holds")
                if member.name in digests:
                    raise _unusable(source, f"it holds {member.name!r} twice")
                digests[member.name] = _unpack_one(archive, member, staged / member.name)
    except FileNotFoundError as problem:
        if problem.filename == str(source) or not source.exists():
            raise NotFound(
                f"{str(source)!r} does not exist; name a file that `compozy backup FILE` wrote", code="backup_missing"
            ) from problem
        raise
    except IsADirectoryError as problem:
        raise _unusable(source, "it is a folder") from problem
    except (tarfile.TarError, EOFError, zlib.error) as problem:
        raise _unusable(source, f"it is cut off or no backup ({problem})") from problem
    except OSError as problem:
        if problem.errno is None:
            raise _unusable(source, f"it is no backup ({problem})") from problem
        raise
    return digests


def _unpack_one(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> str:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = archive.extractfile(member)
    assert content is not None, "a regular file has content"
    digest = hashlib.sha256()
    mode = (member.mode & 0o700) | 0o600
    handle = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(handle, "wb") as file:
        while block := content.read(_BLOCK):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _check(source: Path, staged: Path, digests: dict[str, str]) -> Manifest:
    """Return the list of the backup, after comparing everything with it."""
    if MANIFEST not in digests:
        raise _unusable(source, "it is cut off: its list of files is missing")
    path = staged / MANIFEST
    if path.stat().st_size > _MOST_MANIFEST:
        raise _unusable(source, "its list of files is too long")
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except msgspec.MsgspecError as problem:
        raise _unusable(source, f"its list of files cannot be read ({problem})") from problem
    path.unlink()
    if manifest.schema != SCHEMA:
        raise _unusable(
            source, f"it has the form {manifest.schema!r}, this release knows {SCHEMA!r}; upgrade compozy"
        )
    listed = {file.path: file.sha256 for file in manifest.files}
    del digests[MANIFEST]
    for name in {*listed, *digests}:
        if listed.get(name) != digests.get(name):
            raise _unusable(source, f"{name!r} in it is not what it was when the backup was made")
    if STORE not in listed or not all(belongs(part) for part in manifest.parts):
        raise _unusable(source, "it does not hold a store")
    return manifest


def _unusable(source: Path, why: str) -> Unprocessable:
    return Unprocessable(f"the backup {str(source)!r} cannot be used: {why}", code="backup_unusable")


def _sync_tree(folder: Path) -> None:
    for place, _, names in os.walk(folder):
        for name in names:
            _sync(Path(place) / name)
        _sync(Path(place))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
