"""What agent folders held before each change: kept by content hash, private, bounded (issue 4 item 7).

One file a state below `<home>/history/agents/<name>/`: a line of facts, then the packed folder. A state that comes
back is one file with a newer time. Files are 0600, folders 0700; nothing here reads the agents folders.
"""

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from compozy.catalog.authoring.folders import FOLDER_MODE
from compozy.catalog.authoring.states import Entry, FolderState, unpack
from compozy.documents.atomic import TEMPORARY_PREFIX, write_atomically
from compozy.documents.names import name_problem
from compozy.documents.text import trim
from compozy.model.authoring import Kept
from compozy.model.errors import InvalidRequest, NotFound

SUFFIX = ".state"
# The shortest start of a hash that may stand for it.
MIN_PREFIX = 6
# Looking at every kept file for its age is cheap, but not for each of hundreds of edits a second.
_PRUNE_SECONDS = 60.0
# After a prune by size there is room for a while.
_LOW_WATER = 0.9
_MAX_FACTS = 1 << 20


class AgentHistory:
    """The kept states of one home. Safe to call from several threads."""

    def __init__(self, folder: Path, *, max_age: float, max_bytes: int) -> None:
        self._folder = folder
        self._max_age = max_age
        self.max_bytes = max_bytes
        self._total: int | None = None
        self._pruned = 0.0
        # Protects the running total and the pruning.
        self._lock = threading.Lock()

    def keep(self, kept: Kept, state: FolderState) -> None:
        """Keep a state, durable when this returns.

        Raises:
            OSError: it cannot be written; then the change it belongs to must not happen.
        """
        shelf = self._folder / kept.name
        for folder in (self._folder.parent, self._folder, shelf):
            folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        path = shelf / _file_name(kept)
        data = msgspec.json.encode(kept) + b"\n" + state.pack()
        before = _size(path)
        write_atomically(path, data)
        with self._lock:
            if self._total is not None:
                self._total += len(data) - before
            if self._total is None or self._total > self.max_bytes or self._is_due():
                self._prune(keep=path)

    def states(self, name: str) -> tuple[Kept, ...]:
        """Return the kept states of every agent of a name, newest first."""
        found = [kept for path in self._paths(name) if (kept := _facts(path)) is not None]
        return tuple(sorted(found, key=lambda kept: kept.at, reverse=True))

    def find(self, name: str, wanted: str, places: frozenset[str]) -> Kept:
        """Return the state a hash, or its beginning, stands for, among those whose agents folder is in `places`.

        Raises:
            NotFound: none.
            InvalidRequest: too short, or more than one.
        """
        text = wanted.strip().lower().removeprefix("sha256:")
        if len(text) < MIN_PREFIX:
            raise InvalidRequest(f"hash {wanted!r} is too short; give at least {MIN_PREFIX} characters of it")
        found = [k for k in self.states(name) if k.hash.startswith(text) and place_of(k) in places]
        if not found:
            raise NotFound(
                f"no kept state of agent {name!r} has the hash {wanted!r}; list them: compozy agent history {name}",
                code="history_not_found",
            )
        if len({kept.hash for kept in found}) > 1:
            raise InvalidRequest(f"hash {wanted!r} stands for {len(found)} states of agent {name!r}; give more of it")
        return found[0]

    def entries(self, kept: Kept) -> tuple[Entry, ...]:
        """Return what the folder held.

        Raises:
            NotFound: the state is gone, or its file is damaged.
        """
        try:
            data = (self._folder / kept.name / _file_name(kept)).read_bytes()
            entries = unpack(data.partition(b"\n")[2])
        except (OSError, ValueError) as error:
            raise NotFound(
                f"the state {kept.hash[:12]} of agent {kept.name!r} cannot be read: {error}; choose another",
                code="history_not_found",
            ) from error
        if FolderState(entries=entries).content_hash != kept.hash:
            raise NotFound(
                f"the state {kept.hash[:12]} of agent {kept.name!r} was changed on disk; choose another",
                code="history_not_found",
            )
        return entries

    def with_digest(self, name: str, definition_digest: str) -> Kept | None:
        """Return a kept state whose definition had this digest, or None."""
        mark = f"-{definition_digest[:16]}{SUFFIX}"
        if len(definition_digest) < len(mark):
            return None
        for path in self._paths(name):
            if path.name.endswith(mark):
                kept = _facts(path)
                if kept is not None and kept.definition_digest == definition_digest:
                    return kept
        return None

    def _paths(self, name: str) -> Iterator[Path]:
        # The name may come from a URL; only an agent's name is a folder here.
        if name_problem(name) is not None or name != trim(name):
            return
        try:
            yield from (path for path in (self._folder / name).iterdir() if path.name.endswith(SUFFIX))
        except (FileNotFoundError, NotADirectoryError):
            return

    def _is_due(self) -> bool:
        return time.monotonic() > self._pruned + _PRUNE_SECONDS

    def _prune(self, *, keep: Path) -> None:
        """Remove what is too old, then the oldest until the rest fits; never what was kept just now."""
        self._pruned = time.monotonic()
        oldest = time.time() - self._max_age
        rows: list[tuple[float, int, Path]] = []
        for path in self._folder.glob(f"*/*{SUFFIX}"):
            try:
                state = path.stat()
            except FileNotFoundError:
                continue
            if self._max_age and state.st_mtime < oldest and path != keep:
                path.unlink(missing_ok=True)
            else:
                rows.append((state.st_mtime, state.st_size, path))
        for path in self._folder.glob(f"*/{TEMPORARY_PREFIX}*"):
            # What a killed writer left; a living one needs milliseconds.
            if _age(path) > _PRUNE_SECONDS:
                path.unlink(missing_ok=True)
        total = sum(size for _, size, _ in rows)
        if total > self.max_bytes:
            for _, size, path in sorted(rows, key=lambda row: row[:2]):
                if total <= self.max_bytes * _LOW_WATER:
                    break
                if path != keep:
                    path.unlink(missing_ok=True)
                    total -= size
        self._total = total


def place_of(kept: Kept) -> str:
    """Return the agents folder a state's agent lay in."""
    return str(Path(kept.path).parent.parent)


def _file_name(kept: Kept) -> str:
    place = hashlib.sha256(os.fsencode(kept.path)).hexdigest()[:12]
    return f"{kept.hash}-{place}-{kept.definition_digest[:16]}{SUFFIX}"


def _facts(path: Path) -> Kept | None:
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.readline(_MAX_FACTS), type=Kept)
    except (OSError, msgspec.DecodeError):
        # A damaged state is no state; the others still count.
        return None


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
