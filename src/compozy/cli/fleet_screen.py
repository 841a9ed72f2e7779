"""A table that fills the terminal and stays current; the terminal is as it was before when it ends, however it ends.

Uses the alternate screen, so that nothing of the scrollback is touched. Quits with q, Escape or Ctrl-C; j, k and the
arrows scroll; Ctrl-Z puts it aside. Knows rows of text, nothing of sessions.
"""

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType

from rich.cells import cell_len, set_cell_size

from compozy.cli.fleet_rows import TITLES, Row

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_TOP, _LINE_END, _SCREEN_END = "\x1b[H", "\x1b[K", "\x1b[J"
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_COLOURS = {
    "waiting-for-auth": "\x1b[33m",
    "waiting-for-input": "\x1b[33m",
    "failed": "\x1b[31m",
    "hung": "\x1b[31m",
    "unhealthy": "\x1b[31m",
    "running": "\x1b[32m",
    "done": "\x1b[36m",
    "stopped": "\x1b[2m",
}
# Titles above, one line of counts below.
_FRAME_LINES = 2
# What a column may take before the last one gets the rest; the order is that of TITLES.
_WIDEST = (32, 18, 17, 8, 34, 8)
_KEYS = {b"q": "quit", b"Q": "quit", b"\x1b": "quit", b"\x03": "quit", b"\x04": "quit"}
_KEYS |= {b"j": "down", b"\x1b[B": "down", b"k": "up", b"\x1b[A": "up", b" ": "page"}


class Hangup(SystemExit):
    """The terminal went away, or the program was told to end."""


class FleetScreen:
    """The live table. Use it as a context manager."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour
        self._fd = sys.stdin.fileno()
        self._out = sys.stdout.fileno()
        self._before: list[object] = []
        self._handlers: dict[int, object] = {}
        self._first = 0
        self._drawn: tuple[object, ...] = ()

    def __enter__(self) -> "FleetScreen":
        self._before = termios.tcgetattr(self._fd)
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._handlers[number] = signal.signal(number, _end)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._put_aside)
        self._take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type] # what signal.signal returned

    def _take(self) -> None:
        tty.setcbreak(self._fd)
        self._write(_ENTER)
        self._drawn = ()

    def _give_back(self) -> None:
        # A terminal that is gone cannot be put right, and needs no putting right.
        try:
            self._write(_LEAVE)
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]
        except (OSError, termios.error):
            return

    def _put_aside(self, number: int, frame: FrameType | None) -> None:
        self._give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        # Here again after `fg`.
        signal.signal(signal.SIGTSTP, self._put_aside)
        self._take()

    def _write(self, text: str) -> None:
        data = text.encode(sys.stdout.encoding or "utf-8", "replace")
        while data:
            data = data[os.write(self._out, data) :]

    def size(self) -> tuple[int, int]:
        """Return columns and lines as they are now."""
        try:
            columns, lines = os.get_terminal_size(self._out)
        except OSError:
            columns, lines = 0, 0
        return columns or 80, lines or 24

    def draw(self, rows: Sequence[Row], footer: str) -> None:
        """Show the rows; nothing is written when the screen says it already."""
        columns, lines = self.size()
        room = max(1, lines - _FRAME_LINES)
        self._first = max(0, min(self._first, len(rows) - room))
        shown = tuple(rows[self._first : self._first + room])
        what = (columns, lines, shown, footer, len(rows))
        if what == self._drawn:
            return
        self._drawn = what
        hidden = len(rows) - len(shown)
        if hidden:
            footer = f"{footer} · {hidden} more (j, k)"
        widths = _widths(rows, columns)
        text = [_TOP, self._styled(_BOLD, _cut(TITLES, widths, columns)), _LINE_END]
        for row in shown:
            text += ["\r\n", self._styled(_COLOURS.get(row.badge, ""), _cut(row.cells, widths, columns)), _LINE_END]
        text += ["\r\n", _SCREEN_END]
        text += [f"\x1b[{lines};1H", self._styled("\x1b[2m", _fit(f"{footer} · q quits", columns - 1)), _LINE_END]
        self._write("".join(text))

    def _styled(self, style: str, text: str) -> str:
        return f"{style}{text}{_PLAIN}" if style and self._colour else text

    def typed(self) -> Iterator[str]:
        """Yield what was typed since the last look: `quit`, `up`, `down`, `page`; scrolls by itself."""
        while select.select([self._fd], [], [], 0)[0]:
            data = os.read(self._fd, 64)
            if not data:
                raise Hangup(0)
            for name in _names(data):
                self._scroll(name)
                yield name

    def _scroll(self, name: str) -> None:
        page = max(1, self.size()[1] - _FRAME_LINES)
        self._first += {"down": 1, "up": -1, "page": page}.get(name, 0)
        self._first = max(0, self._first)


def _end(number: int, frame: FrameType | None) -> None:
    raise Hangup(128 + number)


def _names(data: bytes) -> Iterator[str]:
    while data:
        key = next((k for k in (data[:3], data[:1]) if k in _KEYS), b"")
        if data.startswith(b"\x1b") and len(data) > 1 and data[:3] not in _KEYS:
            # A key we do not know: the rest of its sequence is no key either.
            return
        if key:
            yield _KEYS[key]
        data = data[len(key) or 1 :]


def _widths(rows: Sequence[Row], columns: int) -> list[int]:
    """Return the widths of all columns but the last, which takes what is left."""
    longest = [cell_len(title) for title in TITLES[:-1]]
    for row in rows:
        for index, cell in enumerate(row.cells[:-1]):
            longest[index] = max(longest[index], cell_len(cell))
    return [min(long, most) for long, most in zip(longest, _WIDEST, strict=True)]


def _cut(cells: Sequence[str], widths: Sequence[int], columns: int) -> str:
    parts = [_fit(cell, width) for cell, width in zip(cells, widths, strict=False)]
    padded = [set_cell_size(part, width) for part, width in zip(parts, widths, strict=True)]
    return _fit("  ".join([*padded, cells[-1]]).rstrip(), columns - 1)


def _fit(text: str, width: int) -> str:
    """Cut text to a number of terminal columns, with a sign that something is missing."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…" if width > 0 else ""


@contextmanager
def screen(*, colour: bool) -> Iterator[FleetScreen]:
    """Open the live table; the terminal is given back in every case."""
    with FleetScreen(colour=colour) as opened:
        yield opened
