"""The whole state of one agent folder as one value: read, hashed, packed, unpacked again (issue 4 item 7).

Files with their modes, sub-folders, and links as links (their targets are never read). Knows nothing of when a state
is kept or for how long.
"""

import hashlib
import os
import stat
import zlib

import msgspec

from compozy.catalog.authoring.folders import FOLDER_MODE, MAX_DEPTH, write_all
from compozy.documents.atomic import TEMPORARY_PREFIX

# Read first, so that a huge folder still keeps what was authored.
_AUTHORED = ("AGENT.md", "mcp.json", "SOUL.md", "HEARTBEAT.md", "capabilities.toml", "capabilities.json")
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One file (`f`), folder (`d`) or link (`l`, `data` is its target); `path` in bytes, empty for the folder."""

    path: bytes
    kind: str
    mode: int
    data: bytes = b""


class FolderState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in a folder; `left_out` names what was too large or is no file."""

    entries: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(len(entry.data) for entry in self.entries)

    @property
    def files(self) -> int:
        """How many files."""
        return sum(entry.kind == "f" for entry in self.entries)

    @property
    def content_hash(self) -> str:
        """The lower-case hash of names, modes and contents."""
        return hashlib.sha256(msgspec.msgpack.encode(self.entries)).hexdigest()

    def file(self, name: str) -> bytes | None:
        """Return a file's content, or None."""
        wanted = os.fsencode(name)
        return next((entry.data for entry in self.entries if entry.path == wanted and entry.kind == "f"), None)

    def pack(self) -> bytes:
        """Return the entries as compressed bytes."""
        return zlib.compress(msgspec.msgpack.encode(self.entries), 1)


def unpack(data: bytes) -> tuple[Entry, ...]:
    """Return packed entries.

    Raises:
        ValueError: the bytes are damaged.
    """
    try:
        return msgspec.msgpack.decode(zlib.decompress(data), type=tuple[Entry, ...])
    except (zlib.error, msgspec.DecodeError) as error:
        raise ValueError(f"the kept state is damaged: {error}") from error


def read_state(folder: int, *, limit: int) -> FolderState:
    """Read an open agent folder; files beyond `limit` bytes together are left out, authored ones last."""
    reader = _Reader(limit)
    reader.entries.append(Entry(b"", "d", os.fstat(folder).st_mode & 0o777))
    reader.walk(folder, b"", 0)
    entries = sorted(reader.entries, key=lambda entry: entry.path)
    return FolderState(entries=tuple(entries), left_out=tuple(reader.left_out))


class _Reader:
    def __init__(self, limit: int) -> None:
        self._left = limit
        self.entries: list[Entry] = []
        self.left_out: list[str] = []

    def walk(self, folder: int, prefix: bytes, depth: int) -> None:
        names = [n for n in os.listdir(folder) if not n.startswith(TEMPORARY_PREFIX)]
        for name in sorted(names, key=lambda n: (n not in _AUTHORED, n)):
            path = prefix + os.fsencode(name)
            try:
                self._entry(folder, name, path, depth)
            except FileNotFoundError:
                # Gone since the listing: then it is not part of the state.
                continue

    def _entry(self, folder: int, name: str, path: bytes, depth: int) -> None:
        state = os.stat(name, dir_fd=folder, follow_symlinks=False)
        mode = state.st_mode & 0o777
        if stat.S_ISLNK(state.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=folder))
            self.entries.append(Entry(path, "l", 0, target))
        elif stat.S_ISDIR(state.st_mode) and depth < MAX_DEPTH:
            self.entries.append(Entry(path, "d", mode))
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
            try:
                self.walk(inner, path + b"/", depth + 1)
            finally:
                os.close(inner)
        elif stat.S_ISREG(state.st_mode) and state.st_size <= self._left:
            data = _read(folder, name)
            self._left -= len(data)
            self.entries.append(Entry(path, "f", mode, data))
        else:
            self.left_out.append(os.fsdecode(path))


def _read(folder: int, name: str) -> bytes:
    handle = os.open(name, _READ_FLAGS, dir_fd=folder)
    with os.fdopen(handle, "rb") as file:
        return file.read()


def write_state(entries: tuple[Entry, ...], folder: int) -> None:
    """Write entries into an open, empty folder, durable when this returns. Folders stay open to their owner.

    Raises:
        ValueError: an entry's path leads out of the folder.
        OSError: the system refuses.
    """
    for entry in entries:
        if entry == Entry(b"", "d", entry.mode):
            continue
        parts = entry.path.split(b"/")
        if any(part in (b"", b".", b"..") for part in parts):
            raise ValueError(f"the kept state names the path {entry.path!r}")
        parent = _descend(folder, parts[:-1])
        try:
            _write_entry(parent, parts[-1], entry)
            os.fsync(parent)
        finally:
            os.close(parent)
    for entry in reversed(entries):
        if entry.kind == "d":
            handle = _descend(folder, entry.path.split(b"/") if entry.path else [])
            try:
                os.fchmod(handle, entry.mode | FOLDER_MODE)
            finally:
                os.close(handle)


def _descend(folder: int, parts: list[bytes]) -> int:
    handle = os.dup(folder)
    for part in parts:
        try:
            step = os.open(part, _FOLDER_FLAGS, dir_fd=handle)
        finally:
            os.close(handle)
        handle = step
    return handle


def _write_entry(parent: int, name: bytes, entry: Entry) -> None:
    if entry.kind == "d":
        os.mkdir(name, FOLDER_MODE, dir_fd=parent)
    elif entry.kind == "l":
        os.symlink(entry.data, name, dir_fd=parent)
    else:
        handle = os.open(name, _WRITE_FLAGS, 0o600, dir_fd=parent)
        try:
            write_all(handle, entry.data)
            os.fchmod(handle, entry.mode)
            os.fsync(handle)
        finally:
            os.close(handle)
