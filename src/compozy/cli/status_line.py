"""One moving line at the bottom of a terminal: what goes on, and for how long. Elsewhere a person reads a line now
and then while something takes long, a program nothing at all."""

import itertools
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from compozy.cli.wording import write_duration

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_ERASE = "\r\x1b[K"
# Anything that ends sooner needs no status line: it would only flicker.
_QUIET_SECONDS = 1.0
# Where no line can move: when to say that something is still going on, the last step again and again.
_TELL_AFTER = (5.0, 30.0, 60.0)


class StatusLine:
    """A status line on standard error; `enabled` is False wherever it is not a terminal for a person.

    `tells` says that somebody may read standard error later, as of a log.
    """

    def __init__(
        self,
        *,
        enabled: bool,
        activity: str = "starting",
        tells: bool = False,
        tell_after: Sequence[float] = _TELL_AFTER,
    ) -> None:
        self.enabled = enabled and os.environ.get("TERM", "") != "dumb"
        self.tells = tells and not self.enabled
        self.activity = activity
        self.tell_after = tell_after
        self.suffix = ""
        self.explain: Callable[[], str] = str
        """What a person should know who waits long; asked for only then."""
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
        text += self.explain() if elapsed >= self.tell_after[0] else ""
        columns = shutil.get_terminal_size().columns
        sys.stderr.write(_ERASE + text[: max(10, columns - 1)])
        sys.stderr.flush()
        self._shown = True

    @contextmanager
    def moving(self) -> Iterator[None]:
        """Keep the line moving while the caller waits for something that cannot be interrupted."""
        if not (self.enabled or self.tells):
            yield
            return
        done = threading.Event()
        mover = threading.Thread(target=self._move if self.enabled else self._tell, args=(done,), daemon=True)
        mover.start()
        try:
            yield
        finally:
            done.set()
            mover.join()
            self.hide()

    def _move(self, done: threading.Event) -> None:
        while not done.wait(0.1):
            self.draw()

    def _tell(self, done: threading.Event) -> None:
        for pause in itertools.chain(self.tell_after, itertools.repeat(self.tell_after[-1])):
            if done.wait(pause):
                return
            sys.stderr.write(
                f"still {self.activity} · {write_duration(time.monotonic() - self.started)}{self.explain()}\n"
            )
            sys.stderr.flush()

    def hide(self) -> None:
        """Erase the line, so that something else can be written."""
        if self._shown:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
            self._shown = False
