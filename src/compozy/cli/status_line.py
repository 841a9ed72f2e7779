"""One moving line at the bottom of a terminal: what goes on, and for how long. Nothing at all elsewhere."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from compozy.cli.wording import write_duration

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_ERASE = "\r\x1b[K"
# Anything that ends sooner needs no status line: it would only flicker.
_QUIET_SECONDS = 1.0


class StatusLine:
    """A status line on standard error; `enabled` is False wherever it is not a terminal for a person."""

    def __init__(self, *, enabled: bool, activity: str = "starting") -> None:
        self.enabled = enabled and os.environ.get("TERM", "") != "dumb"
        self.activity = activity
        self.suffix = ""
        self.started = time.monotonic()
        self._shown = False
        self._turn = 0

    def draw(self) -> None:
        """Draw the next frame, once the work has lasted longer than a second."""
        elapsed = time.monotonic() - self.started
        if not self.enabled or elapsed < _QUIET_SECONDS:
            return
        encoding = (sys.stderr.encoding or "").lower().replace("-", "")
        frames = _FRAMES if encoding == "utf8" else _PLAIN_FRAMES
        self._turn = (self._turn + 1) % len(frames)
        text = f"{frames[self._turn]} {self.activity} · {write_duration(elapsed)}{self.suffix}"
        columns = shutil.get_terminal_size().columns
        sys.stderr.write(_ERASE + text[: max(10, columns - 1)])
        sys.stderr.flush()
        self._shown = True

    @contextmanager
    def moving(self) -> Iterator[None]:
        """Keep the line moving while the caller waits for something that cannot be interrupted."""
        if not self.enabled:
            yield
            return
        done = threading.Event()

        def move() -> None:
            while not done.wait(0.1):
                self.draw()

        mover = threading.Thread(target=move, daemon=True)
        mover.start()
        try:
            yield
        finally:
            done.set()
            mover.join()
            self.hide()

    def hide(self) -> None:
        """Erase the line, so that something else can be written."""
        if self._shown:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
            self._shown = False
