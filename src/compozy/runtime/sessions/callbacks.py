"""What an agent may ask of us besides permission: files and terminals, judged by mode and roots (contract §5.5).

Refusals become `permission` events, so that a person sees what was denied and why; what is allowed is visible in
the agent's own tool calls. Blocking file work happens in threads.
"""

import asyncio
import contextlib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from compozy.acp.contract import LaunchSpec, RequestRefused, TerminalRequest
from compozy.documents.atomic import write_in_folder
from compozy.documents.files import FileProblem, open_child_folder, open_folder, read_file
from compozy.runtime.sessions.containment import OutsideRoots, Roots
from compozy.runtime.sessions.policy import Grants, judge

# ACP's "resource not found" (acp.md, decisions D25).
NOT_FOUND = -32002
# An agent reads source text, not disks: one answer stays below this.
READ_BYTES = 16 * 1024 * 1024
FILE_MODE = 0o600
FOLDER_MODE = 0o755


class Denied(RequestRefused):
    """Refused by the mode; `action` and `resource` are for the event that tells a person."""

    def __init__(self, action: str, resource: str, mode: str) -> None:
        message = f"permission denied by policy: {action} {resource} (mode {mode})"
        super().__init__(message, data={"error": message})
        self.action, self.resource = action, resource


def _refused(message: str) -> RequestRefused:
    return RequestRefused(message, data={"error": message})


class FileCallbacks:
    """Reading and writing text files for one session."""

    def __init__(self, roots: Roots, grants: Grants) -> None:
        self._roots = roots
        self._grants = grants

    async def read(self, mode: str, path: str, line: int | None, limit: int | None) -> str:
        """Return the text, or its lines from `line` (1-based), `limit` of them.

        Raises:
            RequestRefused: denied, outside the roots, missing (-32002), too large or no text.
        """
        real = self._resolve(path)
        if judge(mode, "read", "read", (), self._roots).verdict != "allow-once":
            raise Denied("read", path, mode)
        return await asyncio.to_thread(_read, real, path, line, limit)

    async def write(self, mode: str, path: str, content: str) -> None:
        """Replace the file: old or new content, never a mixture.

        Raises:
            RequestRefused: denied, outside the roots, or the file system refuses.
        """
        real = self._resolve(path)
        if judge(mode, "write", "edit", (), self._roots).verdict != "allow-once" and not (
            mode != "deny-all" and self._grants.allow_write(os.fspath(real))
        ):
            raise Denied("write", path, mode)
        await asyncio.to_thread(_write, real, path, content)

    def _resolve(self, path: str) -> Path:
        try:
            return self._roots.resolve(path)
        except OutsideRoots as error:
            raise _refused(str(error)) from error


def _read(real: Path, path: str, line: int | None, limit: int | None) -> str:
    try:
        # One handle, opened without following a link that was put anywhere on the way since the path was resolved.
        folder = open_folder(real.parent, "open folder")
        try:
            data = read_file(folder, real.name, "read file", path, most=READ_BYTES)[0]
        finally:
            os.close(folder)
    except FileProblem as problem:
        raise _not_read(problem, path) from problem
    text = data.decode("utf-8", "replace")
    if line is None and limit is None:
        return text
    lines = text.splitlines(keepends=True)
    start = max((line or 1) - 1, 0)
    return "".join(lines[start:] if limit is None else lines[start : start + max(limit, 0)])


def _not_read(problem: FileProblem, path: str) -> RequestRefused:
    if problem.code in ("not-found", "not-directory"):
        return RequestRefused(f"no such file: {path}", code=NOT_FOUND, data={"error": "ENOENT", "path": path})
    if problem.code == "not-regular-file":
        return _refused(f"{path!r} is not a regular file")
    if problem.code == "symlink-rejected":
        return _refused(f"{path!r} became a link while it was opened: ask again")
    if problem.code == "file-too-large":
        return _refused(f"{path!r} is larger than {READ_BYTES} bytes: read it in pieces with a terminal")
    return _refused(f"cannot read {path!r}: {problem.message.rsplit(': ', 1)[-1]}")


def _write(real: Path, path: str, content: str) -> None:
    try:
        folder = _open_or_make(real.parent)
        try:
            try:
                mode = os.stat(real.name, dir_fd=folder, follow_symlinks=False).st_mode & 0o777
            except FileNotFoundError:
                mode = FILE_MODE
            write_in_folder(folder, real, content.encode("utf-8", "surrogatepass"), mode=mode)
        finally:
            os.close(folder)
    except FileProblem as problem:
        raise _refused(f"cannot write {path!r}: {problem.message}") from problem
    except OSError as error:
        raise _refused(f"cannot write {path!r}: {error.strerror or error}") from error


def _open_or_make(folder: Path) -> int:
    """Open a folder without following a link on the way, and make what is missing of it."""
    try:
        return open_folder(folder, "open folder")
    except FileProblem as problem:
        if problem.code != "not-found" or folder == folder.parent:
            raise
    parent = _open_or_make(folder.parent)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder.name, FOLDER_MODE, dir_fd=parent)
        return open_child_folder(parent, folder.name, "open folder", os.fspath(folder))
    finally:
        os.close(parent)


def authorise_terminal(
    request: TerminalRequest, mode: str, roots: Roots, grants: Grants, environment: Mapping[str, str], marker: str
) -> LaunchSpec:
    """Say how to start the terminal's command.

    Raises:
        RequestRefused: denied, no command, or a working directory outside the roots or missing.
    """
    shown = " ".join((request.command, *request.args))
    if judge(mode, "execute", "execute", (), roots).verdict != "allow-once" and not (
        mode != "deny-all" and grants.allow_command()
    ):
        raise Denied("execute", shown, mode)
    try:
        cwd = roots.resolve(request.cwd) if request.cwd else roots.resolve(os.fspath(roots.primary))
        argv = (*shlex.split(request.command), *request.args)
    except (OutsideRoots, ValueError) as error:
        raise _refused(str(error)) from error
    if not argv:
        raise _refused("terminal/create without a command")
    if not cwd.is_dir():
        raise _refused(f"working directory {request.cwd!r} does not exist")
    return LaunchSpec(argv=argv, env={**environment, **request.env}, cwd=os.fspath(cwd), marker=marker)
