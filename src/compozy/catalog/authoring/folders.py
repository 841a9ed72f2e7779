"""Whole folders by open handles: making, copying, staging, exchanging and removing them (formats §13).

No link is ever followed: every step is taken relative to an open handle. What a folder holds is not looked at.
"""

import ctypes
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from compozy.documents.atomic import TEMPORARY_PREFIX
from compozy.documents.files import FileProblem, open_child_folder, open_folder
from compozy.model.errors import InvalidRequest

FOLDER_MODE = 0o700
# Deeper trees are an accident; the bound keeps the walk within the interpreter's stack.
MAX_DEPTH = 64
_COPY_BYTES = 1 << 20
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_AT_EXCHANGE = 2
_MAC_SWAP = 2


def ensure_folder(path: Path) -> None:
    """Make a folder and what is missing above it, 0700; existing folders keep their mode.

    Raises:
        InvalidRequest: a component is a link or no folder.
        OSError: the system refuses.
    """
    parts = Path(os.path.abspath(path)).parts
    handle = os.open(parts[0], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for index, part in enumerate(parts[1:], 2):
            step = _open_or_make(handle, part, str(Path(*parts[:index])))
            os.close(handle)
            handle = step
    finally:
        os.close(handle)


def _open_or_make(parent: int, name: str, shown: str) -> int:
    try:
        try:
            return open_child_folder(parent, name, "agents directory", shown)
        except FileProblem as problem:
            if problem.code != "not-found":
                raise
        with suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=parent)
            os.fsync(parent)
        return open_child_folder(parent, name, "agents directory", shown)
    except FileProblem as problem:
        raise InvalidRequest(problem.message, code=problem.code) from problem


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Hold an open folder.

    Raises:
        InvalidRequest: it is missing, a link or no folder.
    """
    try:
        handle = open_folder(path, "open agent directory")
    except FileProblem as problem:
        raise InvalidRequest(problem.message, code=problem.code) from problem
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def staging(root: int) -> Iterator[int]:
    """Hold a fresh folder inside an agents folder, one level too deep to be read as an agent.

    The caller holds the lock of the agents folder, so whatever staging lies there already belongs to a writer that
    was killed: it is removed. The folder goes away at the end with what is still in it.
    """
    sweep(root)
    name = TEMPORARY_PREFIX + os.urandom(16).hex()
    os.mkdir(name, FOLDER_MODE, dir_fd=root)
    try:
        handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=root)
        try:
            yield handle
        finally:
            os.close(handle)
    finally:
        shutil.rmtree(name, ignore_errors=True, dir_fd=root)


def sweep(folder: int) -> None:
    """Remove what killed writers left in a folder whose lock the caller holds."""
    for name in os.listdir(folder):
        if not name.startswith(TEMPORARY_PREFIX):
            continue
        with suppress(OSError):
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                shutil.rmtree(name, ignore_errors=True, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)


def copy_tree(source: int, target: int, shown: str, *, skip: frozenset[str] = frozenset(), depth: int = 0) -> None:
    """Copy the entries of one open folder into another: regular files with their modes, folders 0700.

    Raises:
        InvalidRequest: the source holds a link, a special file, or is nested too deep.
    """
    if depth > MAX_DEPTH:
        raise InvalidRequest(f"{shown!r} is nested deeper than {MAX_DEPTH} folders; flatten it first")
    for name in sorted(os.listdir(source), key=os.fsencode):
        if name.startswith(TEMPORARY_PREFIX) or name in skip:
            continue
        mode = os.stat(name, dir_fd=source, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            _copy_folder(source, target, name, f"{shown}/{name}", depth)
        elif stat.S_ISREG(mode):
            _copy_file(source, target, name)
        else:
            kind = "a symlink" if stat.S_ISLNK(mode) else "a special file"
            raise InvalidRequest(
                f"{f'{shown}/{name}'!r} is {kind}, which is not copied; remove it from the source first",
                code="special_file",
            )
    os.fsync(target)


def _copy_folder(source: int, target: int, name: str, shown: str, depth: int) -> None:
    os.mkdir(name, FOLDER_MODE, dir_fd=target)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    inner_source = os.open(name, flags, dir_fd=source)
    try:
        inner_target = os.open(name, flags, dir_fd=target)
        try:
            copy_tree(inner_source, inner_target, shown, depth=depth + 1)
        finally:
            os.close(inner_target)
    finally:
        os.close(inner_source)


def _copy_file(source: int, target: int, name: str) -> None:
    reading = os.open(name, _READ_FLAGS, dir_fd=source)
    try:
        state = os.fstat(reading)
        if not stat.S_ISREG(state.st_mode):
            raise InvalidRequest(f"{name!r} changed into a special file while it was copied; try again")
        writing = os.open(name, _WRITE_FLAGS, 0o600, dir_fd=target)
        try:
            while chunk := os.read(reading, _COPY_BYTES):
                write_all(writing, chunk)
            os.fchmod(writing, state.st_mode & 0o777)
            os.fsync(writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def write_all(handle: int, data: bytes) -> None:
    """Write every byte."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def carry_over(source: int, target: int, paths: Sequence[str]) -> None:
    """Give files of one open folder a second name in another, without copying them; folders on the way are made."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    for path in paths:
        *folders, name = path.split("/")
        old, new = os.dup(source), os.dup(target)
        try:
            for folder in folders:
                with suppress(FileExistsError):
                    os.mkdir(folder, FOLDER_MODE, dir_fd=new)
                for handle in (old, new):
                    # The step replaces the handle under its own number, so that closing stays simple.
                    step = os.open(folder, flags, dir_fd=handle)
                    os.dup2(step, handle, inheritable=False)
                    os.close(step)
            with suppress(FileExistsError):
                os.link(name, name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
        finally:
            os.close(old)
            os.close(new)


def put_in_place(staged: int, new: str, root: int, name: str) -> None:
    """Give `name` below `root` the content staged as `new`; what was there lies in the staging folder afterwards.

    One step for every reader where the system can exchange two names; else the name is gone for a moment.
    """
    try:
        os.stat(name, dir_fd=root, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(new, name, src_dir_fd=staged, dst_dir_fd=root)
    else:
        if not _exchange(staged, new, root, name):
            os.rename(name, new + ".old", src_dir_fd=root, dst_dir_fd=staged)
            os.rename(new, name, src_dir_fd=staged, dst_dir_fd=root)
    os.fsync(root)


def _exchange(left: int, left_name: str, right: int, right_name: str) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    mac = sys.platform == "darwin"
    call = getattr(library, "renameatx_np" if mac else "renameat2", None)
    if call is None:
        return False
    flag = ctypes.c_uint(_MAC_SWAP if mac else _AT_EXCHANGE)
    done: int = call(left, os.fsencode(left_name), right, os.fsencode(right_name), flag)
    return done == 0
