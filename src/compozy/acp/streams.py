"""The ends of a program's pipes: a reader for callbacks, a writer that never blocks, and a bounded tail of bytes.

Knows neither processes nor messages. spec/acp.md, fault groups 6, 8 and 9.
"""

import asyncio
import codecs
from collections.abc import Callable
from typing import cast

_utf8_decoder = codecs.getincrementaldecoder("utf-8")


class Tail:
    """The last `limit` bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self.is_truncated = False

    def add(self, chunk: bytes) -> None:
        self._data += chunk
        # Cut rarely: moving the tail with every chunk would cost its whole length each time.
        if len(self._data) > 2 * self._limit + 4096:
            self._cut()

    def text(self) -> str:
        """Return the tail as text; a character that was cut in two, or is not complete yet, is left out."""
        self._cut()
        return _utf8_decoder("replace").decode(bytes(self._data))

    def _cut(self) -> None:
        extra = len(self._data) - self._limit
        if extra <= 0:
            return
        self.is_truncated = True
        # Continuation bytes belong to a character whose start is gone.
        while extra < len(self._data) and 0x80 <= self._data[extra] < 0xC0:
            extra += 1
        del self._data[:extra]


class Reading(asyncio.Protocol):
    """Hand chunks on, and the end of the stream once."""

    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data, self._on_end = on_data, on_end

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end()


class Writing(asyncio.Protocol):
    """The program's stdin: never blocks, knows whether the program reads."""

    def __init__(self, limit: int, on_broken: Callable[[str], None]) -> None:
        self._limit, self._on_broken = limit, on_broken
        self._transport: asyncio.WriteTransport | None = None
        self._room = asyncio.Event()
        self._room.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports derive from none of asyncio's classes.
        self._transport = cast(asyncio.WriteTransport, transport)

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._room.set()
        if exc is not None:
            self._on_broken("the agent closed its input")

    def send(self, data: bytes) -> None:
        """Write without blocking; what a closed input cannot take is dropped."""
        transport = self._transport
        if transport is None:
            self._on_broken("the agent closed its input")
            return
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > self._limit:
            self._on_broken(f"the agent left more than {self._limit} bytes of its input unread")
            return
        transport.write(data)

    async def writable(self, timeout: float) -> None:
        """Wait until the program reads again. Raises TimeoutError."""
        if not self._room.is_set():
            async with asyncio.timeout(timeout):
                await self._room.wait()

    def abort(self) -> None:
        """Close at once, whatever is still unwritten."""
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Close the program's stdin; a program that does not read keeps no buffer of ours alive."""
        if self._transport is not None:
            if self._transport.get_write_buffer_size():
                self._transport.abort()
            else:
                self._transport.close()
