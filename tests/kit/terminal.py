"""Runs a program on a pseudo-terminal, so that tests see and type what a person would. Every wait is bounded."""

import errno
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# Generous: a busy machine may be slow; normally things take milliseconds.
PATIENCE = 60.0
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A program whose standard input, output and error are one terminal of 100 columns."""

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> None:
        self._master, slave = pty.openpty()
        self.untouched = self.attributes()
        self.raw = ""
        self._seen = 0
        environment = {**env, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
        try:
            self.process = subprocess.Popen(
                argv,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env=environment,
                cwd=cwd,
                start_new_session=True,
                preexec_fn=_take_terminal,
            )
        finally:
            os.close(slave)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self._master)

    def attributes(self) -> list[object]:
        """Return the terminal's settings; `untouched` are those that the program found."""
        return list(termios.tcgetattr(self._master))

    @property
    def text(self) -> str:
        """Return everything shown so far, without escape sequences and with plain line ends."""
        return _ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def wait_for(self, wanted: str) -> str:
        """Read until the text appears behind what was waited for before; return everything shown."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.text.find(wanted, self._seen)) < 0:
            if not self._read(deadline):
                raise AssertionError(f"{wanted!r} never appeared in:\n{self.text}")
        self._seen = found + len(wanted)
        return self.text

    def type(self, text: str) -> None:
        """Type keys."""
        os.write(self._master, text.encode())

    def press_ctrl_c(self) -> None:
        """Send what the keyboard sends."""
        self.type("\x03")

    def wait_exit(self) -> int:
        """Read to the end and return the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        return self.process.wait(max(0.1, deadline - time.monotonic()))

    def _read(self, deadline: float) -> bool:
        """Read what is there; False at the end or when time is up."""
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self._master], [], [], left)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            # Linux says EIO when the last holder of the terminal is gone.
            data = b""
        self.raw += data.decode("utf-8", "replace")
        return bool(data)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
