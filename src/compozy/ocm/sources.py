"""Which files a path, folder, glob or standard input stands for, and their text (OCM §3; issue 8 item 2).

Folders are searched for `capability.*` with a YAML or JSON suffix, hidden ones too, links to folders not followed.
Knows nothing of manifests.
"""

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from compozy.documents.limits import MAX_FILE_BYTES
from compozy.documents.source import InvalidUtf8, SourceText
from compozy.model.diagnostic import Position
from compozy.model.record import Record
from compozy.ocm.problems import Problem

STDIN = "-"
STDIN_NAME = "<stdin>"
YAML_SUFFIXES = (".yaml", ".yml")
SUFFIXES = (*YAML_SUFFIXES, ".json")
_STEM = "capability"


class Source(Record, frozen=True, kw_only=True):
    """One file to read; `in_folder` when a folder was named, not the file itself."""

    path: str
    in_folder: bool = False


def find_sources(paths: Iterable[str]) -> Iterator[Source | Problem]:
    """Return the files of each path in order, each file once; a path that gives none is a problem."""
    seen: set[str] = set()
    for path in paths:
        for found in _sources_of(path):
            if isinstance(found, Problem):
                yield found
            elif found.path not in seen:
                seen.add(found.path)
                yield found


def _sources_of(path: str) -> Iterator[Source | Problem]:
    if path == STDIN:
        yield Source(path=STDIN)
    elif os.path.isdir(path):  # noqa: PTH112 - os.walk below gives text, and thousands of paths cost
        yield from _in_folder(path)
    elif not os.path.lexists(path) and glob.has_magic(path):
        yield from _matches(path)
    else:
        yield Source(path=path)


def _matches(pattern: str) -> Iterator[Source | Problem]:
    found = sorted(name for name in glob.iglob(pattern, recursive=True) if not Path(name).is_dir())  # noqa: PTH207
    if not found:
        yield Problem(code="no-manifest", field="", message="no file matches this pattern", path=pattern)
    yield from (Source(path=name) for name in found)


def _in_folder(folder: str) -> Iterator[Source | Problem]:
    found: list[str] = []
    problems: list[Problem] = []

    def refuse(error: OSError) -> None:
        problems.append(_unreadable(str(error.filename), error))

    for where, folders, names in os.walk(folder.rstrip("/") or "/", onerror=refuse):
        folders.sort()
        found.extend(f"{where}/{name}" for name in (*names, *folders) if is_capability_name(name))
    # As other tools name them: annotations of pull requests match the bare path only.
    found = [path.removeprefix("./") for path in found]
    yield from problems
    if not found and not problems:
        message = "no capability.yaml, .yml or .json below this folder; name a file, or another folder"
        yield Problem(code="no-manifest", field="", message=message, path=folder)
    yield from (Source(path=path, in_folder=True) for path in sorted(found))


def is_capability_name(name: str) -> bool:
    """Whether a file of this name in a folder is a manifest: `capability.yaml`, `capability.prod.YML`."""
    return name.startswith(_STEM + ".") and name.lower().endswith(SUFFIXES)


def is_yaml(path: str, text: str) -> bool:
    """Whether a file is read as YAML: by its name, and standard input by how it begins."""
    if path == STDIN:
        return not text.lstrip().startswith(("{", "["))
    return path.lower().endswith(YAML_SUFFIXES)


def read_text(path: str, stdin: bytes | None = None) -> SourceText | Problem:
    """Read one file, or what came by standard input; links to files are followed, other kinds of files refused."""
    try:
        if path == STDIN:
            data = stdin or b""
        else:
            data = _read(path)
    except OSError as error:
        return _unreadable(path, error)
    shown = STDIN_NAME if path == STDIN else path
    if len(data) > MAX_FILE_BYTES:
        message = f"larger than {MAX_FILE_BYTES // 2**20} MiB; split it"
        return Problem(code="too-large", field="", message=message, path=shown)
    try:
        return SourceText.decode(data)
    except InvalidUtf8 as error:
        where = Position(line=error.line, column=error.column)
        message = f"not readable: invalid UTF-8 at byte {error.offset}; save the file as UTF-8"
        return Problem(code="syntax", field="", message=message, path=shown, position=where)


def _read(path: str) -> bytes:
    # Non-blocking, so that a pipe under this name cannot hold the program up.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "is not a regular file", path)
        parts, size = [], 0
        while size <= MAX_FILE_BYTES and (part := os.read(handle, 1 << 20)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def _unreadable(path: str, error: OSError) -> Problem:
    reason = (error.strerror or "cannot be read").lower()
    return Problem(code="unreadable", field="", message=f"{reason}; check the path", path=path)
