"""A started server's pipes as a transport of the MCP SDK: lines in and out, each bounded (issue 7, Bad input).

Imports the SDK: load this module when it is first needed. A server that floods, sends an endless line or does not
read its input ends its own connection; `fault` says why.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from compozy.acp.child import Child
from compozy.runtime.mcp.bounds import McpBounds

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
_READS_AGAIN = 30.0
_DEAF = "it does not read its input"


class ServerPipes:
    """Both directions of one started server."""

    def __init__(self, child: Child, bounds: McpBounds, on_end: Callable[[str], None]) -> None:
        self._child, self._bounds, self._on_end = child, bounds, on_end
        self._rest = bytearray()
        self._lines: deque[bytes] = deque()
        self._came = asyncio.Event()
        self._is_over = False
        self._budget, self._counted_at = float(bounds.unasked_burst), 0.0
        self.fault = ""
        """Why we ended the connection, "" while we did not."""

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Streams]:
        """Carry messages until left."""
        to_session, for_session = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        from_client, to_write = anyio.create_memory_object_stream[SessionMessage](0)
        await self._child.read_stderr()
        await self._child.write_input(self._bounds.message_bytes, lambda _: self.break_off(_DEAF))
        await self._child.read_output(self._take, self._end)
        tasks = [
            asyncio.create_task(self._deliver(to_session), name="mcp-server-output"),
            asyncio.create_task(self._write(to_write), name="mcp-server-input"),
        ]
        try:
            yield for_session, from_client
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for stream in (to_session, for_session, from_client, to_write):
                stream.close()

    def break_off(self, why: str) -> None:
        """End the connection for a stated reason."""
        if not self.fault:
            self.fault = why
            self._end()

    # --- what the server says

    def _take(self, data: bytes) -> None:
        if self._is_over:
            return
        self._rest += data
        if b"\n" not in data:
            if len(self._rest) > self._bounds.message_bytes:
                self._too_long()
            return
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        if any(len(line) > self._bounds.message_bytes for line in (*lines, rest)):
            self._too_long()
            return
        self._lines.extend(line for line in lines if line.strip())
        self._came.set()
        if len(self._lines) > self._bounds.buffered and self._child.output is not None:
            self._child.output.pause_reading()

    def _too_long(self) -> None:
        self._rest.clear()
        self.break_off(f"it sent a message of more than {self._bounds.message_bytes} bytes")

    def _end(self) -> None:
        self._is_over = True
        self._came.set()

    async def _deliver(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        try:
            while True:
                while self._lines and not self.fault:
                    await self._hand_on(self._lines.popleft(), to_session)
                if self._child.output is not None and not self._child.output.is_closing():
                    self._child.output.resume_reading()
                if self._is_over and (self.fault or not self._lines):
                    return
                self._came.clear()
                await self._came.wait()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass
        finally:
            to_session.close()
            self._on_end(self.fault)

    async def _hand_on(self, line: bytes, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            # Servers print where they should not; what is no message is passed over, and counted.
            self._count()
            return
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._count()
        if not self.fault:
            await to_session.send(SessionMessage(message))

    def _count(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._counted_at:
            self._budget += (now - self._counted_at) * self._bounds.unasked_rate
        self._budget = min(self._budget, float(self._bounds.unasked_burst)) - 1
        self._counted_at = now
        if self._budget < 0:
            self.break_off("it floods: more messages that nobody asked for than are read")

    # --- what we say

    async def _write(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async for message in messages:
            data = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            stdin = self._child.stdin
            if stdin is None:
                return
            try:
                await stdin.writable(_READS_AGAIN)
            except TimeoutError:
                self.break_off(_DEAF)
                return
            stdin.send(data)
