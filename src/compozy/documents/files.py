"""Opening authored files without following links, and reading them whole (formats §1).

Every component of a path is opened relative to its parent's handle, so that a link anywhere, also one put there
while we look, is refused. A file is read through one handle and again when it changed meanwhile. Knows no format.
"""

import errno
import os
import stat
from pathlib import Path

from compozy.documents.limits import MAX_FILE_BYTES

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# On the way a folder is only passed: one that may be entered but not listed (/home with 0711) is no obstacle.
_PASSING_FLAGS = _FOLDER_FLAGS | getattr(os, "O_PATH", 0)
# O_NONBLOCK: opening a pipe somebody placed there must not wait for a writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
# A file that changes during this many readings in a row is being written without end.
_READ_ATTEMPTS = 20
_FORBIDDEN = frozenset(':/\\<>"|?*')
_DEVICES = frozenset(
    ["AUX", "CLOCK$", "CON", "CONIN$", "CONOUT$", "NUL", "PRN"]
    + [f"{stem}{digit}" for stem in ("COM", "LPT") for digit in "123456789¹²³"]
)


class FileProblem(Exception):
    """A path that cannot be opened or read; `code` is a diagnostic code, `path` what it is about."""

    def __init__(self, code: str, message: str, path: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path


def component_problem(name: str) -> str:
    """Say why a file name is not portable, or return "" (formats §1)."""
    if not name or not name.strip():
        return "is blank"
    if name in (".", ".."):
        return "is a relative path step"
    if any(0xDC80 <= ord(c) <= 0xDCFF for c in name):
        return "is not valid UTF-8"
    if name[-1] in ". ":
        return "ends with a dot or a space"
    if any(ord(c) < 32 or 127 <= ord(c) < 160 for c in name):
        return "holds a control character"
    if any(c in _FORBIDDEN for c in name):
        return 'holds one of : / \\ < > " | ? *'
    if name.split(".", 1)[0].rstrip(" ").upper() in _DEVICES:
        return "is a reserved DOS device name"
    return ""


def open_folder(path: Path, what: str) -> int:
    """Open a folder from the root down without following links; the caller closes the handle.

    Raises:
        FileProblem: symlink-rejected, not-found, not-directory or unreadable.
    """
    parts = Path(os.path.abspath(path)).parts
    handle = os.open(parts[0], _FOLDER_FLAGS if len(parts) == 1 else _PASSING_FLAGS)
    try:
        for index, part in enumerate(parts[1:], 2):
            flags = _FOLDER_FLAGS if index == len(parts) else _PASSING_FLAGS
            step = open_child_folder(handle, part, what, str(Path(*parts[:index])), flags=flags)
            os.close(handle)
            handle = step
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_child_folder(parent: int, name: str, what: str, shown_path: str, *, flags: int = _FOLDER_FLAGS) -> int:
    """Open one folder below an open one.

    Raises:
        FileProblem: symlink-rejected, not-found, not-directory or unreadable.
    """
    try:
        return os.open(name, flags, dir_fd=parent)
    except OSError as error:
        raise _problem(error, parent, name, what, shown_path, wants_folder=True) from None


def read_file(
    parent: int, name: str, what: str, shown_path: str, *, most: int = MAX_FILE_BYTES
) -> tuple[bytes, os.stat_result]:
    """Read a regular file of up to `most` bytes below an open folder: its bytes and the state they belong to.

    Raises:
        FileProblem: symlink-rejected, not-found, not-regular-file, file-too-large or unreadable.
    """
    for _ in range(_READ_ATTEMPTS):
        try:
            handle = os.open(name, _FILE_FLAGS, dir_fd=parent)
        except OSError as error:
            raise _problem(error, parent, name, what, shown_path, wants_folder=False) from None
        try:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                kind = "a directory" if stat.S_ISDIR(before.st_mode) else "a special file"
                message = f"{what} {shown_path}: must be a regular file, not {kind}"
                raise FileProblem("not-regular-file", message, shown_path)
            if before.st_size > most:
                raise FileProblem(
                    "file-too-large",
                    f"{what} {shown_path}: {before.st_size} bytes exceed the limit of {most} ({most >> 20} MiB); "
                    "shorten the file",
                    shown_path,
                )
            data = _read_all(handle, most)
            after = os.fstat(handle)
        except OSError as error:
            raise _problem(error, parent, name, what, shown_path, wants_folder=False) from None
        finally:
            os.close(handle)
        if len(data) == after.st_size and stamp(before) == stamp(after):
            return data, after
    raise FileProblem("unreadable", f"{what} {shown_path}: changes while it is being read; try again", shown_path)


def open_regular(path: Path) -> int:
    """Open a regular file wherever links lead; the caller closes the handle. A pipe there makes nobody wait.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
    return handle


def read_regular(path: Path, most: int) -> bytes:
    """Read a regular file wherever links lead, `most` bytes of it at most, so that a bound can be told from a cut.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    handle = open_regular(path)
    try:
        return _read_all(handle, most)[: most + 1]
    finally:
        os.close(handle)


def read_regular_text(path: Path) -> str:
    """Read an authored text wherever links lead, with plain line ends.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger than authored files may be.
        UnicodeDecodeError: it is no UTF-8.
    """
    data = read_regular(path, MAX_FILE_BYTES)
    if len(data) > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, "it is larger than authored files may be", os.fspath(path))
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def read_lines(path: Path, most: int = 64 << 20) -> list[str]:
    """Read the lines of a text wherever links lead; what else Unicode calls a line end stays inside them.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger than `most` bytes.
        UnicodeDecodeError: it is no UTF-8.
    """
    data = read_regular(path, most)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB", os.fspath(path))
    return data.decode("utf-8-sig").replace("\r\n", "\n").split("\n")


def stamp(state: os.stat_result) -> tuple[int, int, int, int, int]:
    """What tells two states of a file apart without reading it; the change time cannot be set by programs."""
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


def _read_all(handle: int, most: int) -> bytes:
    chunks = []
    total = 0
    while chunk := os.read(handle, 1 << 20):
        chunks.append(chunk)
        total += len(chunk)
        if total > most:
            break
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _problem(
    error: OSError, parent: int, name: str, what: str, shown_path: str, *, wants_folder: bool
) -> FileProblem:
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        try:
            mode = os.lstat(name, dir_fd=parent).st_mode
        except OSError:
            mode = 0
        if stat.S_ISLNK(mode):
            return FileProblem(
                "symlink-rejected",
                f"{what} {shown_path}: is a symlink, and symlinks are not followed; put the real one there",
                shown_path,
            )
        return FileProblem("not-directory", f"{what} {shown_path}: is not a directory; make it one", shown_path)
    if error.errno in (errno.ENOENT, errno.ENAMETOOLONG):
        missing = "no such directory" if wants_folder else "no such file"
        return FileProblem("not-found", f"{what} {shown_path}: {missing}", shown_path)
    reason = (error.strerror or "cannot be opened").lower()
    return FileProblem("unreadable", f"{what}: could not read {shown_path}: {reason}", shown_path)
