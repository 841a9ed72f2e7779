"""Who a process is: its pid together with its start time, so that a reused pid is never taken for ours (P64).

Reads /proc where there is one, else asks `ps`. Sends no signals.
"""

import os
from pathlib import Path

_PROC = Path("/proc")


def start_time(pid: int) -> str:
    """Return an opaque text that stays the same for one process's life, "" when it is gone or a zombie."""
    if pid <= 0:
        return ""
    return _from_proc(pid) if _PROC.is_dir() else _from_ps(pid)


def is_same_process(pid: int, started: str) -> bool:
    """Whether the process that had this pid and start time still runs."""
    return bool(started) and start_time(pid) == started


def own_start_time() -> str:
    """Return the start time of this process."""
    return start_time(os.getpid())


def _from_proc(pid: int) -> str:
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The name in parentheses may contain anything; the fields after it may not.
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in "ZX":
        return ""
    return f"{_boot_id()}:{fields[19]}"


def _boot_id() -> str:
    """Tell one boot of the machine from another: ticks since boot repeat, this id does not."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8]
    except OSError:
        return "-"


def _from_ps(pid: int) -> str:
    import subprocess  # noqa: PLC0415 - start-up cost

    try:
        answer = subprocess.run(
            ["ps", "-o", "state=,lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    state, _, started = answer.stdout.strip().partition(" ")
    return "" if not state or state.startswith("Z") else " ".join(started.split())
