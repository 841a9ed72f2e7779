"""Starting, stopping and finding the daemon from another process (contract §1.4; P64, P65).

Imports nothing heavy: the command line calls it. Ready means that a request was answered, never that a file exists;
nobody is signalled before pid *and* start time have been compared.
"""

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from compozy.config.daemon_record import DaemonRecord, read_record
from compozy.config.home import Home
from compozy.config.process_identity import is_same_process, start_time
from compozy.daemon.lock import is_locked
from compozy.model.errors import EXIT_GENERIC, LocalError

START_SECONDS = 15.0
STOP_SECONDS = 15.0
# A daemon needs about 0.4 s to be ready; looking more often than this costs it CPU.
_POLL_SECONDS = 0.02
# Marks the process that is the daemon itself; its errors come back on standard error as one JSON line.
CHILD_MARKER = "COMPOZY_INTERNAL_CHILD"
_PROBE = b"GET /api/status/identity HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
_MAX_ANSWER = 64 * 1024
_MAX_ERROR = 64 * 1024


class StartFailed(LocalError):
    """The daemon could not be started; the message is the daemon's own reason."""

    default_code = "daemon_start_failed"


class _OtherWentAway(LocalError):
    """The daemon that was in the way ended before it was ready or while it was stopping: try again."""

    default_code = "daemon_already_running"


class NotRunning(LocalError):
    """There is no daemon to stop."""

    default_code = "daemon_not_running"

    def __init__(self) -> None:
        super().__init__("cli: daemon is not running", exit_code=EXIT_GENERIC)


def running(home: Home) -> DaemonRecord | None:
    """Return the record of the daemon that serves this home now, None when there is none."""
    record = read_record(home.record_file)
    # The lock too: a copied home brings the record of another home's daemon.
    if record is None or not record.is_alive or not is_locked(home.lock_file):
        return None
    return record


def is_running(home: Home) -> bool:
    """Whether a daemon serves this home now."""
    return running(home) is not None


def start_detached(
    home: Home, *, log_level: str = "", if_running: str = "refuse", environ: Mapping[str, str] | None = None
) -> DaemonRecord:
    """Start the daemon in the background and wait until it answers.

    Args:
        log_level: overrides [log] level; "" keeps it.
        if_running: ``refuse`` raises when one runs already, ``use`` returns its record.
        environ: what the daemon's process inherits instead of this one's environment.

    Raises:
        StartFailed: it ended before it was ready, or was not ready within 15 seconds.
        LocalError: a daemon runs already (`daemon_already_running`).
    """
    found = running(home)
    if found is not None:
        return _already(found, if_running)
    deadline = time.monotonic() + START_SECONDS
    while True:
        pid, errors = _spawn(home, log_level, os.environ if environ is None else environ)
        try:
            return _wait_ready(home, pid, errors, if_running)
        except _OtherWentAway as gone:
            # The daemon that held the lock was on its way out.
            if time.monotonic() > deadline:
                raise StartFailed(gone.message, code=gone.code) from gone
        finally:
            os.close(errors)


def stop(home: Home) -> int:
    """Stop the daemon and wait until its process is gone; return its pid.

    Raises:
        NotRunning: none runs; a stranger that has the recorded pid is never signalled.
        LocalError: it did not end within 15 seconds.
    """
    record = running(home)
    if record is None:
        raise NotRunning
    with contextlib.suppress(ProcessLookupError):
        os.kill(record.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while is_same_process(record.pid, record.process_start):
        if time.monotonic() > deadline:
            raise LocalError(
                f"daemon {record.pid} did not stop within {STOP_SECONDS:.0f} s; look at {home.log_file} "
                f"and end it with: kill -9 {record.pid}",
                code="daemon_stop_timeout",
            )
        time.sleep(_POLL_SECONDS)
    return record.pid


def run_foreground(home: Home, *, log_level: str = "") -> None:
    """Be the daemon in this process until it is told to stop; says on standard output where it listens.

    Raises:
        LocalError: see `lifecycle.run_daemon`.
    """
    from compozy.daemon.lifecycle import Ready, run_daemon  # noqa: PLC0415 - start-up cost

    found = running(home)
    if found is not None:
        _already(found, "refuse")

    def announce(ready: Ready) -> None:
        address = f", http://{ready.host}:{ready.port}" if ready.port else ""
        sys.stdout.write(f"compozy daemon {ready.pid} is ready: socket {ready.socket}{address}\n")
        sys.stdout.write(f"log: {home.log_file}\nstop it with Ctrl-C\n")
        sys.stdout.flush()

    run_daemon(home, log_level=log_level, on_ready=announce)


def _already(record: DaemonRecord, if_running: str) -> DaemonRecord:
    if if_running == "use":
        return record
    raise LocalError(f"cli: daemon already running (pid={record.pid})", code="daemon_already_running")


def _spawn(home: Home, log_level: str, base: Mapping[str, str]) -> tuple[int, int]:
    """Start the daemon's process in a session of its own; return its pid and the end of its standard error."""
    read_end, write_end = os.pipe()
    environ = {**base, "COMPOZY_HOME": str(home.root), CHILD_MARKER: "1"}
    # Started by an agent, the daemon must not count as one of its processes: it would be ended with that session.
    environ.pop("COMPOZY_PROCESS_MARKER", None)
    arguments = [sys.executable, "-m", "compozy.daemon", *((log_level,) if log_level else ())]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, write_end, 2),
    ]
    try:
        pid = os.posix_spawn(
            sys.executable,
            arguments,
            environ,
            file_actions=actions,
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE],
        )
    except OSError as error:
        os.close(read_end)
        raise StartFailed(f"cannot start {sys.executable!r}: {error.strerror}; check the installation") from error
    finally:
        os.close(write_end)
    os.set_blocking(read_end, False)
    return pid, read_end


def _wait_ready(home: Home, pid: int, errors: int, if_running: str) -> DaemonRecord:
    deadline = time.monotonic() + START_SECONDS
    said = b""
    while time.monotonic() < deadline:
        ended = _has_ended(pid)
        said += _read_some(errors, 0 if ended else _POLL_SECONDS)
        if ended:
            return _failed(home, said + _read_some(errors, 0), if_running)
        record = read_record(home.record_file)
        if record is not None and record.pid == pid and _answers(record, pid):
            return record
    _end_child(pid)
    raise StartFailed(
        f"the daemon was not ready within {START_SECONDS:.0f} s and was stopped; look at {home.log_file}",
        code="daemon_start_timeout",
    )


def _failed(home: Home, said: bytes, if_running: str) -> DaemonRecord:
    """The child ended: find out why. Another daemon may have been quicker."""
    text = said.decode("utf-8", "replace").strip()
    reason, code, exit_code = _reason(text)
    if code == "daemon_already_running":
        found = _wait_for_other(home)
        if found is None:
            raise _OtherWentAway(reason)
        return _already(found, if_running)
    if not reason:
        reason = f"the daemon ended at once without a reason; look at {home.log_file}"
    raise StartFailed(reason, code=code or None, exit_code=exit_code)


def _reason(text: str) -> tuple[str, str, int]:
    """Read the daemon's last words: one JSON line, or whatever Python printed."""
    last = text.rsplit("\n", 1)[-1]
    try:
        raw: object = json.loads(last)
    except ValueError:
        return (f"the daemon could not start: {last}" if last else ""), "", EXIT_GENERIC
    if not isinstance(raw, dict):
        return f"the daemon could not start: {last}", "", EXIT_GENERIC
    exit_code = raw.get("exit_code")
    return (
        str(raw.get("error", "")),
        str(raw.get("code", "")),
        exit_code if isinstance(exit_code, int) else EXIT_GENERIC,
    )


def _wait_for_other(home: Home) -> DaemonRecord | None:
    """Wait for the daemon that won the race to be ready; None once nobody holds the lock any more."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        record = running(home)
        if record is not None and _answers(record, record.pid):
            return record
        if not is_locked(home.lock_file):
            return None
        time.sleep(_POLL_SECONDS)
    return None


def _answers(record: DaemonRecord, pid: int) -> bool:
    """Whether the socket of the record answers a request, and with that pid."""
    answer = _request_identity(Path(record.socket))
    daemon = answer.get("daemon") if isinstance(answer, dict) else None
    return isinstance(daemon, dict) and daemon.get("pid") == pid


def _request_identity(path: Path) -> object:
    data = b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(2)
        try:
            connection.connect(os.fspath(path))
            connection.sendall(_PROBE)
            while len(data) < _MAX_ANSWER:
                block = connection.recv(8192)
                if not block:
                    break
                data += block
        except OSError:
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n", 1)[0]:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return None


def _read_some(handle: int, seconds: float) -> bytes:
    """Return what the child wrote within `seconds`."""
    ready, _, _ = select.select([handle], [], [], seconds)
    if not ready:
        return b""
    try:
        data = os.read(handle, _MAX_ERROR)
    except BlockingIOError:
        return b""
    if not data:
        # End of file: the child moved its standard error elsewhere, which it does when it is ready.
        time.sleep(seconds)
    return data


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return not start_time(pid)


def _end_child(pid: int) -> None:
    """End a child that did not become ready: ask, wait, insist."""
    for number, seconds in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if _has_ended(pid):
                return
            time.sleep(_POLL_SECONDS)
