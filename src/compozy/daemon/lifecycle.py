"""The life of one daemon process: boot in a stated order, serve, stop in a stated order (contract §1.4).

Boot: home, configuration, lock, log, sockets, services, `running`, record. Stop, within ten seconds: admit nothing,
stop sessions, end event streams, close listeners, close services, remove record and socket, release the lock.
"""

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass

from compozy import __version__
from compozy.acp.child import own_children
from compozy.acp.processes import AdoptedReaper, become_subreaper
from compozy.config.config import Config
from compozy.config.daemon_record import DaemonRecord, remove_record, write_record
from compozy.config.errors import HomeError
from compozy.config.home import Home
from compozy.config.install import create_home, prepare_home
from compozy.config.load import load_config
from compozy.config.process_identity import own_start_time
from compozy.config.redaction import Redactor
from compozy.daemon.application import Application
from compozy.daemon.guards import TcpGuard
from compozy.daemon.listeners import bind_tcp, bind_unix, remove_unix, socket_identity
from compozy.daemon.lock import DaemonLock
from compozy.daemon.log import start_log, stop_log
from compozy.daemon.routes import ALL_ROUTES
from compozy.daemon.server import HttpServer
from compozy.daemon.socket_path import choose_socket_path
from compozy.model.errors import EXIT_GENERIC
from compozy.runtime.backups.restoring import finish as finish_restore
from compozy.runtime.services import Services, close_services, open_services, stop_work
from compozy.runtime.status import DaemonStatus

_log = logging.getLogger("compozy.daemon")
# The whole of a shutdown (contract §1.4), and what of it sessions and open requests may use.
SHUTDOWN_SECONDS = 10.0
_SESSION_SECONDS = 7.0
_REQUEST_SECONDS = 2.0
_ORPHAN_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What a starter may tell a person."""

    pid: int
    host: str
    port: int
    socket: str


def run_daemon(home: Home, *, log_level: str = "", on_ready: Callable[[Ready], None] | None = None) -> None:
    """Be the daemon of this home until SIGTERM, SIGINT or SIGHUP.

    Raises:
        LocalError: the home, the configuration, a port or the socket cannot be used, or a daemon runs already.
        StoreUnavailable: the store cannot be opened.
    """
    with ExitStack() as stack:
        stack.enter_context(_system_errors_in_words(home))
        create_home(home)
        load_config(home)
        lock = DaemonLock(home.lock_file)
        lock.acquire()
        stack.callback(lock.release)
        # Before anything of the home is read: it may be what a restore was about to replace.
        finish_restore(home)
        prepare_home(home)
        config = load_config(home)
        redactor = Redactor(enabled=config.redact.enabled)
        stack.callback(stop_log, start_log(home.log_file, config.log, redactor.text, level=log_level))
        sockets = stack.enter_context(_bound_sockets(home, config))
        _log.info("starting", extra={"pid": os.getpid(), "version": __version__, "home": str(home.root)})
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(_serve(home, config, sockets, redactor, on_ready))
        except Exception:
            _log.exception("the daemon failed")
            raise
        _log.info("stopped")


@contextlib.contextmanager
def _system_errors_in_words(home: Home) -> Iterator[None]:
    """Say what the system refused, and what to do: a full disk or a read-only one is no fault of ours."""
    try:
        yield
    except OSError as error:
        at = f" {error.filename!r}" if error.filename else ""
        reason = error.strerror or str(error)
        step = _NEXT_STEP.get(error.errno or 0, _LOOK)
        raise HomeError(
            f"the daemon cannot use its home {str(home.root)!r}:{at} {reason}; {step}, then start it again"
        ) from error


_LOOK = "check its owner, its mode and its disk (`df`)"
_NEXT_STEP = {
    errno.ENOSPC: "free some space on its disk (`df` shows it)",
    errno.EDQUOT: "free some of your quota",
    errno.EFBIG: "free some space on its disk, or lift the limit on the size of files (`ulimit -f`)",
    errno.EROFS: "it lies on a read-only disk: make that writable or set COMPOZY_HOME to another folder",
    errno.EMFILE: "raise the limit on open files (`ulimit -n`)",
}


@dataclass(frozen=True, kw_only=True)
class _Sockets:
    tcp: socket.socket | None
    unix: socket.socket
    path: str


@contextlib.contextmanager
def _bound_sockets(home: Home, config: Config) -> Iterator[_Sockets]:
    """Bind both listeners; the socket file is removed at the end if it is still ours."""
    with ExitStack() as stack:
        tcp = None
        if config.http.enabled:
            tcp = bind_tcp(config.http.host, config.http.port)
            stack.callback(tcp.close)
        path = choose_socket_path(home, config.daemon.socket)
        unix = bind_unix(path)
        stack.callback(remove_unix, path, socket_identity(path))
        stack.callback(unix.close)
        yield _Sockets(tcp=tcp, unix=unix, path=str(path))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    import uvloop  # noqa: PLC0415 - start-up cost

    return uvloop.new_event_loop


async def _serve(
    home: Home, config: Config, sockets: _Sockets, redactor: Redactor, on_ready: Callable[[Ready], None] | None
) -> None:
    stopping = _stop_on_signals()
    status = _status(home, config, sockets)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_end_task, asyncio.create_task(_collect_orphans()))
        services = await stack.enter_async_context(_services(home, config, status, redactor))
        streams_stop = asyncio.Event()
        server = HttpServer()
        guard = TcpGuard(config.http.host, config.http.port) if sockets.tcp else None
        app = Application(services, ALL_ROUTES, guard=guard, stop=streams_stop, redact=redactor.text)
        status.state = "running"
        await server.listen(sockets.unix, app.on("unix"), "unix")
        if sockets.tcp is not None:
            await server.listen(sockets.tcp, app.on("tcp"), "tcp")
        write_record(home.record_file, _record(status))
        stack.callback(remove_record, home.record_file, status.pid)
        if on_ready is not None:
            on_ready(Ready(pid=status.pid, host=status.host, port=status.port, socket=status.socket))
        _log.info("ready", extra={"port": status.port, "socket": status.socket})
        await stopping.wait()
        _log.info("stopping")
        await _stop(status, services, server, streams_stop)


async def _collect_orphans() -> None:
    """Collect the zombies of agents' orphans, which come to the daemon because it is their subreaper."""
    reaper = AdoptedReaper()
    while become_subreaper():
        await asyncio.sleep(_ORPHAN_SECONDS)
        await asyncio.to_thread(reaper.collect, frozenset(own_children))


async def _end_task(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])


async def _stop(status: DaemonStatus, services: Services, server: HttpServer, streams_stop: asyncio.Event) -> None:
    """Steps one to four of the shutdown; the exit stack does the rest."""
    _watch_shutdown()
    status.state = "stopping"
    status.is_draining = True
    await stop_work(services, seconds=_SESSION_SECONDS)
    streams_stop.set()
    server.close_listeners()
    await server.drain(_REQUEST_SECONDS)


def _watch_shutdown() -> None:
    """End the process when the budget is used up, whatever still hangs. The next start copes with what is left."""

    def give_up() -> None:
        _log.error("the shutdown took longer than %.0f s; giving up", SHUTDOWN_SECONDS)
        os._exit(EXIT_GENERIC)

    timer = threading.Timer(SHUTDOWN_SECONDS, give_up)
    timer.daemon = True
    timer.start()


@contextlib.asynccontextmanager
async def _services(home: Home, config: Config, status: DaemonStatus, redactor: Redactor) -> AsyncIterator[Services]:
    services = await open_services(home, config, status, redactor)
    try:
        yield services
    finally:
        await close_services(services)


def _status(home: Home, config: Config, sockets: _Sockets) -> DaemonStatus:
    port = config.http.port if sockets.tcp else 0
    return DaemonStatus(home=home, host=config.http.host, port=port, socket=sockets.path)


def _record(status: DaemonStatus) -> DaemonRecord:
    return DaemonRecord(
        pid=status.pid,
        port=status.port,
        started_at=status.started_at,
        process_start=own_start_time(),
        host=status.host,
        socket=status.socket,
        version=__version__,
    )


def _stop_on_signals() -> asyncio.Event:
    """Return an event that the stop signals set; a second signal changes nothing, the budget bounds the stop."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, event.set)
    return event
