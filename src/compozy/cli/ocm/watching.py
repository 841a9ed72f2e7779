"""`--watch`: run again when one of the named files changes, until Ctrl-C (issue 8 item 4).

Looks twice a second at names, sizes and times; knows nothing of what is run.
"""

import os
import time
from collections.abc import Callable, Sequence

from compozy.ocm.problems import Problem
from compozy.ocm.sources import find_sources

_PAUSE = 0.5


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Run now and after each change; Ctrl-C ends it as it ends every command."""
    seen: object = None
    while True:
        now = _state(paths)
        if now != seen:
            seen = now
            run()
        time.sleep(_PAUSE)


def _state(paths: Sequence[str]) -> list[tuple[str, int, int]]:
    found = []
    for source in find_sources(paths):
        if isinstance(source, Problem):
            continue
        try:
            state = os.stat(source.path)  # noqa: PTH116 - text paths throughout
        except OSError:
            continue
        found.append((source.path, state.st_mtime_ns, state.st_size))
    return found
