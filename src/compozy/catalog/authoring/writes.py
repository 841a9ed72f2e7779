"""Adding, copying, removing and restoring whole agents in one agents folder (formats §13, decisions D3, D12).

Every change is one step for readers: a file appears by an exclusive link, a folder by a rename or an exchange. The
agents folder's lock is held around it; a killed writer leaves the old state or the new one, and staging that the
next writer removes. What was there before is handed to `keep` first.
"""

import errno
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from compozy.catalog.authoring.folders import FOLDER_MODE, carry_over, copy_tree, ensure_folder, put_in_place, staging
from compozy.catalog.authoring.states import Entry, write_state
from compozy.catalog.writing import StaleDefinition, folder_lock
from compozy.documents.agents import AGENT_FILE, LoadedAgent, load_agent
from compozy.documents.atomic import write_atomically
from compozy.documents.canonical import render
from compozy.documents.edits import edit_definition
from compozy.documents.problems import DefinitionError
from compozy.model.definition import AgentDefinition
from compozy.model.errors import Conflict, InvalidRequest, NotFound

# Handed the open folder of the agent that is about to change.
Keep = Callable[[int], None]
KeepAll = Callable[[int], Sequence[str]]
_NEW = "new"
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def create_definition(root: Path, definition: AgentDefinition) -> LoadedAgent:
    """Write the canonical AGENT.md of a new agent; a folder without one may exist already.

    Raises:
        Conflict: the folder has an AGENT.md.
        InvalidRequest: the folder is a link, or its sidecars keep the agent from loading; nothing is left behind.
    """
    name = definition.name
    text = render(definition).encode("utf-8")
    ensure_folder(root)
    with folder_lock(root) as handle:
        made = _make(handle, name, root)
        path = root / name / AGENT_FILE
        try:
            try:
                write_atomically(path, text, exclusive=True)
            except FileExistsError:
                raise taken(name, path) from None
            except OSError as error:
                raise _refusal(error, path) from error
            try:
                return load_agent(path)
            except DefinitionError:
                path.unlink()
                raise
        except BaseException:
            if made:
                with suppress(OSError):
                    os.rmdir(name, dir_fd=handle)
            raise


def _make(root: int, name: str, shown: Path) -> bool:
    try:
        os.mkdir(name, FOLDER_MODE, dir_fd=root)
    except FileExistsError:
        mode = os.stat(name, dir_fd=root, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(mode):
            kind = "a symlink" if stat.S_ISLNK(mode) else "no folder"
            raise InvalidRequest(
                f"{str(shown / name)!r} is {kind}; move it away or choose another name", code="symlink-rejected"
            ) from None
        return False
    os.fsync(root)
    return True


def taken(name: str, path: Path) -> Conflict:
    """Return the refusal of a name that is in use."""
    return Conflict(f"agent {name!r} exists already at {str(path)!r}; choose another name", code="agent_exists")


def _refusal(error: OSError, path: Path) -> Exception:
    """A link or a folder where AGENT.md belongs counts as a taken name; anything else is the system's word."""
    if error.errno in (errno.ELOOP, errno.EINVAL, errno.EISDIR):
        return taken(path.parent.name, path)
    return error


def duplicate_definition(source: Path, root: Path, wanted: AgentDefinition) -> LoadedAgent:
    """Copy the whole folder of the agent at `source` (its AGENT.md) under a new name; comments come along.

    Raises:
        Conflict: the target exists.
        NotFound: the source is gone.
        InvalidRequest: the source holds a link or a special file, or the copy would not load; nothing is left behind.
    """
    name = wanted.name
    ensure_folder(root)
    with folder_lock(root) as root_handle:
        _require_absent(root_handle, name, root)
        with staging(root_handle) as staged, folder_lock(source.parent) as source_handle:
            os.mkdir(_NEW, FOLDER_MODE, dir_fd=staged)
            copy = os.open(_NEW, _FOLDER_FLAGS, dir_fd=staged)
            try:
                text, mode = _definition_text(source_handle, source)
                copy_tree(source_handle, copy, str(source.parent), skip=frozenset({AGENT_FILE}))
                data = edit_definition(text, wanted).text.encode("utf-8")
                write_state((Entry(AGENT_FILE.encode(), "f", mode, data),), copy)
            finally:
                os.close(copy)
            _require_absent(root_handle, name, root)
            os.rename(_NEW, name, src_dir_fd=staged, dst_dir_fd=root_handle)
            os.fsync(root_handle)
        return load_agent(root / name / AGENT_FILE)


def _definition_text(folder: int, source: Path) -> tuple[str, int]:
    try:
        handle = os.open(AGENT_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        raise NotFound(f"{str(source)!r} cannot be read any more; try again", code="agent_not_found") from error
    with os.fdopen(handle, "rb") as file:
        return file.read().decode("utf-8"), os.fstat(handle).st_mode & 0o777


def _require_absent(root: int, name: str, shown: Path) -> None:
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=root, follow_symlinks=False)
        raise taken(name, shown / name)


def delete_agent(path: Path, root: Path, *, keep: Keep) -> None:
    """Remove the whole folder of the AGENT.md at `path`, which must be exactly `root/<folder>/AGENT.md`.

    The agent is gone in one step; links inside are unlinked, never followed.

    Raises:
        NotFound: it is gone already.
        InvalidRequest: the path is another one, or a folder or the file is a link; nothing is touched.
    """
    folder = path.parent.name
    if path != root / folder / AGENT_FILE or folder in ("", ".", ".."):
        raise InvalidRequest(f"{str(path)!r} does not lie directly below {str(root)!r}; delete it by hand")
    with folder_lock(root) as root_handle, folder_lock(path.parent) as handle:
        try:
            state = os.stat(AGENT_FILE, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            raise NotFound(f"{str(path)!r} is gone already", code="agent_not_found") from None
        if not stat.S_ISREG(state.st_mode):
            raise InvalidRequest(f"{str(path)!r} is no regular file; delete it by hand")
        keep(handle)
        with staging(root_handle) as staged:
            os.rename(folder, _NEW, src_dir_fd=root_handle, dst_dir_fd=staged)
            os.fsync(root_handle)


def restore_agent(
    path: Path, root: Path, entries: tuple[Entry, ...], *, keep: KeepAll, expected_digest: str = ""
) -> LoadedAgent | None:
    """Give the folder of `path` the content of a kept state; what is there now is handed to `keep` first.

    `keep` answers what it could not keep; those files stay. `expected_digest` is that of the definition which the
    caller saw there, "" when it makes no difference.

    Returns the definition as it now loads, or None when the kept one did not load either.

    Raises:
        Conflict: the folder does not hold the definition that the caller saw; nothing is changed.
        InvalidRequest: the state has no AGENT.md, or something that is no folder lies in the way.
    """
    folder = path.parent.name
    if not any(entry.path == AGENT_FILE.encode() and entry.kind == "f" for entry in entries):
        raise InvalidRequest("the kept state has no AGENT.md; choose another")
    ensure_folder(root)
    with folder_lock(root) as root_handle, staging(root_handle) as staged:
        if expected_digest and not path.exists():
            raise gone(path)
        os.mkdir(_NEW, FOLDER_MODE, dir_fd=staged)
        new = os.open(_NEW, _FOLDER_FLAGS, dir_fd=staged)
        try:
            write_state(entries, new)
            if _make(root_handle, folder, root):
                os.rename(_NEW, folder, src_dir_fd=staged, dst_dir_fd=root_handle)
                os.fsync(root_handle)
            else:
                with folder_lock(path.parent) as handle:
                    if expected_digest:
                        _check_unchanged(path, expected_digest)
                    carry_over(handle, new, keep(handle))
                    put_in_place(staged, _NEW, root_handle, folder)
        except ValueError as error:
            raise InvalidRequest(f"{error}; choose another") from error
        finally:
            os.close(new)
    try:
        return load_agent(path)
    except DefinitionError:
        return None


def _check_unchanged(path: Path, expected_digest: str) -> None:
    try:
        loaded = load_agent(path)
    except DefinitionError as error:
        raise gone(path) from error
    if loaded.definition_digest != expected_digest:
        raise StaleDefinition(loaded)


def gone(path: Path) -> Conflict:
    """The refusal of a change to a definition that is no longer there, or no longer loads."""
    return Conflict(
        f"there is no definition that loads at {str(path)!r} any more; look at it again",
        code="definition_conflict",
        details={"current_digest": ""},
    )
