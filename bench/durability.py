"""Durability through the real daemon: latency under many sessions, long transcripts, long lists, memory at rest."""

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import msgspec
from tests.kit.daemons import Daemon, make_home
from tests.kit.store_records import make_session, make_workspace, moment

from bench.harness import ROOT, Bed, Figure, benchmark
from bench.process import resident_mib
from bench.sessions import busy_world, start_turn
from compozy.client import DaemonClient
from compozy.config.home import Home
from compozy.config.redaction import Redactor
from compozy.model.event import EventDraft
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.segments import fold_turns
from compozy.store.sqlite import SqliteStore

AREA = "Sessions"
_STREAMS, _RATE, _SECONDS = 8, 50, 5
_BOUND, _BOUND_UPDATES = 30, 3_000
SESSIONS = 100_000
EVENTS = 50_000
_SHORT_TURN = 100
MANY_TURNS, ONE_TURN = "sess-00000000000000aa", "sess-00000000000000bb"
_REQUESTS = 41


@benchmark(
    name="session.latency",
    area=AREA,
    text=f"from the agent's pipe to the disk and to a subscriber, {_STREAMS} sessions × {_RATE} events/s, p99",
    unit="ms",
    target=20,
    how=f"{_STREAMS} agents and subscribers for {_SECONDS} s; an upper bound of the wait for the disk",
)
def latency(bed: Bed) -> Figure:
    world = busy_world(bed)
    sessions = [world.create("clock") for _ in range(_STREAMS)]
    for session in sessions:
        world.prompt(session, "warm up: this one starts the agent")
    count = _RATE * _SECONDS
    targets = []
    for session in sessions:
        last = world.events(session, limit=1)[0]["sequence"]
        targets.append(world.path(session, f"/stream?frames=raw&after_sequence={last}"))
    reader = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "bench.latency_reader",
            str(world.daemon.home.socket),
            str(count * _STREAMS),
            *targets,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert reader.stdout is not None
        reader.stdout.readline()
        for session in sessions:
            start_turn(world, session, f"tick {count} {1 / _RATE}")
        ages = sorted(json.loads(reader.communicate(timeout=90)[0]))
    finally:
        reader.kill()
        reader.wait()
    if len(ages) < count * _STREAMS:
        raise RuntimeError(f"only {len(ages)} updates came")
    return Figure(ages[int(len(ages) * 0.99)], f"median {statistics.median(ages):.1f} ms, {len(ages):,} updates")


@benchmark(
    name="session.bound_memory",
    area=AREA,
    text="daemon memory for one idle session whose agent runs",
    unit="MiB",
    target=1,
    how=f"resident size gained by {_BOUND} sessions after a turn of {_BOUND_UPDATES:,} updates each, per session",
)
def bound_memory(bed: Bed) -> Figure:
    world = busy_world(bed)
    world.agent("talker", {"prompts": [[{"flood": _BOUND_UPDATES}]]})
    world.prompt(world.create("talker"), "warm up")
    before = resident_mib(world.daemon.pid)
    for _ in range(_BOUND):
        world.prompt(world.create("talker"), "hello")
    # The newest events of a session stay in memory for a moment after its turn.
    time.sleep(2)
    return Figure((resident_mib(world.daemon.pid) - before) / _BOUND, f"from {before:.0f} MiB")


class Stocked(NamedTuple):
    """A daemon with many sessions in its store, two of them long."""

    daemon: Daemon
    client: DaemonClient
    workspace_id: str

    def median_ms(self, path: str) -> float:
        """Return the median of several requests."""
        times = []
        for _ in range(_REQUESTS):
            began = time.perf_counter()
            self.client.request("GET", path)
            times.append(time.perf_counter() - began)
        return statistics.median(times) * 1000

    def first_ms(self, path: str) -> float:
        """Return the time of the first request of a client for it."""
        began = time.perf_counter()
        self.client.request("GET", path)
        return (time.perf_counter() - began) * 1000


def stocked(bed: Bed) -> Stocked:
    """Return the shared daemon over a filled store, made once."""

    def make(closers: contextlib.ExitStack) -> Stocked:
        folder = bed.make_folder("stocked")
        home = make_home(folder / "home")
        workspace = make_workspace(1)
        asyncio.run(_fill(home))
        daemon = Daemon(home)
        closers.callback(daemon.end)
        client = daemon.start().client()
        closers.callback(client.close)
        return Stocked(daemon, client, workspace.id)

    return bed.once("stocked daemon", make)


async def _fill(home: Home) -> None:
    store = SqliteStore(home.database)
    await store.open()
    workspace = make_workspace(1)
    await store.put_workspace(workspace)
    stopped: dict[str, object] = {"state": "stopped", "stop_reason": "completed", "workspace_id": workspace.id}
    for start in range(0, SESSIONS, 1_000):
        records = (
            make_session(f"sess-{n:016}", at=n % 80_000, agent_name=f"agent-{n % 300}", **stopped)
            for n in range(start, start + 1_000)
        )
        await asyncio.gather(*(store.put_session(record) for record in records))
    for session_id, size in ((MANY_TURNS, _SHORT_TURN), (ONE_TURN, EVENTS)):
        await store.put_session(make_session(session_id, at=80_000, **stopped))
        drafts = turns(EVENTS // size, size)
        for start in range(0, len(drafts), 1_000):
            await store.append_events(session_id, drafts[start : start + 1_000])
        # As the daemon does when a turn ends.
        for until in range(size, EVENTS + 1, size):
            await fold_turns(store, session_id, until)
    await store.close()


def turns(count: int, size: int) -> list[EventDraft]:
    """Return whole turns of `size` events, as the daemon makes them of an agent's updates."""
    maker = EventMaker("agent-1", Redactor())
    maker.acp_session_id = "acp-1"
    drafts = []
    for number in range(count):
        turn = f"turn-{number:016x}"
        drafts.append(maker.draft("user_message", turn, text="Explain this.", message_id=f"msg-{number}"))
        for piece in range(size - 2):
            text = json.dumps(f"word{piece} of the answer, ").encode()
            raw = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":' + text + b"}}"
            drafts.append(maker.chunk("agent_message", turn, "", _raw(text), _raw(raw), moment(number % 80_000)))
        drafts.append(maker.draft("done", turn, stop_reason="end_turn"))
    return drafts


def _raw(data: bytes) -> msgspec.Raw:
    return msgspec.Raw(data)


@benchmark(
    name="session.transcript",
    area=AREA,
    text=f"first page of a transcript of {EVENTS:,} events over HTTP",
    unit="ms",
    target=30,
    how=f"{EVENTS // _SHORT_TURN} turns of {_SHORT_TURN} events; page of 50 entries, median of {_REQUESTS}",
)
def transcript(bed: Bed) -> Figure:
    at = stocked(bed)
    path = f"/api/workspaces/{at.workspace_id}/sessions/{MANY_TURNS}/transcript"
    first = at.first_ms(path)
    return Figure(at.median_ms(path), f"the very first request {first:.0f} ms")


@benchmark(
    name="session.transcript_one_turn",
    area=AREA,
    text=f"the same when all {EVENTS:,} events are one turn",
    unit="ms",
    target=30,
    how=f"one answer of {EVENTS:,} pieces, sent whole; median of {_REQUESTS}",
)
def transcript_one_turn(bed: Bed) -> Figure:
    at = stocked(bed)
    path = f"/api/workspaces/{at.workspace_id}/sessions/{ONE_TURN}/transcript"
    first = at.first_ms(path)
    return Figure(at.median_ms(path), f"the very first request {first:.0f} ms")


@benchmark(
    name="session.list",
    area=AREA,
    text=f"first page of {SESSIONS:,} sessions over HTTP",
    unit="ms",
    target=15,
    how=f"`GET /api/sessions?limit=50` with its total, median of {_REQUESTS}",
)
def session_list(bed: Bed) -> Figure:
    at = stocked(bed)
    return Figure(at.median_ms("/api/sessions?limit=50"))
