"""Ctrl-C during a turn: the first press asks to cancel, the second leaves at once (decisions D30: 130)."""

import signal
from types import FrameType, TracebackType


class LeaveNow(BaseException):
    """The person pressed Ctrl-C again: end this program, let the turn go on."""


class Interrupts:
    """Counts presses while it is entered. Before `is_streaming` is set, the first press already raises."""

    def __init__(self) -> None:
        self.count = 0
        self.is_streaming = False
        self._previous: object = None

    def __enter__(self) -> "Interrupts":
        self._previous = signal.signal(signal.SIGINT, self._pressed)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._previous)  # type: ignore[arg-type] # what signal.signal returned

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count > 1:
            raise LeaveNow
        if not self.is_streaming:
            raise KeyboardInterrupt
