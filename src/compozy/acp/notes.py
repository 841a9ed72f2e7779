"""Diagnostics about the wire, bounded: an agent that prints for ever costs a fixed number of notes.

Knows nothing of what the notes mean. Notes are handed on by one task in the order they were taken; reports P51.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable

# More of one kind says nothing new, and each note is stored.
MOST_PER_KIND = 200
MOST_CHARACTERS = 2000

_log = logging.getLogger(__name__)


class Notes:
    """Collect notes without blocking and pass them to `deliver` one after the other."""

    def __init__(self, deliver: Callable[[str, str], Awaitable[None]]) -> None:
        self._deliver = deliver
        self._counts: Counter[str] = Counter()
        self._waiting: deque[tuple[str, str]] = deque()
        self._task: asyncio.Task[None] | None = None
        self.last_noise = ""
        """The latest line that was no message: often the reason why a program ended."""

    def take(self, kind: str, text: str) -> None:
        """Take one note; from the 201st of a kind on it is only counted."""
        if kind == "stdout_noise":
            self.last_noise = text[:MOST_CHARACTERS]
        self._counts[kind] += 1
        if self._counts[kind] > MOST_PER_KIND:
            return
        if self._counts[kind] == MOST_PER_KIND:
            text = f"{text[: MOST_CHARACTERS - 60]} (further notes of this kind are not recorded)"
        self._waiting.append((kind, text[:MOST_CHARACTERS]))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work())

    def count(self, kind: str) -> int:
        """Return how often a kind was seen, also beyond what was recorded."""
        return self._counts[kind]

    async def drain(self, timeout: float) -> None:
        """Wait until every note was handed on, at most `timeout` seconds."""
        if self._task is not None:
            _, late = await asyncio.wait([self._task], timeout=timeout)
            for task in late:
                task.cancel()

    async def _work(self) -> None:
        try:
            while self._waiting:
                kind, text = self._waiting.popleft()
                await self._deliver(kind, text)
        except Exception:  # noqa: BLE001 - supervisor: losing a note must not end a working session
            _log.exception("an agent diagnostic could not be recorded")
        finally:
            self._task = None
