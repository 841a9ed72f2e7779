"""The life of an agent process from launch to the last reaped descendant: notices every end and runs the stop ladder.

Knows pipes and pids, and from ACP only that turns can be cancelled. There are four ends: the pid exits, stdout
closes, the protocol breaks, or we close; each ends with no process of the launch alive. Contract §5.4.9;
spec/acp.md, fault groups 1 and 5; reports P47.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from compozy.acp.child import Child
from compozy.acp.contract import AgentDied, AgentRequests, StopBounds
from compozy.acp.notes import Notes
from compozy.acp.peer import Peer
from compozy.acp.terminals import Terminals
from compozy.acp.updates import UpdateLanes
from compozy.acp.waiting import wait_any

# After the exit its last output is read; a descendant that holds the pipe without writing ends the wait.
_OUTPUT_IDLE = 0.2
# A descendant that goes on writing is not read for longer than this.
_OUTPUT_MOST = 2.0
# After stdout closed, the exit code is worth this wait.
_EXIT_GRACE = 1.0
# What storing the last updates may take when the agent has gone or is being closed.
_DRAIN = 10.0
_STDERR_GRACE = 0.1

_log = logging.getLogger(__name__)


class Lifetime:
    """Supervises one agent process; `begin` starts its one task, `close` ends it."""

    def __init__(
        self,
        child: Child,
        peer: Peer,
        lanes: UpdateLanes,
        terminals: Terminals,
        notes: Notes,
        requests: AgentRequests,
        bounds: StopBounds,
    ) -> None:
        self._child, self._peer, self._lanes = child, peer, lanes
        self._terminals, self._notes, self._requests, self._bounds = terminals, notes, requests, bounds
        self._failure: Exception | None = None
        self._may_be_exit = True
        self._wake = asyncio.Event()
        self._over = asyncio.Event()
        self._is_closing = self._is_ending = False
        self._watching: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    @property
    def is_alive(self) -> bool:
        return not (self._is_ending or self._is_closing or self._failure or self._child.exited.is_set())

    def begin(self) -> None:
        """Start to watch."""
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    def fail(self, error: Exception, *, may_be_exit: bool = False) -> None:
        """End the connection because of `error`: broken protocol, closed input, updates that cannot be stored.

        Args:
            may_be_exit: the error is probably a sign of the process ending, whose exit code tells more.
        """
        if self._failure is None and not self._is_closing:
            self._failure, self._may_be_exit = error, may_be_exit
            self._wake.set()

    # ---- ends that nobody asked for ------------------------------------------------------------------------------
    async def _watch(self) -> None:
        await wait_any([self._child.exited, self._child.output_ended, self._wake], None)
        if self._is_closing:
            return
        self._is_ending = True
        try:
            if self._may_be_exit:
                await self._gather_evidence()
            # At once: whoever waits for an answer learns it before the processes are swept.
            self._peer.end(self._explain())
            await self._sweep()
        except Exception:  # noqa: BLE001 - supervisor: whatever fails here, the session must learn of the end
            _log.exception("an agent that ended could not be cleaned up")
            self._peer.end(AgentDied("the agent ended and could not be cleaned up"))
        self._over.set()
        if not self._is_closing:
            try:
                await self._requests.on_exit(self._child.exit_code, self._child.stderr.text())
            except Exception:  # noqa: BLE001 - supervisor: nobody waits for this task
                _log.exception("the end of an agent could not be recorded")

    async def _gather_evidence(self) -> None:
        """Read what is still in the pipes and wait a moment for the exit code."""
        await self._child.wait_exit(_EXIT_GRACE)
        if not self._child.exited.is_set():
            return
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while not self._child.output_ended.is_set():
            seen = self._child.bytes_read
            await wait_any((self._child.output_ended,), _OUTPUT_IDLE)
            is_idle = self._child.bytes_read == seen and not self._lanes.is_paused
            if is_idle or loop.time() - begin > (_DRAIN if self._lanes.is_paused else _OUTPUT_MOST):
                break
        await wait_any((self._child.stderr_ended,), _STDERR_GRACE)

    def _explain(self) -> Exception:
        if self._failure is not None and not self._may_be_exit:
            return self._failure
        code, tail = self._child.exit_code, self._child.stderr.text()
        if code is None:
            what = str(self._failure or "the agent closed its output but its process went on; it was ended")
        elif code < 0:
            what = f"the agent process was ended by signal {-code}"
        else:
            what = f"the agent process exited with code {code}"
        noise = self._notes.last_noise[:200]
        if noise and not tail:
            what += f"; it had printed {noise!r}"
        return AgentDied(what, exit_code=code, stderr_tail=tail, printed=noise)

    async def _sweep(self) -> None:
        await self._peer.cancel_incoming(_DRAIN)
        await self._terminals.close()
        ended = await self._child.end(term_grace=self._bounds.term)
        if ended.killed:
            pids = ", ".join(map(str, ended.killed))
            self._notes.take("process", f"SIGTERM was not enough within {self._bounds.term:g} s; killed: {pids}")
        # What the agent asked while it was being ended.
        await self._peer.cancel_incoming(_DRAIN)
        await self._lanes.drain(_DRAIN)
        await self._notes.drain(_DRAIN)

    # ---- the end we ask for --------------------------------------------------------------------------------------
    async def close(
        self, cancel_turns: Callable[[], Awaitable[None]], turns_ended: asyncio.Event, waited: float
    ) -> None:
        """Run the stop ladder once; later callers wait for the same end.

        Args:
            cancel_turns: asks running turns to end.
            turns_ended: set while no turn is running.
            waited: seconds that running turns have already had to end.
        """
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(cancel_turns, turns_ended, waited))
        await asyncio.shield(self._closing)

    async def _close(
        self, cancel_turns: Callable[[], Awaitable[None]], turns_ended: asyncio.Event, waited: float
    ) -> None:
        if self._is_ending:
            await self._over.wait()
            return
        self._is_closing = True
        if not (self._failure or self._child.exited.is_set()):
            try:
                await cancel_turns()
            except Exception:  # noqa: BLE001 - supervisor: whatever fails on the way, the processes must end
                _log.exception("the turns of an agent could not be cancelled")
            await wait_any([turns_ended, self._child.exited], max(0.0, self._bounds.cancel - waited))
            await self._child.note_members()
            if self._child.stdin is not None:
                self._child.stdin.close()
            # An agent that ignores a cancel will hardly leave by itself.
            is_stubborn = not turns_ended.is_set()
            await self._child.wait_exit(min(self._bounds.eof, self._bounds.term) if is_stubborn else self._bounds.eof)
        self._wake.set()
        await self._sweep()
        self._peer.end(AgentDied("the agent was stopped", exit_code=self._child.exit_code))
        self._over.set()
