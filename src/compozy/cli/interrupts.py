"""Ctrl-C during a turn: the first press asks to cancel, the second leaves at once (decisions D30: 130).

SIGTERM, as `timeout` and service managers send it, means the same.
"""

import signal
from types import FrameType, TracebackType


class LeaveNow(BaseException):
    """The person pressed Ctrl-C again: end this program, let the turn go on."""


class Interrupts:
    """Counts presses while it is entered. Before `is_streaming` is set, the first press already raises."""

    def __init__(self) -> None:
        self.count = 0
        self.is_streaming = False
        self._previous: list[tuple[int, object]] = []

    def __enter__(self) -> "Interrupts":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous.append((number, signal.signal(number, self._pressed)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous:
            signal.signal(number, handler)  # type: ignore[arg-type] # what signal.signal returned

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count > 1:
            raise LeaveNow
        if not self.is_streaming:
            raise KeyboardInterrupt
