"""Start one program with pipes, watch its pid, feed its output to callbacks, and keep the tail of its stderr.

Shared by agents and terminals; knows neither. The pid is watched apart from the pipes, because a dead launcher's
child may hold them open, and the exit is seen without reaping, so that pid and group number stay ours until all of
the launch has ended. spec/acp.md, fault groups 1, 5, 8; contract §5.3.
"""

import asyncio
import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Literal

from compozy.acp.contract import AgentStartError, LaunchSpec, ProcessIdentity
from compozy.acp.processes import MARKER_NAME, Ended, ProcessEntry, end_members_blocking, find_members, identify
from compozy.acp.streams import Reading, Tail, Writing
from compozy.acp.waiting import wait_any

STDERR_TAIL = 128 * 1024
# One read of the event loop takes at most 256 KiB; the default pipe holds 64 KiB.
_PIPE_SIZE = 256 * 1024
_F_SETPIPE_SZ = 1031

_log = logging.getLogger(__name__)

# Children started here and not reaped yet; AdoptedReaper must leave them alone.
own_children: set[int] = set()


class Child:
    """One started program. Made by `start`; `end` must be awaited in the end."""

    def __init__(self, popen: subprocess.Popen[bytes], identity: ProcessIdentity) -> None:
        self._popen = popen
        self.identity = identity
        self.exit_code: int | None = None
        """Negative for a signal, as in `subprocess`."""
        self.exited = asyncio.Event()
        self.output_ended = asyncio.Event()
        self.stderr_ended = asyncio.Event()
        self.stderr = Tail(STDERR_TAIL)
        self.bytes_read = 0
        """Bytes of stdout so far."""
        self.stdin: Writing | None = None
        self.output: asyncio.ReadTransport | None = None
        self._transports: list[asyncio.BaseTransport] = []
        self._is_reaped = False
        self._known: list[ProcessEntry] = []

    # ---- pipes ---------------------------------------------------------------------------------------------------
    async def read_output(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        """Begin to read stdout."""

        def take(data: bytes) -> None:
            self.bytes_read += len(data)
            on_data(data)

        def end() -> None:
            on_end()
            self.output_ended.set()

        assert self._popen.stdout is not None
        self.output = await self._connect(self._popen.stdout, take, end)

    async def read_stderr(self) -> None:
        """Begin to drain stderr into its tail."""
        assert self._popen.stderr is not None
        await self._connect(self._popen.stderr, self.stderr.add, self.stderr_ended.set)

    async def write_input(self, limit: int, on_broken: Callable[[str], None]) -> Writing:
        """Open stdin for writing."""
        assert self._popen.stdin is not None
        loop = asyncio.get_running_loop()
        transport, writing = await loop.connect_write_pipe(
            lambda: Writing(limit, on_broken), handed_over(self._popen.stdin, loop)
        )
        self._transports.append(transport)
        self.stdin = writing
        return writing

    async def _connect(
        self, pipe: IO[bytes], on_data: Callable[[bytes], None], on_end: Callable[[], None]
    ) -> asyncio.ReadTransport:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: Reading(on_data, on_end), handed_over(pipe, loop))
        self._transports.append(transport)
        return transport

    # ---- exit ----------------------------------------------------------------------------------------------------
    def watch(self) -> None:
        """Begin to watch the pid."""
        loop = asyncio.get_running_loop()
        if sys.platform == "linux":
            handle = os.pidfd_open(self._popen.pid)
            loop.add_reader(handle, self._on_pidfd, handle)
        else:
            threading.Thread(target=self._wait_in_thread, args=(loop,), daemon=True).start()

    def _on_pidfd(self, handle: int) -> None:
        asyncio.get_running_loop().remove_reader(handle)
        os.close(handle)
        # WNOWAIT: the zombie keeps the pid and the group number from being used again until `end` has swept.
        found = os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        code = None
        if found is not None:
            code = found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
        self._set_exit(code)

    def _wait_in_thread(self, loop: asyncio.AbstractEventLoop) -> None:
        code = self._popen.wait()
        # The loop may be gone when the interpreter ends.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._set_exit, code)

    def _set_exit(self, code: int | None) -> None:
        self.exit_code = code
        self.exited.set()

    async def wait_exit(self, timeout: float) -> bool:
        """Wait for the program's own exit; False when it still runs after `timeout` seconds."""
        return await wait_any((self.exited,), timeout)

    async def note_members(self) -> None:
        """Remember who belongs to the launch now, before the program leaves and its children lose their parent."""
        self._known = await asyncio.to_thread(find_members, self.identity)

    def _kill_group(self) -> None:
        if not self._is_reaped:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.identity.group, signal.SIGKILL)

    async def end(self, *, term_grace: float, use_marker: bool = True) -> Ended:
        """SIGTERM and SIGKILL everything of the launch that is alive, then reap and close the pipes."""
        try:
            ended = await asyncio.to_thread(
                end_members_blocking, self.identity, term_grace=term_grace, use_marker=use_marker, known=self._known
            )
        except OSError as error:
            # Without file descriptors the process table cannot be read; the group can be ended all the same.
            _log.warning(
                "the processes of agent %d cannot be listed, its group is killed: %s", self._popen.pid, error
            )
            self._kill_group()
            ended = Ended(met=(self._popen.pid,), killed=(self._popen.pid,))
        await self.wait_exit(5.0)
        if self.exited.is_set() and not self._is_reaped:
            self._is_reaped = True
            # Sets Popen's own state too; the program has ended, so this does not wait.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(timeout=0.1)
            own_children.discard(self._popen.pid)
        self.close_pipes()
        return ended

    def close_pipes(self) -> None:
        """Stop reading and writing."""
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            # Closed already where a transport has it.
            if pipe is not None:
                pipe.close()
        for transport in self._transports:
            transport.close()
        if self.stdin is not None:
            # What is still unwritten has no reader any more.
            self.stdin.abort()


def handed_over(pipe: IO[bytes], loop: asyncio.AbstractEventLoop) -> IO[bytes]:
    """Return the pipe for a transport, which owns it from now on; the given object is closed.

    libuv closes the descriptor of its transports itself, and uvloop closes the object too, right after it. In between
    another thread may have been given the same number: its file, perhaps the store's, would be closed under it.
    """
    number = os.dup(pipe.fileno())
    pipe.close()
    closes_itself = type(loop).__module__.partition(".")[0] == "uvloop"
    return io.FileIO(number, pipe.mode, closefd=not closes_itself)


async def start(spec: LaunchSpec, *, output: Literal["separate", "combined"]) -> Child:
    """Start a program in its own session and process group, without a shell.

    `combined` merges stderr into stdout and gives no stdin (terminals); `separate` opens all three pipes.

    Raises:
        AgentStartError: the working folder or the program does not exist or cannot be executed.
    """
    # Shielded: a caller that is cancelled in between must not lose a started process.
    starting = asyncio.ensure_future(asyncio.to_thread(_open, spec, output == "combined"))
    try:
        popen = await asyncio.shield(starting)
    except asyncio.CancelledError:
        starting.add_done_callback(_kill_unwanted)
        raise
    own_children.add(popen.pid)
    child = Child(popen, identify(popen.pid, spec.marker))
    try:
        child.watch()
    except OSError as error:
        _kill_popen(popen)
        own_children.discard(popen.pid)
        raise AgentStartError(f"the program {spec.argv[0]!r} cannot be watched: {error}") from error
    return child


def _open(spec: LaunchSpec, is_combined: bool) -> subprocess.Popen[bytes]:
    if not Path(spec.cwd).is_dir():
        raise AgentStartError(f"the working folder {spec.cwd!r} does not exist: create it or choose another")
    try:
        popen = subprocess.Popen(
            spec.argv,
            cwd=spec.cwd,
            env={**spec.env, MARKER_NAME: spec.marker},
            stdin=subprocess.DEVNULL if is_combined else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if is_combined else subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError) as error:
        raise AgentStartError(_explain(spec.argv, error)) from error
    if sys.platform == "linux" and popen.stdout is not None:
        _widen(popen.stdout.fileno())
    return popen


def _explain(argv: tuple[str, ...], error: Exception) -> str:
    program = argv[0] if argv else ""
    if isinstance(error, FileNotFoundError):
        return f"the program {program!r} was not found: install it or correct the command"
    if isinstance(error, PermissionError):
        return f"the program {program!r} may not be executed: check its permissions"
    return f"the program {program!r} could not be started: {error}"


def _widen(descriptor: int) -> None:
    import fcntl  # noqa: PLC0415 - start-up cost

    # Refused when the user's pages for pipes are used up; the default size then serves as well.
    with contextlib.suppress(OSError):
        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_SIZE)


def _kill_unwanted(starting: "asyncio.Future[subprocess.Popen[bytes]]") -> None:
    if not starting.cancelled() and starting.exception() is None:
        _kill_popen(starting.result())


def _kill_popen(popen: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(popen.pid, signal.SIGKILL)
    for pipe in (popen.stdin, popen.stdout, popen.stderr):
        if pipe is not None:
            pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        popen.wait(timeout=1)
