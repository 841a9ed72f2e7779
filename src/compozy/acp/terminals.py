"""The terminals an agent asks for: started without a shell, output kept as a bounded tail, never left alive.

One instance per connection; knows sessions only as owners. Whether a terminal may be started is not decided here.
A background grandchild that holds the pipe delays nothing: the exit is the program's own. spec/acp.md, fault group 6;
contract §5.5.
"""

import asyncio
import signal
from itertools import count

from compozy.acp.child import Child, start
from compozy.acp.contract import AgentStartError, LaunchSpec, RequestRefused
from compozy.acp.processes import Ended
from compozy.acp.streams import Tail
from compozy.acp.waiting import wait_any

DEFAULT_OUTPUT_LIMIT = 64 * 1024
# What an agent may ask for at most; more would let one terminal fill the daemon's memory.
MOST_OUTPUT = 16 * 1024 * 1024
MOST_TERMINALS = 64
NOT_FOUND = -32002
TERM_GRACE = 0.25
# After the exit, what is still in the pipe is read for this long at most.
OUTPUT_GRACE = 0.2


class _Terminal:
    """One terminal and who owns it."""

    def __init__(self, session_id: str, child: Child, limit: int) -> None:
        self.session_id, self.child = session_id, child
        self.tail = Tail(limit)
        self.stopping: asyncio.Task[Ended] | None = None

    async def wait(self) -> dict[str, object]:
        await self.child.exited.wait()
        # A background grandchild may hold the pipe; the program itself has ended.
        await wait_any((self.child.output_ended,), OUTPUT_GRACE)
        return self.status()

    def status(self) -> dict[str, object]:
        code = self.child.exit_code
        if code is not None and code < 0:
            return {"exitCode": None, "signal": _signal_name(-code)}
        return {"exitCode": code, "signal": None}

    async def stop(self) -> None:
        """End the program and everything it started; the output stays readable."""
        if self.stopping is None:
            # The marker is the agent's own: sweeping by it would end the agent.
            self.stopping = asyncio.get_running_loop().create_task(
                self.child.end(term_grace=TERM_GRACE, use_marker=False)
            )
        await asyncio.shield(self.stopping)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


class Terminals:
    """All terminals of one agent process.

    Args:
        marker: the process marker of the agent, put into every terminal's environment so that the next daemon can
            find what is left of it.
    """

    def __init__(self, marker: str) -> None:
        self._marker = marker
        self._terminals: dict[str, _Terminal] = {}
        self._numbers = count(1)
        self._starting = 0
        self._is_closed = False

    async def create(self, session_id: str, spec: LaunchSpec, output_byte_limit: int | None) -> str:
        """Start a terminal and return its id (``term-<n>``).

        Raises:
            RequestRefused: the program cannot be started, or too many terminals are open.
        """
        await self._make_room()
        limit = DEFAULT_OUTPUT_LIMIT if output_byte_limit is None else min(output_byte_limit, MOST_OUTPUT)
        self._starting += 1
        try:
            marked = LaunchSpec(argv=spec.argv, env=spec.env, cwd=spec.cwd, marker=self._marker)
            child = await start(marked, output="combined")
        except AgentStartError as error:
            raise RequestRefused(str(error), data={"error": str(error)}) from error
        finally:
            self._starting -= 1
        terminal = _Terminal(session_id, child, limit)
        if self._is_closed:
            await terminal.stop()
            raise RequestRefused("the agent is being stopped")
        terminal_id = f"term-{next(self._numbers)}"
        self._terminals[terminal_id] = terminal
        await child.read_output(terminal.tail.add, lambda: None)
        return terminal_id

    def output(self, session_id: str, terminal_id: str) -> dict[str, object]:
        """Return the answer to `terminal/output`."""
        terminal = self._find(session_id, terminal_id)
        text = terminal.tail.text()
        answer: dict[str, object] = {"output": text, "truncated": terminal.tail.is_truncated}
        if terminal.child.exited.is_set():
            answer["exitStatus"] = terminal.status()
        return answer

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> dict[str, object]:
        """Return the answer to `terminal/wait_for_exit` when the program has ended, by itself or by a kill."""
        return await self._find(session_id, terminal_id).wait()

    async def kill(self, session_id: str, terminal_id: str) -> None:
        """End the program; its output can still be read."""
        await self._find(session_id, terminal_id).stop()

    async def release(self, session_id: str, terminal_id: str) -> None:
        """End the program and forget the terminal."""
        terminal = self._find(session_id, terminal_id)
        del self._terminals[terminal_id]
        await terminal.stop()

    async def kill_all(self, session_id: str) -> None:
        """End the programs of a session; a cancelled turn does not need them."""
        await self._stop([t for t in self._terminals.values() if t.session_id == session_id])

    async def close(self) -> None:
        """End all programs; no terminal can be made afterwards."""
        self._is_closed = True
        await self._stop(list(self._terminals.values()))

    async def _stop(self, terminals: list[_Terminal]) -> None:
        async with asyncio.TaskGroup() as group:
            for terminal in terminals:
                group.create_task(terminal.stop())

    async def _make_room(self) -> None:
        if len(self._terminals) + self._starting < MOST_TERMINALS:
            return
        # Some agents never release: the oldest that has ended makes room.
        for terminal_id, terminal in self._terminals.items():
            if terminal.child.exited.is_set():
                del self._terminals[terminal_id]
                await terminal.stop()
                return
        raise RequestRefused(f"{MOST_TERMINALS} terminals are running: end some first")

    def _find(self, session_id: str, terminal_id: str) -> _Terminal:
        terminal = self._terminals.get(terminal_id)
        if terminal is None or terminal.session_id != session_id:
            raise RequestRefused(f"no terminal {terminal_id!r} in this session", code=NOT_FOUND)
        return terminal
