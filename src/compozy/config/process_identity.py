"""Who a process is: its pid together with its start time, so that a reused pid is never taken for ours (P64).

The one reader of the system's process table: /proc where there is one, else `ps`. Sends no signals; which processes
belong to an agent is `acp/processes.py`.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
HAS_PROC = sys.platform == "linux"


@dataclass(frozen=True, kw_only=True)
class ProcessRow:
    """One row of the process table. `start_time` is an opaque text that stays the same for one process's life;
    `memory` is its resident memory in bytes."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    start_time: str
    memory: int = 0
    name: str = ""

    @property
    def is_zombie(self) -> bool:
        return self.state in ("Z", "X")


def start_time(pid: int) -> str:
    """Return the start time of a process, "" when it is gone or a zombie."""
    row = read_row(pid) if pid > 0 else None
    return "" if row is None or row.is_zombie else row.start_time


def is_same_process(pid: int, started: str) -> bool:
    """Whether the process that had this pid and start time still runs."""
    return bool(started) and start_time(pid) == started


def own_start_time() -> str:
    """Return the start time of this process."""
    return start_time(os.getpid())


def read_row(pid: int, boot: str = "") -> ProcessRow | None:
    """Return the process with this pid, None when there is none; `boot` saves reading `boot_id` again."""
    if not HAS_PROC:
        return next((row for row in _ps_rows(["-p", str(pid)]) if row.pid == pid), None)
    try:
        return parse_stat(pid, (_PROC / str(pid) / "stat").read_bytes(), boot or boot_id())
    except (OSError, ValueError, IndexError):
        return None


def read_rows() -> list[ProcessRow]:
    """Return every process, zombies included."""
    if not HAS_PROC:
        return _ps_rows(["-ax"])
    boot = boot_id()
    names = os.listdir(_PROC)  # noqa: PTH208 - thousands of names, no Path objects
    return [row for name in names if name.isdigit() and (row := read_row(int(name), boot)) is not None]


def boot_id() -> str:
    """Tell one boot of the machine from another: ticks since boot repeat, this id does not."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    except OSError:
        return "-"


def parse_stat(pid: int, stat: bytes, boot: str) -> ProcessRow:
    """Read one `/proc/PID/stat`. The name in brackets may hold spaces and brackets: read behind the last one.

    Raises:
        ValueError, IndexError: it is none.
    """
    end = stat.rindex(b")")
    fields = stat[end + 2 :].split()
    return ProcessRow(
        pid=pid,
        state=fields[0].decode(),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        start_time=f"{boot}:{fields[19].decode()}",
        memory=int(fields[21]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 21 else 0,
        name=stat[stat.index(b"(") + 1 : end].decode("utf-8", "replace"),
    )


def _ps_rows(selection: Sequence[str]) -> list[ProcessRow]:
    import subprocess  # noqa: PLC0415 - start-up cost

    command = ["ps", *selection, "-o", "pid=,ppid=,pgid=,stat=,rss=,lstart="]
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    found: list[ProcessRow] = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 6:
            continue
        pid, parent, group, state, memory = fields[:5]
        found.append(
            ProcessRow(
                pid=int(pid),
                parent=int(parent),
                group=int(group),
                session=0,
                state=state[:1],
                start_time=" ".join(fields[5:]),
                memory=int(memory) * 1024,
            )
        )
    return found
