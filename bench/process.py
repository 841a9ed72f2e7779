"""Whole processes on the clock: started, waited for, and measured from outside.

Wall time lies between `posix_spawn` and `wait4`; memory is the kernel's own highest resident size of that process.
"""

import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PYTHON = sys.executable
# Next to the running interpreter: the installed command itself, as a user starts it.
COMPOZY = str(Path(sys.executable).with_name("compozy"))


class Timing(NamedTuple):
    """One finished process: seconds on the wall and of processor time, MiB at its highest, exit code."""

    seconds: float
    cpu: float
    rss_mib: float
    code: int


def time_process(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Timing:
    """Run the program to its end with its output thrown away."""
    quiet = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    began = time.perf_counter()
    pid = os.posix_spawn(argv[0], list(argv), dict(os.environ if env is None else env), file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - began
    # Linux counts kilobytes here, macOS bytes.
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Timing(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit, os.waitstatus_to_exitcode(status))


class Median(NamedTuple):
    """Median milliseconds of several runs, on the wall and of processor time."""

    wall: float
    cpu: float

    @property
    def note(self) -> str:
        """What to print beside the wall time: far less processor time means that the machine was busy otherwise."""
        return f"processor {self.cpu:.0f} ms"


def median_ms(argv: Sequence[str], *, runs: int, env: Mapping[str, str] | None = None) -> Median:
    """Return the median of several runs; a first one only warms the disk cache.

    Raises:
        RuntimeError: the program failed: its time would say nothing.
    """
    timings = [time_process(argv, env) for _ in range(runs + 1)][1:]
    failed = [timing.code for timing in timings if timing.code != 0]
    if failed:
        raise RuntimeError(f"{' '.join(argv)} ended with {failed[0]}")
    return Median(
        statistics.median(timing.seconds for timing in timings) * 1000,
        statistics.median(timing.cpu for timing in timings) * 1000,
    )


def bare_python(*, runs: int) -> Median:
    """Return what the interpreter alone costs."""
    return median_ms([PYTHON, "-c", "pass"], runs=runs)


def resident_mib(pid: int) -> float:
    """Return a running process's resident memory now (Linux)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1024 * 1024)


def cpu_seconds(pid: int) -> float:
    """Return the processor time a running process has used so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
