"""Staying with the daemon: says when the list of sessions may have changed, and goes on over a restart.

Knows nothing of what is shown. A burst of changes is one change; a lost daemon is looked for again for a while.
"""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from compozy.client.typed import Client

Change = Literal["changed", "tick", "lost"]
# While changes keep coming, they are reported this often.
_AT_MOST_EVERY = 0.5
# A daemon that restarts is back within seconds.
_PATIENCE = 30.0
_PAUSE = 0.25
_ENDING = 503


def changes(client: "Client", look: Callable[[], None], *, tick: float) -> Iterator[Change]:
    """Yield `changed` at once and after changes, `tick` while it is quiet, `lost` while no daemon answers.

    Args:
        look: reads what is shown; called before each `changed`.
        tick: seconds.

    Raises:
        DaemonUnreachable, ConnectionLost: no daemon answered for half a minute.
        ApiError: the daemon refuses what `look` asks.
    """
    from compozy.client.errors import ApiError, ConnectionLost, DaemonUnreachable  # noqa: PLC0415 - start-up cost

    lost_at = 0.0
    while True:
        try:
            for change in _connected(client, tick):
                if change == "changed":
                    look()
                    lost_at = 0.0
                yield change
        except (ConnectionLost, DaemonUnreachable, ApiError) as error:
            # A daemon that is ending answers 503.
            is_refusal = isinstance(error, ApiError) and error.status != _ENDING
            if is_refusal or (lost_at and time.monotonic() - lost_at > _PATIENCE):
                raise
        lost_at = lost_at or time.monotonic()
        yield "lost"
        time.sleep(_PAUSE)


def _connected(client: "Client", tick: float) -> Iterator[Change]:
    with client.attention.follow(tick=tick) as stream:
        # After the stream is open, so that nothing between a look and the stream is missed.
        yield "changed"
        is_dirty, looked_at = False, time.monotonic()
        for change in stream:
            is_dirty = is_dirty or change is not None
            if is_dirty and (change is None or time.monotonic() - looked_at >= _AT_MOST_EVERY):
                is_dirty, looked_at = False, time.monotonic()
                yield "changed"
            else:
                yield "tick"
