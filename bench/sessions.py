"""Sessions under load, through the public surface: a real daemon, real agent processes, real subscribers."""

import contextlib
import json
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.kit.sessions import World

from bench.harness import ROOT, Bed, Figure, benchmark
from bench.process import cpu_seconds, resident_mib

AREA = "Sessions"
_PROMPTS = 60
_BURST = 20_000
_FLOOD = 100_000
_CLOCK_AGENT = Path(__file__).with_name("clock_agent.py")
# A burst takes seconds; far more than that means that it will not end.
_PATIENCE = 120.0


def busy_world(bed: Bed) -> World:
    """Return the shared daemon for loads, started once."""

    def make(closers: contextlib.ExitStack) -> World:
        world = World(bed.make_folder("w"))
        closers.callback(lambda: world.end())
        world.start()
        command = shlex.join((sys.executable, "-I", "-S", str(_CLOCK_AGENT)))
        world.write_agent(world.daemon.home.agents, "clock", command=json.dumps(command))
        return world

    return bed.once("busy world", make)


@benchmark(
    name="session.create",
    area=AREA,
    text="create a session",
    unit="ms",
    target=5,
    how="`POST /api/sessions` on a kept connection, median of 100",
)
def create(bed: Bed) -> Figure:
    world = busy_world(bed)
    times = []
    body = {"agent_name": "clock", "workspace_path": str(world.workspace)}
    with world.client as client:
        for _ in range(100):
            began = time.perf_counter()
            client.request("POST", "/api/sessions", body=body)
            times.append(time.perf_counter() - began)
    return Figure(statistics.median(times) * 1000)


@benchmark(
    name="session.first_token",
    area=AREA,
    text="the daemon's own share between prompt and first streamed token",
    unit="ms",
    target=5,
    how=f"from sending the prompt to reading the first text frame, less the agent's own time; median of {_PROMPTS}",
)
def first_token(bed: Bed) -> Figure:
    world = busy_world(bed)
    session = world.create("clock")
    world.prompt(session, "warm up: this one starts the agent")
    shares = []
    for _ in range(_PROMPTS):
        began = time.monotonic_ns()
        text, ended = "", 0
        for frame in world.frames(session, "what time is it?"):
            if frame is not None and frame["type"] == "text-delta" and not text:
                text, ended = frame["delta"], time.monotonic_ns()
        received, sent = (int(part) for part in text.split())
        shares.append((ended - began - (sent - received)) / 1e6)
    shares.sort()
    return Figure(statistics.median(shares), f"p95 {shares[int(len(shares) * 0.95)]:.1f} ms, client included")


def subscribe(world: World, session: dict[str, object]) -> subprocess.Popen[str]:
    """Start a subscriber of what comes from now on and wait until its stream is open."""
    last = world.events(session, limit=1)[0]["sequence"]
    target = world.path(session, f"/stream?frames=raw&after_sequence={last}")
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.subscriber", str(world.daemon.home.socket), target],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    word = process.stdout.readline().strip()
    if word != "ready":
        process.kill()
        process.wait()
        raise RuntimeError(f"the subscriber said {word!r}")
    return process


def start_turn(world: World, session: dict[str, object], text: str = "go") -> None:
    """Send a prompt and go away: the turn goes on."""
    frames = world.frames(session, text)
    next(frames)
    frames.close()


@benchmark(
    name="session.updates",
    area=AREA,
    text="session updates stored and streamed to two subscribers",
    unit="updates/s",
    target=20_000,
    better="more",
    how=f"one agent, a burst of {_FLOOD:,}, redacted, each its own synced row; to the end of the slower subscriber",
)
def updates(bed: Bed) -> Figure:
    world = busy_world(bed)
    world.agent("burst", {"prompts": [[{"echo": True}], [{"flood": _FLOOD}]]})
    session = world.create("burst")
    world.prompt(session, "warm up: this one starts the agent")
    with contextlib.ExitStack() as stack:
        subscribers = [subscribe(world, session) for _ in range(2)]
        for process in subscribers:
            stack.callback(process.wait)
            stack.callback(process.kill)
        began, before = time.monotonic(), cpu_seconds(world.daemon.pid)
        start_turn(world, session)
        told = [json.loads(process.communicate(timeout=_PATIENCE)[0]) for process in subscribers]
    seconds = max(one["last"] for one in told) - began
    cpu = cpu_seconds(world.daemon.pid) - before
    last = world.events(session, limit=1)[0]["sequence"]
    kept = all(one["consecutive"] and one["events"] >= _FLOOD for one in told) and last >= _FLOOD
    if not kept:
        raise RuntimeError(f"events were lost or out of order: {told}, last stored {last}")
    return Figure(
        _FLOOD / seconds,
        f"{cpu / _FLOOD * 1e6:.0f} µs of the daemon's processor time each; none lost, order kept, {last:,} rows",
    )


@benchmark(
    name="session.flat_memory",
    area=AREA,
    text=f"daemon memory gained over {_FLOOD:,} updates, one subscriber having stopped reading",
    unit="MiB",
    target=20,
    how=f"highest resident size during the turn less that after a first turn of {_BURST // 2:,} updates",
)
def flat_memory(bed: Bed) -> Figure:
    world = busy_world(bed)
    world.agent("flood", {"prompts": [[{"flood": _BURST // 2}], [{"flood": _FLOOD}]]})
    session = world.create("flood")
    world.prompt(session, "warm up")
    before = resident_mib(world.daemon.pid)
    with world.client.stream("GET", world.path(session, "/stream"), query={"frames": "raw"}):
        # Open and never read: what the daemon keeps for this subscriber must stay bounded.
        began = time.monotonic()
        start_turn(world, session)
        highest, deadline = before, began + _PATIENCE
        while world.events(session, limit=1)[0]["type"] not in ("done", "error"):
            highest = max(highest, resident_mib(world.daemon.pid))
            if time.monotonic() > deadline:
                raise RuntimeError("the turn did not end")
            time.sleep(0.1)
        seconds = time.monotonic() - began
    return Figure(max(0.0, highest - before), f"from {before:.0f} MiB; {_FLOOD / seconds:,.0f} updates/s")
