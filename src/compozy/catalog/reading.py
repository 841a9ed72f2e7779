"""Reading agent folders again only when they changed: file identity, and content in doubt (formats §12).

A folder counts as unchanged while it and every file read from it keep device, inode, size, modification and change
time. A file touched so shortly before it was read that a later change could carry the same times is compared by its
content. Knows nothing of order or shadowing.
"""

import errno
import hashlib
import os
import stat
import time
from pathlib import Path

import msgspec

from compozy.documents.agents import AGENT_FILE, AgentReport, check_agent_folder
from compozy.documents.capabilities import FOLDER as CATALOG_FOLDER
from compozy.documents.files import FileProblem, open_child_folder, read_file, stamp
from compozy.documents.names import is_reserved
from compozy.documents.sidecars import FileStamp, file_diagnostic

_Identity = tuple[int, int, int, int, int]
# Kernels stamp files with the time of the last tick (10 ms at most); file systems without fractions with seconds.
_TICK_NS = 100_000_000
_SECOND_NS = 1_000_000_000
_COARSE_NS = 2_500_000_000
# What such a report says can change without any file that was read changing.
_NOT_KEPT = frozenset(
    {"symlink-rejected", "unreadable", "not-regular-file", "not-directory", "file-too-large", "not-found"}
)


class KeptReport(msgspec.Struct):
    """One folder's report with what it rests on; `young` while a change could hide behind equal times."""

    report: AgentReport
    folder: _Identity
    files: tuple[FileStamp, ...]
    young: bool


class AgentReader:
    """Reads agent folders and keeps their reports until something in them changes.

    Not for concurrent use: one look at a time.
    """

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, KeptReport]] = {}
        self._listed: dict[str, list[str]] = {}
        self._versions: dict[str, int] = {}
        self.parsed = 0
        """How many folders were parsed so far: what tests and the benchmark look at."""

    def read(self, root_handle: int, root: Path, name: str) -> AgentReport | None:
        """The report of one entry of an agents folder; None when it is no agent folder."""
        try:
            state = os.stat(name, dir_fd=root_handle, follow_symlinks=False)
        except OSError:
            return None
        if not stat.S_ISDIR(state.st_mode):
            return None
        shelf = self._kept.setdefault(str(root), {})
        kept = shelf.get(name)
        if kept is not None and stamp(state) == kept.folder and _same_files(root_handle, name, kept):
            return kept.report
        if shelf.pop(name, None) is not None:
            self._count(root)
        return self._read(root_handle, root, name, shelf)

    def is_current(self, folder: Path) -> bool:
        """Whether an agent folder still has the times it was read with; one that was not kept counts as current.

        A cheap look at one agent between two looks at everything: it may be called while another thread reads.
        """
        kept = self._kept.get(str(folder.parent), {}).get(folder.name)
        if kept is None:
            return True
        try:
            if stamp(folder.lstat()) != kept.folder:
                return False
            return all(stamp((folder / file.name).lstat()) == file.identity for file in kept.files)
        except OSError:
            return False

    def kept(self) -> dict[str, dict[str, KeptReport]]:
        """Return a copy of what is kept about roots that were looked at, by root and folder."""
        return {root: dict(self._kept.get(root, {})) for root in self._listed}

    def restore(self, shelves: dict[str, dict[str, KeptReport]]) -> None:
        """Take over what an earlier reader kept, for roots this one has not looked at."""
        for root, shelf in shelves.items():
            self._kept.setdefault(root, shelf)

    def version(self, root: str) -> int:
        """Counts what changed below a root since the beginning: equal versions, equal reports."""
        return self._versions.get(root, 0)

    def _count(self, root: Path) -> None:
        self._versions[str(root)] = self.version(str(root)) + 1

    def is_unchanged(self, root_handle: int, root: Path) -> bool:
        """Whether a root lists the same names as at the last look and every kept folder is as it was.

        Half the price of a look. Where something could not be kept the answer is no.
        """
        names = self._listed.get(str(root))
        shelf = self._kept.get(str(root), {})
        if names is None or sorted(os.listdir(root_handle), key=os.fsencode) != names:
            return False
        for name in names:
            kept = shelf.get(name)
            if kept is None:
                if is_reserved(name) or self.read(root_handle, root, name) is not None:
                    return False
                continue
            try:
                state = os.stat(name, dir_fd=root_handle, follow_symlinks=False)
            except OSError:
                return False
            if stamp(state) != kept.folder or not _same_files(root_handle, name, kept):
                return False
        return True

    def forget_missing(self, root: Path, names: list[str]) -> None:
        """Drop what was kept about folders of `root` that are not among `names`, which are now what it lists."""
        if self._listed.get(str(root)) != names:
            self._count(root)
        self._listed[str(root)] = names
        shelf = self._kept.get(str(root))
        if shelf and len(shelf) > len(names):
            for gone in set(shelf).difference(names):
                del shelf[gone]

    def _read(self, root_handle: int, root: Path, name: str, shelf: dict[str, KeptReport]) -> AgentReport | None:
        try:
            handle = open_child_folder(root_handle, name, "open agent directory", str(root / name))
        except FileProblem as problem:
            return AgentReport(loaded=None, diagnostics=(file_diagnostic(problem),))
        try:
            if not _has_definition(handle):
                return None
            started = time.time_ns()
            before = stamp(os.fstat(handle))
            report = check_agent_folder(handle, root / name / AGENT_FILE)
            self.parsed += 1
            self._count(root)
            if before == stamp(os.fstat(handle)) and not any(d.code in _NOT_KEPT for d in report.diagnostics):
                shelf[name] = KeptReport(report, before, report.stamps, _is_young(before, report.stamps, started))
            return report
        finally:
            os.close(handle)


def _has_definition(handle: int) -> bool:
    """Whether AGENT.md is there; a dangling link counts as absent (formats §12)."""
    try:
        os.stat(AGENT_FILE, dir_fd=handle)
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ELOOP)
    return True


def _same_files(root_handle: int, name: str, kept: KeptReport) -> bool:
    for file in kept.files:
        try:
            state = os.stat(f"{name}/{file.name}", dir_fd=root_handle, follow_symlinks=False)
        except OSError:
            return False
        if stamp(state) != file.identity:
            return False
    return not kept.young or _same_contents(root_handle, name, kept)


def _same_contents(root_handle: int, name: str, kept: KeptReport) -> bool:
    """Compare what young files hold; once they are old enough, their times will do."""
    started = time.time_ns()
    for file in kept.files:
        if file.name == CATALOG_FOLDER:
            continue
        try:
            data, _ = read_file(root_handle, f"{name}/{file.name}", "read agent file", file.name)
        except FileProblem:
            return False
        if hashlib.sha256(data).digest() != file.content:
            return False
    kept.young = _is_young(kept.folder, kept.files, started)
    return True


def _is_young(folder: _Identity, files: tuple[FileStamp, ...], now: int) -> bool:
    """Whether one of the times is so close to `now` that a change to come could carry it too."""
    for _, _, _, modified, changed in (folder, *(file.identity for file in files)):
        newest = max(modified, changed)
        window = _TICK_NS if newest % _SECOND_NS else _COARSE_NS
        if newest > now - window:
            return True
    return False
