"""Real daemons for tests: a home of its own, a free port, a short life. Everything started here is ended here.

`Daemon(home)` starts `python -m compozy.daemon` through the product's own `control`, as the command line does.
"""

import fcntl
import functools
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from compozy.client import DaemonClient, connect, connect_tcp
from compozy.config.daemon_record import DaemonRecord
from compozy.config.home import Home
from compozy.config.process_identity import is_same_process
from compozy.daemon import control

# Generous: the machine may be very busy; a start takes well under a second.
PATIENCE = 60.0


# Below those that the system gives to connections and to whoever asks for any port.
_PORTS = range(20_000, 32_000)


@functools.cache
def _reservations() -> tuple[int, Iterator[int]]:
    path = Path(tempfile.gettempdir()) / f"compozy-test-ports-{os.getuid()}"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), iter(_PORTS)


def free_port() -> int:
    """Return a TCP port that nobody listens on and that no test is given as long as this process lives.

    What the system gives for port 0 is free at that moment only: another process may have it before a daemon starts.
    """
    held, ports = _reservations()
    for port in ports:
        try:
            fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise AssertionError(f"no port in {_PORTS} is free")


def make_home(root: Path, *, config: str = "", http: bool = True) -> Home:
    """Create a home whose daemon listens on a free port (or on the socket only) and uses the offline agent.

    Sessions are not given names, which would start agents that a test did not ask for.
    """
    home = Home(root)
    home.root.mkdir(mode=0o700, parents=True)
    address = f"[http]\nport = {free_port()}\n" if http else "[http]\nenabled = false\n"
    quiet = "" if "[roles.auto_title]" in config else "[roles.auto_title]\nenabled = false\n"
    # An agent that dies in a turn is started again; a test need not wait for it.
    soon = "" if "[session.recovery]" in config else '[session.recovery]\ndelays = ["10ms", "20ms", "40ms"]\n'
    home.config_file.write_text(f'{address}[defaults]\nprovider = "offline"\n{quiet}{soon}{config}')
    return home


def clean_environment(home: Home) -> dict[str, str]:
    """Return an environment that leads nowhere but into the test's folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COMPOZY_", "XDG_"))}
    return {**kept, "HOME": str(home.root.parent), "COMPOZY_HOME": str(home.root)}


def wait_until(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Poll a condition with a bound."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain: {what}"
        time.sleep(0.01)


class Daemon:
    """One daemon process."""

    def __init__(self, home: Home, *, extra_environment: dict[str, str] | None = None) -> None:
        self.home = home
        self.environment = {**clean_environment(home), **(extra_environment or {})}
        self.record: DaemonRecord | None = None

    def start(self, *, log_level: str = "") -> "Daemon":
        self.record = control.start_detached(self.home, environ=self.environment, log_level=log_level)
        return self

    @property
    def pid(self) -> int:
        assert self.record is not None, "start it first"
        return self.record.pid

    def is_alive(self) -> bool:
        return self.record is not None and is_same_process(self.record.pid, self.record.process_start)

    def descriptors(self) -> int:
        """Return how many files and sockets it has open."""
        return sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir())

    def client(self) -> DaemonClient:
        """Return a client over the Unix socket."""
        return connect(self.home)

    def tcp_client(self) -> DaemonClient:
        assert self.record is not None
        return connect_tcp(self.record.host, self.record.port)

    def stop(self) -> None:
        control.stop(self.home)

    def kill(self) -> None:
        """End it the hard way and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        wait_until(lambda: not self.is_alive(), "the daemon is gone")

    def end(self) -> None:
        """End it in any case; for fixtures."""
        if self.is_alive():
            os.kill(self.pid, signal.SIGTERM)
            try:
                wait_until(lambda: not self.is_alive(), "the daemon stops")
            except AssertionError:
                self.kill()
                raise
        if self.record is not None:
            try:
                os.waitpid(self.record.pid, os.WNOHANG)
            except ChildProcessError:
                pass
