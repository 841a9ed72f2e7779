"""Which processes still live that a test started: found by a marker in their environment, whoever their parent is."""

import time
from pathlib import Path


def living_with(marker: str) -> list[str]:
    """Return `pid command` of every process whose environment holds the marker; zombies hold none."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if marker.encode() in (entry / "environ").read_bytes():
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(f"{entry.name} {command.strip()}")
        except OSError:
            continue
    return found


def left_after(marker: str, seconds: float = 60.0) -> list[str]:
    """Wait until none is left, at most `seconds`, and return what still lives."""
    end = time.monotonic() + seconds
    while (left := living_with(marker)) and time.monotonic() < end:
        time.sleep(0.05)
    return left
