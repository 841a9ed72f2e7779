"""The store alone: durable events per second, how long a caller waits, lists of many sessions."""

import asyncio
import contextlib
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from tests.kit.store_records import make_drafts, make_session

from bench.harness import Bed, Figure, benchmark
from compozy.store.interface import EventQuery, SessionQuery, SessionRows
from compozy.store.sqlite import SqliteStore

AREA = "Store"
SESSIONS = 100_000
EVENTS = 50_000
LONG = "sess-00000001"


class Load(NamedTuple):
    """A run of concurrent writers: durable events per second, and the callers' waits in ms."""

    rate: float
    p50: float
    p99: float


def write_load(bed: Bed, writers: int, each: int, *, pause: float = 0.0) -> Load:
    """Let that many sessions append one event at a time, each waiting until it is durable (then `pause` seconds)."""
    waits: list[float] = []

    async def write(store: SqliteStore, session_id: str) -> None:
        await store.put_session(make_session(session_id))
        drafts = make_drafts(1)
        for _ in range(each):
            began = time.perf_counter()
            await store.append_events(session_id, drafts)
            waits.append(time.perf_counter() - began)
            if pause:
                await asyncio.sleep(max(0.0, pause - waits[-1]))

    async def measure() -> Load:
        store = SqliteStore(bed.make_folder("store") / "compozy.db")
        await store.open()
        began = time.perf_counter()
        await asyncio.gather(*(write(store, f"sess-{n}") for n in range(writers)))
        seconds = time.perf_counter() - began
        await store.close()
        cuts = statistics.quantiles(waits, n=100)
        return Load(writers * each / seconds, cuts[49] * 1000, cuts[98] * 1000)

    return asyncio.run(measure())


def _rate(name: str, writers: int, each: int) -> None:
    @benchmark(
        name=name,
        area=AREA,
        text=f"durable events, {writers} writer{'s' if writers > 1 else ''} at once",
        unit="events/s",
        better="more",
        how="each event its own row and its own call, which returns when the event is synced to disk",
    )
    def run(bed: Bed) -> Figure:
        load = write_load(bed, writers, each)
        return Figure(load.rate, f"a call waits {load.p50:.1f} ms, p99 {load.p99:.1f} ms")


_rate("store.writers.1", 1, 2_000)
_rate("store.writers.8", 8, 1_000)
_rate("store.writers.200", 200, 100)


@benchmark(
    name="store.latency",
    area=AREA,
    text="wait for durability, 8 sessions × 50 events/s, p99",
    unit="ms",
    target=20,
    how="400 events a second for 4 seconds",
)
def latency(bed: Bed) -> Figure:
    load = write_load(bed, 8, 200, pause=0.02)
    return Figure(load.p99, f"median {load.p50:.1f} ms")


class Stock(NamedTuple):
    """A store with many sessions, one of them long, and the loop it lives in."""

    store: SqliteStore
    loop: asyncio.AbstractEventLoop

    def median_ms(self, call: Callable[[], Awaitable[object]], runs: int = 21) -> float:
        """Return the median time of a read."""

        async def measure() -> float:
            times = []
            for _ in range(runs):
                began = time.perf_counter()
                await call()
                times.append(time.perf_counter() - began)
            return statistics.median(times) * 1000

        return self.loop.run_until_complete(measure())


def stock(bed: Bed) -> Stock:
    """Return the shared store of 100,000 sessions, filled once."""

    def make(closers: contextlib.ExitStack) -> Stock:
        loop = asyncio.new_event_loop()
        closers.callback(loop.close)
        store = SqliteStore(bed.make_folder("stock") / "compozy.db")
        loop.run_until_complete(_fill(store))
        closers.callback(lambda: loop.run_until_complete(store.close()))
        return Stock(store, loop)

    return bed.once("stock", make)


async def _fill(store: SqliteStore) -> None:
    await store.open()
    badges = ("stopped", "done", "failed", "idle")
    for start in range(0, SESSIONS, 1_000):
        records = (
            make_session(
                f"sess-{n:08}",
                at=n % 80_000,
                agent_name=f"agent-{n % 300}",
                workspace_id=f"ws_{n % 20}",
                state="stopped" if n % 10 else "active",
                badge=badges[n % 4],
            )
            for n in range(start, start + 1_000)
        )
        await asyncio.gather(*(store.put_session(record) for record in records))
    for start in range(1, EVENTS + 1, 1_000):
        await store.append_events(LONG, make_drafts(1_000, first=start))


def _list(name: str, text: str, query: SessionQuery) -> None:
    @benchmark(
        name=name,
        area=AREA,
        text=f"{text} of {SESSIONS:,} sessions",
        unit="ms",
        target=15,
        how="page of 50 with its total, median of 21",
    )
    def run(bed: Bed) -> Figure:
        stocked = stock(bed)
        return Figure(stocked.median_ms(lambda: stocked.store.list_sessions(query)))


_list("store.list.first", "first page", SessionQuery())
_list("store.list.workspace", "first page of one workspace", SessionQuery(workspace_id="ws_3"))
_list("store.list.agent", "first page of one agent", SessionQuery(agent="agent-7"))
_list("store.list.attention", "first page by attention", SessionQuery(sort="attention"))
_WAITING = ("waiting-for-auth", "waiting-for-input")
_list("store.list.waiting", "who waits for a person", SessionQuery(badges=_WAITING, sort="attention"))
_list("store.list.wanted", "what wants a person or is finished", SessionQuery(attention=True, sort="attention"))
_list("store.list.resumable", "first page of what can go on", SessionQuery(resumable=True))


@benchmark(
    name="store.list.middle",
    area=AREA,
    text=f"a page in the middle of {SESSIONS:,} sessions",
    unit="ms",
    target=15,
    how="page of 50 with its total, median of 21",
)
def middle_page(bed: Bed) -> Figure:
    stocked = stock(bed)

    async def seek() -> SessionRows:
        return await stocked.store.list_sessions(SessionQuery(limit=SESSIONS // 2))

    after = stocked.loop.run_until_complete(seek()).next_after
    return Figure(stocked.median_ms(lambda: stocked.store.list_sessions(SessionQuery(after=after))))


@benchmark(
    name="store.metrics",
    area=AREA,
    text=f"metrics of 100 agents over {SESSIONS:,} sessions",
    unit="ms",
    how="as a page of the fleet needs them, median of 21",
)
def metrics(bed: Bed) -> Figure:
    stocked = stock(bed)
    names = [f"agent-{n}" for n in range(100)]
    now = "2026-01-03T00:00:00.000000Z"
    return Figure(stocked.median_ms(lambda: stocked.store.agent_metrics("ws_3", names, now=now)))


@benchmark(
    name="store.events",
    area=AREA,
    text=f"newest 200 of {EVENTS:,} events",
    unit="ms",
    target=30,
    how="median of 21",
)
def newest_events(bed: Bed) -> Figure:
    stocked = stock(bed)
    return Figure(stocked.median_ms(lambda: stocked.store.read_events(LONG, EventQuery())))
