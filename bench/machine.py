"""The machine the figures belong to, in one line."""

import os
import platform
import sqlite3
from pathlib import Path


def describe_machine() -> str:
    """Return processor, cores, memory, kernel, Python and SQLite. No host name, no paths."""
    return (
        f"{_processor()}, {os.cpu_count()} cores, {_memory_gib():.0f} GiB · "
        f"{platform.system()} {platform.release()} · "
        f"{platform.python_implementation()} {platform.python_version()} · SQLite {sqlite3.sqlite_version}"
    )


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
