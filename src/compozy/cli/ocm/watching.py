"""`--watch`: run again when one of the named files changes, until Ctrl-C (issue 8 item 4).

Looks twice a second at names, sizes and times; knows nothing of what is run. A run that fails is told, and the next
change gets its run all the same.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence

import click

from compozy.cli.failures import describe
from compozy.cli.output import clean
from compozy.model.errors import CompozyError
from compozy.ocm.problems import Problem
from compozy.ocm.sources import STDIN, find_sources

_PAUSE = 0.5


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Run now and after each change; Ctrl-C ends it as it ends every command.

    Raises:
        click.UsageError: nothing was named, or standard input, which never changes.
    """
    if not paths or STDIN in paths:
        raise click.UsageError("--watch needs files, folders or globs to look at")
    seen: object = None
    while True:
        now = _state(paths)
        if now != seen:
            seen = now
            _run(run)
        time.sleep(_PAUSE)


def _run(run: Callable[[], int]) -> None:
    try:
        run()
    except click.UsageError:
        raise
    except BrokenPipeError:
        raise
    except (click.ClickException, CompozyError, OSError) as error:
        sys.stdout.flush()
        sys.stderr.write(clean(f"error: {describe(error).message}") + "\n")
        sys.stderr.flush()
    # Whoever reads a pipe wants each run when it is done.
    sys.stdout.flush()


def _state(paths: Sequence[str]) -> list[tuple[str, int, int, int]]:
    found = []
    for source in find_sources(paths):
        if isinstance(source, Problem):
            continue
        try:
            state = os.stat(source.path)  # noqa: PTH116 - text paths throughout
        except OSError:
            continue
        # The change time cannot be set: a file put in place of another with its old time is a change too.
        found.append((source.path, state.st_mtime_ns, state.st_ctime_ns, state.st_size))
    return found
