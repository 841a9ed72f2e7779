"""Which files of a workspace are worth reading: a bounded walk that honours .gitignore and never follows links.

Looks at names and sizes only; contents are read through the client. Knows nothing of the task.
"""

import os
import re
import stat
import threading
from collections.abc import Callable
from typing import NamedTuple

MAX_LISTED = 20_000
MAX_DEPTH = 40
MAX_FILE_BYTES = 512 * 1024

# Folders that hold what tools made, never what people wrote.
SKIPPED_FOLDERS = frozenset(
    ".git .hg .svn .compozy .venv venv node_modules __pycache__ .mypy_cache .ruff_cache .pytest_cache .tox .nox "
    ".cache .idea .vscode .gradle .next .nuxt .terraform dist-newstyle bower_components .eggs".split()
)
BINARY_ENDINGS = frozenset(
    "7z a avi bin bmp bz2 class dat db dll dmg doc docx dylib ear eot exe flac gif gz ico icns iso jar jpeg jpg "
    "lib mkv mov mp3 mp4 npy npz o odt ogg onnx otf pack parquet pdf pickle pkl png ppt pptx psd pyc pyd rar so "
    "sqlite sqlite3 tar tgz tif tiff ttf wasm wav webm webp whl woff woff2 xls xlsx xz zip zst".split()
)


class Entry(NamedTuple):
    """One file: path relative to the workspace with `/`, size in bytes."""

    path: str
    size: int


class Listing(NamedTuple):
    """The files to read and how many were left out, by reason."""

    files: tuple[Entry, ...]
    skipped: dict[str, int]
    how: str


class Ignore:
    """The rules of one .gitignore: the last matching line decides."""

    def __init__(self, text: str) -> None:
        self._rules = [rule for rule in map(_rule, text.splitlines()) if rule is not None]

    def decide(self, path: str, is_folder: bool) -> bool | None:
        """Return True for ignored, False for kept on purpose, None when no rule speaks; `path` is relative to it."""
        verdict = None
        for pattern, keeps, folders_only in self._rules:
            if (is_folder or not folders_only) and pattern.fullmatch(path):
                verdict = not keeps
        return verdict


def _rule(line: str) -> tuple[re.Pattern[str], bool, bool] | None:
    line = line.rstrip("\r\n")
    if not line.endswith("\\ "):
        line = line.rstrip(" ")
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    line = line[1:] if keeps else line
    line = line[1:] if line.startswith(("\\#", "\\!")) else line
    folders_only = line.endswith("/")
    line = line.rstrip("/")
    anchored = "/" in line
    expression = _expression(line.lstrip("/"))
    try:
        return re.compile(expression if anchored else f"(?:.*/)?{expression}"), keeps, folders_only
    except re.error:
        return None


def _expression(glob: str) -> str:
    """Translate a .gitignore glob; `**/` spans folders, `*` and `?` stay inside one."""
    out, at = "", 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            out, at = out + ".*", at + 2
        elif glob[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif glob[at] == "?":
            out, at = out + "[^/]", at + 1
        elif glob[at] == "[" and "]" in glob[at + 2 :]:
            end = glob.index("]", at + 2)
            inner = glob[at + 1 : end].replace("\\", "\\\\")
            out, at = out + "[" + ("^" + inner[1:] if inner.startswith("!") else inner) + "]", end + 1
        elif glob[at] == "\\" and at + 1 < len(glob):
            out, at = out + re.escape(glob[at + 1]), at + 2
        else:
            out, at = out + re.escape(glob[at]), at + 1
    return out


class Walk:
    """Lists a folder by looking at it; `read` returns a .gitignore's text ("" when it cannot be read)."""

    def __init__(self, root: str, read: Callable[[str], str], stop: threading.Event) -> None:
        self._root, self._read, self._stop = root, read, stop
        self._files: list[Entry] = []
        self.skipped: dict[str, int] = {}

    def run(self) -> Listing:
        """Walk the whole tree, in name order, folder by folder."""
        level: list[tuple[str, tuple[tuple[str, Ignore], ...]]] = [("", ())]
        for _depth in range(MAX_DEPTH):
            deeper: list[tuple[str, tuple[tuple[str, Ignore], ...]]] = []
            for folder, rules in level:
                if self._stop.is_set() or len(self._files) >= MAX_LISTED:
                    break
                deeper += self._folder(folder, rules)
            level = deeper
        if level or len(self._files) >= MAX_LISTED:
            self._skip("beyond the limits of the walk")
        return Listing(tuple(self._files[:MAX_LISTED]), self.skipped, "looked at the folders")

    def _skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def _folder(
        self, folder: str, rules: tuple[tuple[str, Ignore], ...]
    ) -> list[tuple[str, tuple[tuple[str, Ignore], ...]]]:
        try:
            with os.scandir(os.path.join(self._root, folder)) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            self._skip("unreadable folder")
            return []
        if any(entry.name == ".gitignore" and entry.is_file(follow_symlinks=False) for entry in entries):
            rules = (*rules, (folder, Ignore(self._read(os.path.join(self._root, folder, ".gitignore")))))
        below = []
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                self._skip("unreadable")
                continue
            if stat.S_ISDIR(found.st_mode):
                if entry.name in SKIPPED_FOLDERS or is_ignored(path, True, rules):
                    self._skip("ignored")
                else:
                    below.append((path, rules))
            elif is_ignored(path, False, rules):
                self._skip("ignored")
            else:
                self._file(path, found)
        return below

    def _file(self, path: str, found: os.stat_result) -> None:
        reason = why_not(path, found)
        if reason:
            self._skip(reason)
        else:
            self._files.append(Entry(path, found.st_size))


def is_ignored(path: str, is_folder: bool, rules: tuple[tuple[str, Ignore], ...]) -> bool:
    """Whether the .gitignore files above a path, nearest last, ignore it."""
    verdict = False
    for folder, ignore in rules:
        inside = path[len(folder) + 1 :] if folder else path
        decided = ignore.decide(inside, is_folder)
        verdict = verdict if decided is None else decided
    return verdict


def why_not(path: str, found: os.stat_result) -> str:
    """Return why a file is not worth reading, "" when it is."""
    if stat.S_ISLNK(found.st_mode):
        return "link"
    if not stat.S_ISREG(found.st_mode):
        return "not a regular file"
    if path.rpartition(".")[2].lower() in BINARY_ENDINGS and "." in path.rpartition("/")[2]:
        return "binary"
    if found.st_size > MAX_FILE_BYTES:
        return "larger than 512 KiB"
    return "empty" if found.st_size == 0 else ""


def from_output(root: str, output: str, how: str) -> Listing:
    """Make a listing from the paths a program printed, separated by NUL or newlines."""
    files: list[Entry] = []
    skipped: dict[str, int] = {}
    separator = "\0" if "\0" in output else "\n"
    for line in output.split(separator):
        path = line.removeprefix("./")
        if not path or any(part in SKIPPED_FOLDERS for part in path.split("/")[:-1]):
            continue
        try:
            found = os.lstat(os.path.join(root, path))
        except (OSError, ValueError):
            continue
        reason = why_not(path, found)
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
        elif len(files) < MAX_LISTED:
            files.append(Entry(path, found.st_size))
    return Listing(tuple(sorted(files)), skipped, how)
