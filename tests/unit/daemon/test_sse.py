"""Event streams: delivery, keep-alive, the daemon's stop, clients that leave or stop reading (contract §3.5)."""

import asyncio
import http.client
import socket
from collections.abc import AsyncIterator, Callable

import pytest
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from compozy.client import ConnectionLost, ServerSentEvent
from compozy.daemon import sse
from compozy.daemon.routing import Route
from compozy.daemon.sse import EventStreamResponse, frame
from compozy.runtime.services import Services
from tests.kit.http_app import Served, serving

pytestmark = pytest.mark.anyio
# Generous: what is waited for takes milliseconds.
PATIENCE = 30.0
Frames = Callable[[], AsyncIterator[bytes]]


def stream_route(frames: Frames) -> tuple[Route, ...]:
    async def handler(app: Services, request: Request) -> Response:
        return EventStreamResponse(frames(), headers={"x-extra": "1"})

    return (Route(method="GET", path="/api/stream", handler=handler, name="stream", summary=""),)


def read_all(served: Served) -> list[ServerSentEvent | None]:
    with served.unix() as client, client.stream("GET", "/api/stream") as stream:
        return list(stream)


def open_raw(served: Served) -> socket.socket:
    raw = socket.socket(socket.AF_UNIX)
    raw.settimeout(PATIENCE)
    raw.connect(str(served.path))
    raw.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return raw


async def until(condition: Callable[[], bool], what: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)
    assert condition(), what


async def test_frames_arrive_in_order_with_event_and_id_and_the_stream_ends() -> None:
    async def frames() -> AsyncIterator[bytes]:
        yield frame(b'{"a":1}', event="first", event_id="1")
        yield frame(b'{"b":2}', event_id="2") + frame(b"[DONE]")

    async with serving(stream_route(frames)) as served:
        events = await to_thread.run_sync(read_all, served)
    assert events == [
        ServerSentEvent(event="first", id="1", data='{"a":1}'),
        ServerSentEvent(event="message", id="2", data='{"b":2}'),
        ServerSentEvent(event="message", id="2", data="[DONE]"),
    ]


async def test_a_stream_is_not_cached_or_buffered_on_the_way() -> None:
    async def frames() -> AsyncIterator[bytes]:
        yield frame(b"1")

    def head(served: Served) -> dict[str, str]:
        with served.tcp() as client, client.stream("GET", "/api/stream") as stream:
            return dict(stream.headers)

    async with serving(stream_route(frames)) as served:
        headers = await to_thread.run_sync(head, served)
    assert headers["content-type"].startswith("text/event-stream")
    assert (headers["cache-control"], headers["x-accel-buffering"], headers["x-extra"]) == ("no-cache", "no", "1")


async def test_head_of_a_stream_answers_at_once_and_starts_nothing() -> None:
    started = False

    async def frames() -> AsyncIterator[bytes]:
        nonlocal started
        started = True
        yield frame(b"1")

    def head(served: Served) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
        try:
            statuses = []
            for _ in range(2):
                connection.request("HEAD", "/api/stream")
                response = connection.getresponse()
                response.read()
                statuses.append(response.status)
            return sum(statuses)
        finally:
            connection.close()

    async with serving(stream_route(frames)) as served:
        assert await to_thread.run_sync(head, served) == 400
    assert not started


async def test_the_daemons_stop_ends_an_open_stream_after_its_last_words() -> None:
    closed = asyncio.Event()
    served_stop: list[asyncio.Event] = []

    async def frames() -> AsyncIterator[bytes]:
        try:
            yield frame(b"first")
            await served_stop[0].wait()
            yield frame(b"last words")
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with serving(stream_route(frames)) as served:
        served_stop.append(served.stop)
        reading = asyncio.create_task(to_thread.run_sync(read_all, served))
        await asyncio.sleep(0)
        served.stop.set()
        async with asyncio.timeout(PATIENCE):
            events = await reading
        assert closed.is_set()
    assert [event.data for event in events if event] == ["first", "last words"]


async def test_a_silent_stream_sends_a_comment_from_time_to_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "KEEP_ALIVE_SECONDS", 0.05)

    async def frames() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    def read_two_comments(served: Served) -> bytes:
        data = b""
        with open_raw(served) as raw:
            while data.count(b": keep-alive\n\n") < 2:
                data += raw.recv(4096)
        return data

    async with serving(stream_route(frames)) as served:
        async with asyncio.timeout(PATIENCE):
            assert b": keep-alive\n\n" in await to_thread.run_sync(read_two_comments, served)


async def test_a_client_that_leaves_ends_its_stream() -> None:
    closed = asyncio.Event()

    async def frames() -> AsyncIterator[bytes]:
        try:
            yield frame(b"first")
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with serving(stream_route(frames)) as served:
        raw = await to_thread.run_sync(open_raw, served)
        await to_thread.run_sync(raw.recv, 4096)
        raw.close()
        async with asyncio.timeout(PATIENCE):
            await closed.wait()


async def test_a_client_that_stops_reading_stops_the_iteration_and_piles_nothing_up() -> None:
    produced = 0
    block = frame(b"x" * 60_000)

    async def frames() -> AsyncIterator[bytes]:
        nonlocal produced
        while True:
            produced += 1
            yield block
            await asyncio.sleep(0)

    async with serving(stream_route(frames)) as served:
        raw = await to_thread.run_sync(open_raw, served)
        try:
            await until(lambda: produced > 0, "the stream runs")
            seen = -1
            while seen != produced:
                seen = produced
                for _ in range(200):
                    await asyncio.sleep(0)
            # Kernel buffers and the transport's high-water mark: a few blocks, never an endless supply.
            assert produced < 100
            before = produced
            await to_thread.run_sync(raw.recv, 1 << 20)
            await until(lambda: produced > before, "reading again lets the stream go on")
        finally:
            raw.close()


async def test_a_stream_that_fails_is_cut_off_and_never_looks_complete() -> None:
    async def frames() -> AsyncIterator[bytes]:
        yield frame(b"first")
        raise RuntimeError("the source broke")

    seen: list[ServerSentEvent | None] = []

    def read(served: Served) -> None:
        with served.unix() as client, client.stream("GET", "/api/stream") as stream:
            for event in stream:
                seen.append(event)

    async with serving(stream_route(frames)) as served:
        with pytest.raises(ConnectionLost):
            await to_thread.run_sync(read, served)
    assert [event.data for event in seen if event] == ["first"]


async def test_the_client_resumes_a_broken_stream_after_its_last_id() -> None:
    asked: list[str] = []

    async def handler(app: Services, request: Request) -> Response:
        last = request.headers.get("last-event-id", "0")
        asked.append(last)

        async def frames() -> AsyncIterator[bytes]:
            for number in range(int(last) + 1, 7):
                yield frame(str(number).encode(), event_id=str(number))
                if number == 3 and last == "0":
                    raise RuntimeError("cut")

        return EventStreamResponse(frames())

    def read(served: Served) -> list[str]:
        with served.unix() as client, client.stream("GET", "/api/stream", resume=True, tick=0.01) as stream:
            return [event.data for event in stream if event]

    route = Route(method="GET", path="/api/stream", handler=handler, name="stream", summary="")
    async with serving((route,)) as served:
        assert await to_thread.run_sync(read, served) == ["1", "2", "3", "4", "5", "6"]
    assert asked == ["0", "3"]


async def test_an_idle_stream_ticks_so_that_a_status_line_can_move() -> None:
    async def frames() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    def first_ticks(served: Served) -> list[object]:
        with served.unix() as client, client.stream("GET", "/api/stream", tick=0.01) as stream:
            iterator = iter(stream)
            return [next(iterator), next(iterator)]

    async with serving(stream_route(frames)) as served:
        assert await to_thread.run_sync(first_ticks, served) == [None, None]
