"""Server-sent events: a response that forwards ready-made frames and never buffers more than the transport does.

Contract §3.5 Streams: a comment every 20 s while nothing else is sent. The stream ends when the frames end, when the
client goes away, or when the daemon stops. A client that stops reading stops the iteration; nothing piles up here.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_log = logging.getLogger("compozy.http")

KEEP_ALIVE_SECONDS = 20.0
KEEP_ALIVE = b": keep-alive\n\n"
# The scope key under which the application hands every request the daemon's stop event.
STOP_KEY = "compozy.stop"
# A stream's own last words (`session_stopped`) come after the stop begins; they get this long.
_LAST_WORDS_SECONDS = 0.5
_HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


def frame(data: bytes, *, event: str = "", event_id: str = "") -> bytes:
    """Build one frame; `data` is JSON on one line."""
    head = (f"id: {event_id}\n" if event_id else "") + (f"event: {event}\n" if event else "")
    return head.encode() + b"data: " + data + b"\n\n"


class EventStreamResponse(Response):
    """Streams frames, each a complete ``…\\n\\n`` block or several of them.

    The iterator is closed in every case. Frames that are already produced when the daemon stops are still sent.
    """

    def __init__(self, frames: AsyncIterator[bytes], *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(headers={**_HEADERS, **(headers or {})}, media_type="text/event-stream")
        del self.headers["content-length"]
        self._frames = frames
        self._sent_at = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if scope["method"] == "HEAD":
            await _close(self._frames)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        self._sent_at = asyncio.get_running_loop().time()
        stop: asyncio.Event | None = scope.get(STOP_KEY)
        tasks = [
            asyncio.create_task(self._forward(send), name="sse-forward"),
            asyncio.create_task(_disconnected(receive), name="sse-disconnect"),
            asyncio.create_task(self._keep_alive(send), name="sse-keep-alive"),
        ]
        if stop is not None:
            tasks.append(asyncio.create_task(_stopped(stop), name="sse-stop"))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            await _close(self._frames)
        failure = results[0]
        if isinstance(failure, Exception):
            # The answer has begun: the only way to say that it is incomplete is to cut it off.
            _log.error("an event stream failed", exc_info=failure)
            raise failure
        with contextlib.suppress(OSError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _forward(self, send: Send) -> None:
        loop = asyncio.get_running_loop()
        async for block in self._frames:
            await send({"type": "http.response.body", "body": block, "more_body": True})
            self._sent_at = loop.time()

    async def _keep_alive(self, send: Send) -> None:
        loop = asyncio.get_running_loop()
        while True:
            idle = loop.time() - self._sent_at
            if idle >= KEEP_ALIVE_SECONDS:
                await send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})
                self._sent_at = loop.time()
                idle = 0.0
            await asyncio.sleep(KEEP_ALIVE_SECONDS - idle)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _stopped(stop: asyncio.Event) -> None:
    await stop.wait()
    await asyncio.sleep(_LAST_WORDS_SECONDS)


async def _close(frames: AsyncIterator[bytes]) -> None:
    close = getattr(frames, "aclose", None)
    if close is not None:
        await close()
