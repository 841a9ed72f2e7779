"""The fleet of a daemon: catalog pages, one agent, starts, changes, memory; at 100, 1,000 and 10,000 agents."""

import asyncio
import contextlib
import itertools
import statistics
import time
from collections.abc import Iterator
from typing import NamedTuple

from tests.kit.daemons import Daemon, make_home
from tests.kit.store_records import make_session, moment

from bench.formats import write_agents
from bench.harness import Bed, Figure, Missing, benchmark
from bench.process import resident_mib
from compozy.client import DaemonClient
from compozy.config.home import Home
from compozy.model.workspace import Workspace
from compozy.store.sqlite import SqliteStore

AREA = "Fleet"
SIZES = (100, 1_000, 10_000)
LARGE = SIZES[-1]
_SESSIONS_EACH = 10
_REQUESTS = 300
_CHOSEN_FROM = 2_000
_WORKSPACE = "ws_00000000000000aa"
_FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"q": "agent-7"},
    {"q": "TEAM-3"},
    {"category": "team-5 / backend"},
    {"name": "agent-42"},
    {"status": "active"},
    {"status": "idle"},
    {"status": "idle", "q": "9"},
)


class Served(NamedTuple):
    """A daemon with a large fleet, and the seconds from its start to its first page."""

    daemon: Daemon
    home: Home
    first_page: float


def fleet(bed: Bed, size: int) -> Served:
    """Return the shared daemon with that many agents in one workspace and ten sessions for each."""

    def make(closers: contextlib.ExitStack) -> Served:
        folder = bed.make_folder(f"fleet-{size}")
        home = make_home(folder / "home")
        root = folder / "work"
        write_agents(root / ".compozy" / "agents", size, sidecars=False, size=1_500)
        asyncio.run(_fill(home, str(root), size))
        daemon = Daemon(home)
        closers.callback(daemon.end)
        return Served(daemon, home, _start_to_first_page(daemon))

    return bed.once(f"fleet {size}", make)


def _start_to_first_page(daemon: Daemon) -> float:
    began = time.perf_counter()
    daemon.start()
    with daemon.client() as client:
        page(client)
    return time.perf_counter() - began


async def _fill(home: Home, root: str, size: int) -> None:
    store = SqliteStore(home.database)
    await store.open()
    await store.put_workspace(
        Workspace(id=_WORKSPACE, name="work", root_dir=root, add_dirs=(), created_at=moment(0), updated_at=moment(0))
    )
    total = size * _SESSIONS_EACH
    for start in range(0, total, 1_000):
        records = (
            make_session(
                f"sess-{n:016}",
                at=n % 80_000,
                agent_name=f"agent-{n % size}",
                workspace_id=_WORKSPACE,
                state="stopped",
                stop_reason="error" if n % 50 == 0 else "completed",
            )
            for n in range(start, min(total, start + 1_000))
        )
        await asyncio.gather(*(store.put_session(record) for record in records))
    await store.close()


def page(client: DaemonClient, **query: str) -> dict[str, object]:
    """Return one page of the catalog."""
    answer = client.request("GET", "/api/agents/catalog", query={"workspace": _WORKSPACE, **query}).json()
    assert isinstance(answer, dict) and answer["sessions_available"]
    return answer


class Times(NamedTuple):
    """Waits in ms."""

    p50: float
    p99: float


def _times(waits: list[float]) -> Times:
    cuts = statistics.quantiles(waits, n=100)
    return Times(cuts[49] * 1000, cuts[98] * 1000)


def first_pages(bed: Bed, size: int) -> Times:
    """Time first pages under all filters in turn, in a loop that lasts several looks at the disk."""

    def make(_: contextlib.ExitStack) -> Times:
        waits = []
        with fleet(bed, size).daemon.client() as client:
            page(client)
            for query in itertools.islice(itertools.cycle(_FILTERS), _REQUESTS):
                began = time.perf_counter()
                page(client, **query)
                waits.append(time.perf_counter() - began)
        return _times(waits)

    return bed.once(f"first pages {size}", make)


def following_pages(bed: Bed, size: int) -> Times:
    """Time pages that follow another, from the whole fleet."""

    def make(_: contextlib.ExitStack) -> Times:
        waits = []
        with fleet(bed, size).daemon.client() as client:
            for cursor in itertools.islice(_cursors(client), _REQUESTS):
                began = time.perf_counter()
                page(client, cursor=cursor)
                waits.append(time.perf_counter() - began)
        return _times(waits)

    return bed.once(f"following pages {size}", make)


def _cursors(client: DaemonClient) -> Iterator[str]:
    while True:
        cursor = ""
        while True:
            meta = page(client, **({"cursor": cursor} if cursor else {}))["page"]
            assert isinstance(meta, dict)
            if not meta["has_more"]:
                break
            cursor = str(meta["next_cursor"])
            yield cursor


for _size in SIZES:
    for _which, _measure in (("first", first_pages), ("next", following_pages)):
        for _part, _target in (("p50", 10.0), ("p99", 30.0)):

            @benchmark(
                name=f"fleet.{_which}.{_part}.{_size}",
                area=AREA,
                text=f"{'first' if _which == 'first' else 'following'} page of {_size:,} agents, {_part}",
                unit="ms",
                target=_target,
                how=f"50 rows, {_size * _SESSIONS_EACH:,} sessions, over the socket, {_REQUESTS} requests"
                + (f" under {len(_FILTERS)} filters in turn" if _which == "first" else ""),
            )
            def pages(bed: Bed, size: int = _size, measure=_measure, part: str = _part) -> Figure:  # type: ignore[no-untyped-def]
                return Figure(getattr(measure(bed, size), part))


@benchmark(
    name="fleet.detail",
    area=AREA,
    text=f"one of {LARGE:,} agents, p50",
    unit="ms",
    target=3,
    how=f"`GET /api/agents/NAME` over the socket, {_REQUESTS} requests",
)
def detail(bed: Bed) -> Figure:
    waits = []
    with fleet(bed, LARGE).daemon.client() as client:
        page(client)
        for number in range(_REQUESTS):
            began = time.perf_counter()
            client.request("GET", f"/api/agents/agent-{number * 31 % LARGE}", query={"workspace": _WORKSPACE})
            waits.append(time.perf_counter() - began)
    times = _times(waits)
    return Figure(times.p50, f"p99 {times.p99:.1f} ms")


@benchmark(
    name="fleet.cold",
    area=AREA,
    text=f"daemon start to the first page of {LARGE:,} agents, cold",
    unit="s",
    target=8,
    how="`daemon start`, nothing read before",
)
def cold(bed: Bed) -> Figure:
    return Figure(fleet(bed, LARGE).first_page)


@benchmark(
    name="fleet.change",
    area=AREA,
    text=f"an edit among {LARGE:,} agents is listed",
    unit="s",
    target=1,
    how="worst of 20: a row that no page shows changes its category; asked for by that category until it comes",
)
def change(bed: Bed) -> Figure:
    served = fleet(bed, LARGE)
    waits = []
    with served.daemon.client() as client:
        page(client)
        for number in range(20):
            file = served.home.root.parent / "work" / ".compozy" / "agents" / f"agent-{number}" / "AGENT.md"
            text = file.read_text().replace(f"team-{number % 12}, backend", f"moved-{number}")
            draft = file.with_suffix(".tmp")
            draft.write_text(text)
            began = time.perf_counter()
            draft.replace(file)
            while not page(client, category=f"moved-{number}")["agents"]:
                time.sleep(0.005)
            waits.append(time.perf_counter() - began)
    return Figure(max(waits), f"median {statistics.median(waits):.2f} s")


@benchmark(
    name="fleet.memory",
    area=AREA,
    text=f"memory of the daemon with {LARGE:,} agents and {LARGE * _SESSIONS_EACH:,} sessions",
    unit="MiB",
    target=250,
    how="resident, after all of the above",
)
def memory(bed: Bed) -> Figure:
    return Figure(resident_mib(fleet(bed, LARGE).daemon.pid))


@benchmark(
    name="fleet.warm",
    area=AREA,
    text=f"daemon start to the first page of {LARGE:,} agents, warm",
    unit="s",
    target=1.5,
    how="`daemon start` again on the same home, which kept what it had parsed",
)
def warm(bed: Bed) -> Figure:
    served = fleet(bed, LARGE)
    reports = served.home.root / "cache" / "definitions"
    deadline = time.monotonic() + 30
    while not reports.exists():
        if time.monotonic() > deadline:
            raise Missing("the daemon kept nothing")
        with served.daemon.client() as client:
            page(client)
        time.sleep(0.1)
    times = []
    for _ in range(3):
        served.daemon.stop()
        times.append(_start_to_first_page(served.daemon))
    return Figure(statistics.median(times), "median of 3")


class Selecting(NamedTuple):
    """Waits in ms: the first choice in each of two workspaces, and those that follow in turns."""

    first: float
    times: Times


def selecting(bed: Bed) -> Selecting:
    """Choose among 2,000 agents in two workspaces in turns, over the socket."""

    def make(closers: contextlib.ExitStack) -> Selecting:
        folder = bed.make_folder("fleet-select")
        daemon = Daemon(make_home(folder / "home"))
        closers.callback(daemon.end)
        roots = [folder / name for name in ("one", "two")]
        for root in roots:
            write_agents(root / ".compozy" / "agents", _CHOSEN_FROM, sidecars=True, size=1_500)
        daemon.start()
        waits = []
        with daemon.client() as client:
            for root in roots:
                client.request("POST", "/api/workspaces", body={"root_dir": str(root)})
            for number in range(_REQUESTS):
                body = {
                    "task": f"please explain part {number * 31 % _CHOSEN_FROM} and review the change",
                    "workspace_path": str(roots[number % 2]),
                }
                began = time.perf_counter()
                answer = client.request("POST", "/api/agents/select", body=body, timeout=120).json()
                waits.append(time.perf_counter() - began)
                assert isinstance(answer, dict) and answer["agent"], answer
        return Selecting(max(waits[:2]) * 1000, _times(waits[2:]))

    return bed.once("fleet.select", make)


@benchmark(
    name="fleet.select",
    area=AREA,
    text=f"choosing among {_CHOSEN_FROM:,} agents, p50",
    unit="ms",
    how=f"`POST /api/agents/select` over the socket, two workspaces in turns, {2 * _CHOSEN_FROM:,} capabilities each",
)
def choose(bed: Bed) -> Figure:
    found = selecting(bed)
    return Figure(found.times.p50, f"p99 {found.times.p99:.0f} ms; the first in a workspace {found.first:.0f} ms")
