"""A connection for commands that may start the daemon themselves, as `run` does (issue 2 item 8)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from compozy.cli.connection import connected
from compozy.cli.invocation import Invocation
from compozy.cli.output import note

if TYPE_CHECKING:
    from compozy.client import DaemonClient


@contextmanager
def connected_or_started(invocation: Invocation) -> Iterator["DaemonClient"]:
    """Connect to the daemon of this home, starting one in the background when none runs.

    Raises:
        StartFailed: it could not be started, with the daemon's own reason.
    """
    from compozy.daemon import control  # noqa: PLC0415 - start-up cost

    if not control.is_running(invocation.home):
        note(invocation, f"starting the daemon for {invocation.home.root} (stop it with: compozy daemon stop)")
        control.start_detached(invocation.home, if_running="use")
    with connected(invocation) as client:
        yield client
