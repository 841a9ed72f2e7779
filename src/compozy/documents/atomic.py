"""Old-or-new writes: a temporary file in the target's folder, flushed, then renamed over it (formats §13).

A reader, a crash or a full disk sees the old content or the new one, never a mixture. Nothing here knows formats,
digests or locks; compare-and-swap (decisions D4) is the caller's, who holds a lock around read and write.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path

TEMPORARY_PREFIX = ".compozy-tmp-"


def write_atomically(path: Path, data: bytes, *, mode: int = 0o600, exclusive: bool = False) -> None:
    """Make `data` the content of `path`, completely or not at all, and durable when this returns.

    Args:
        path: the target; its folder must exist. A link at the target or as its folder is refused, never followed.
        data: the whole new content.
        mode: permission bits of the new file.
        exclusive: fail when the target already exists instead of replacing it.

    Raises:
        FileExistsError: `exclusive` and something lies at `path`.
        OSError: the folder is missing or a link (ELOOP), the target is a link or no regular file, the disk is full.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        write_in_folder(folder, path, data, mode=mode, exclusive=exclusive)
    finally:
        os.close(folder)


def write_in_folder(folder: int, path: Path, data: bytes, *, mode: int = 0o600, exclusive: bool = False) -> None:
    """Do the same in a folder that is open already, so that nothing on the way to it can be exchanged."""
    _refuse_special_target(folder, path)
    temporary = TEMPORARY_PREFIX + os.urandom(16).hex()
    try:
        _write_new(folder, temporary, data, mode)
        if exclusive:
            os.link(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        else:
            os.rename(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
    os.fsync(folder)


def _refuse_special_target(folder: int, path: Path) -> None:
    try:
        found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise OSError(
            errno.ELOOP, "refusing to write through a symbolic link; replace it by a regular file", str(path)
        )
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "refusing to replace what is not a regular file; move it away first", str(path))


def _write_new(folder: int, name: str, data: bytes, mode: int) -> None:
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        # The umask may have narrowed the mode that was asked for.
        os.fchmod(handle, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)
