"""Changing a definition on disk: compare-and-swap under one lock, across processes (decisions D3, D4; formats §13).

The lock is the kernel's, on the agent's folder: it ends with the process that holds it, so a killed writer leaves
nothing behind. Which definition is in force, and who may change it, is decided by callers.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from compozy.catalog.authoring.folders import sweep
from compozy.documents.agents import LoadedAgent, load_agent
from compozy.documents.atomic import write_atomically
from compozy.documents.edits import edit_definition
from compozy.documents.files import FileProblem, open_folder, read_file
from compozy.documents.locks import wait_for_lock
from compozy.documents.names import is_reserved
from compozy.model.definition import AgentDefinition
from compozy.model.errors import Conflict, InvalidRequest, NotFound, Unavailable, Unprocessable
from compozy.model.record import Record

# A writer holds the lock for milliseconds; who waits this long waits for something that hangs.
LOCK_SECONDS = 10.0


class Updated(Record, frozen=True, kw_only=True):
    """What an update left: the definition as the next read sees it, and how it was written."""

    loaded: LoadedAgent
    changed: bool
    in_place: bool = True
    note: str = ""


class StaleDefinition(Conflict):
    """The definition is not the one the caller saw; `current` is what it is now."""

    def __init__(self, current: LoadedAgent) -> None:
        super().__init__(
            f"the definition at {str(current.path)!r} has changed since it was read; read it again, then edit",
            code="definition_conflict",
            details={"current_digest": current.definition_digest},
        )
        self.current = current


def _keep_nothing(folder: int, loaded: LoadedAgent) -> None:
    """What a caller without history does before a write."""


def update_definition(
    path: Path,
    wanted: AgentDefinition,
    *,
    expected_digest: str,
    keep: Callable[[int, LoadedAgent], object] = _keep_nothing,
) -> Updated:
    """Replace the payload fields and the prompt of an AGENT.md, if it still has the digest the caller saw.

    Servers and hooks stay; fields that do not change keep their bytes. The digest of the result is that of the next
    read, sidecar included. `keep` is called with the open folder and its present definition just before the write.

    Raises:
        StaleDefinition: somebody changed the definition meanwhile; `details` has the current digest.
        Unprocessable: the name is reserved; nothing is written.
        InvalidRequest: the name differs from the definition's, or the result would not load; nothing is written.
        NotFound: there is no such definition.
        Unavailable: another writer holds the folder for too long.
    """
    if is_reserved(wanted.name):
        raise Unprocessable(
            f"agent name {wanted.name!r} is reserved; choose another name",
            code="agent_name_reserved",
            diagnostic=True,
        )
    with folder_lock(path.parent) as folder:
        text = _read(path)
        loaded = load_agent(path)
        if loaded.definition_digest != expected_digest or _read(path) != text:
            raise StaleDefinition(loaded)
        if wanted.name != loaded.name:
            raise InvalidRequest(
                f"the definition is named {loaded.name!r}, not {wanted.name!r}; duplicate it to get another name"
            )
        result = edit_definition(text, wanted)
        if result.text == text:
            return Updated(loaded=loaded, changed=False)
        mode = path.stat(follow_symlinks=False).st_mode & 0o777
        sweep(folder)
        keep(folder, loaded)
        write_atomically(path, result.text.encode("utf-8"), mode=mode)
        return Updated(loaded=load_agent(path), changed=True, in_place=result.in_place, note=result.note)


@contextmanager
def folder_lock(folder: Path) -> Iterator[int]:
    """Hold the lock that all writers of one agent folder take around reading, comparing and writing.

    Yields the folder's handle. The same lock on an agents folder is held by who adds or removes agents there.

    Raises:
        NotFound: the folder does not exist or is a link.
        Unavailable: another writer holds it for longer than `LOCK_SECONDS`.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        handle = _open(folder)
        try:
            _lock(handle, folder, deadline)
            # The folder may have been replaced while we waited: then the lock protects a folder nobody sees.
            if _is_still(folder, handle):
                yield handle
                return
        finally:
            os.close(handle)


def _open(folder: Path) -> int:
    try:
        return open_folder(folder, "open agent directory")
    except FileProblem as problem:
        raise NotFound(problem.message, code="agent_not_found") from problem


def _lock(handle: int, folder: Path, deadline: float) -> None:
    if not wait_for_lock(handle, deadline):
        raise Unavailable(f"another program has been writing in {str(folder)!r} for {LOCK_SECONDS:.0f} s; try again")


def _is_still(folder: Path, handle: int) -> bool:
    try:
        return os.path.samestat(folder.stat(follow_symlinks=False), os.fstat(handle))
    except FileNotFoundError:
        return False


def _read(path: Path) -> str:
    handle = _open(path.parent)
    try:
        return read_file(handle, path.name, "read agent file", str(path))[0].decode("utf-8")
    except FileProblem as problem:
        raise NotFound(problem.message, code="agent_not_found") from problem
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{str(path)!r} is not UTF-8; save it as UTF-8") from error
    finally:
        os.close(handle)
