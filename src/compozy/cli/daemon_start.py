"""A connection for commands that may start the daemon themselves, as `run` does (issue 2 item 8)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from compozy.cli.connection import connected
from compozy.cli.invocation import Invocation
from compozy.cli.output import note
from compozy.cli.status_line import StatusLine

if TYPE_CHECKING:
    from compozy.client.typed import Client


@contextmanager
def connected_or_started(invocation: Invocation) -> Iterator["Client"]:
    """Connect to the daemon of this home, starting one in the background when none runs.

    Raises:
        StartFailed: it could not be started, with the daemon's own reason.
    """
    from compozy.daemon import control  # noqa: PLC0415 - start-up cost

    if not control.is_running(invocation.home):
        note(invocation, f"starting the daemon for {invocation.home.root} (stop it with: compozy daemon stop)")
        with StatusLine(
            enabled=invocation.has_live_notes, tells=invocation.is_human, activity="starting the daemon"
        ).moving():
            control.start_detached(invocation.home, if_running="use")
    with connected(invocation) as client:
        yield client


def is_still_running(invocation: Invocation) -> bool:
    """Whether the daemon outlived a connection that broke off; a process that is ending gets a second to be gone."""
    from compozy.daemon import control  # noqa: PLC0415 - start-up cost

    for _ in range(20):
        if not control.is_running(invocation.home):
            return False
        time.sleep(0.05)
    return True
