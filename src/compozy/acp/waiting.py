"""Waiting for events for a bounded time, also in a task that is being cancelled: what ends a process must go on.

`asyncio.timeout` is not used for it: in early releases of Python 3.11 (Debian's 3.11.2) its end in a cancelled task
is a second cancellation.
"""

import asyncio
from collections.abc import Sequence


async def wait_any(events: Sequence[asyncio.Event], timeout: float | None) -> bool:
    """Wait until one of the events is set, at most `timeout` seconds; say whether one is."""
    if not any(event.is_set() for event in events):
        waiting = [asyncio.ensure_future(event.wait()) for event in events]
        try:
            await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()
    return any(event.is_set() for event in events)
