"""The daemon at rest: how soon it answers, what it holds, what a command against it costs."""

import contextlib
import statistics
import time

from tests.kit.daemons import Daemon, clean_environment, make_home

from bench.harness import Bed, Figure, benchmark
from bench.process import COMPOZY, bare_python, median_ms, resident_mib

AREA = "Daemon"
_STARTS = 7
_RUNS = 21
# What a person has: a dozen agents in the home.
_AGENTS = 12
_AGENT = "---\nname: {name}\nprovider: offline\n---\nYou review changes and say what is wrong with them.\n"


def resting_daemon(bed: Bed) -> Daemon:
    """Return the shared daemon with a dozen agents, started once."""

    def make(closers: contextlib.ExitStack) -> Daemon:
        home = make_home(bed.make_folder("rest") / "home")
        for number in range(_AGENTS):
            folder = home.agents / f"reviewer-{number}"
            folder.mkdir(parents=True)
            (folder / "AGENT.md").write_text(_AGENT.format(name=folder.name))
        daemon = Daemon(home)
        closers.callback(daemon.end)
        return daemon.start()

    return bed.once("resting daemon", make)


@benchmark(
    name="daemon.ready",
    area=AREA,
    text="daemon ready: from its start to its first answer",
    unit="s",
    target=0.6,
    how=f"fresh home, `daemon start` as the CLI does it, median of {_STARTS}",
)
def ready(bed: Bed) -> Figure:
    times = []
    for _ in range(_STARTS + 1):
        daemon = Daemon(make_home(bed.make_folder("start") / "home"))
        try:
            began = time.perf_counter()
            daemon.start()
            times.append(time.perf_counter() - began)
        finally:
            daemon.end()
    return Figure(statistics.median(times[1:]))


@benchmark(
    name="daemon.idle_memory",
    area=AREA,
    text="memory of an idle daemon",
    unit="MiB",
    target=70,
    how=f"resident, with {_AGENTS} agents, after 20 requests on the socket and on TCP",
)
def idle_memory(bed: Bed) -> Figure:
    daemon = resting_daemon(bed)
    for client in (daemon.client(), daemon.tcp_client()):
        with client:
            for _ in range(10):
                client.request("GET", "/api/status")
                client.request("GET", "/api/agents")
    return Figure(resident_mib(daemon.pid))


@benchmark(
    name="daemon.request",
    area=AREA,
    text="one small request over the socket",
    unit="ms",
    how="`GET /api/status` on a kept connection, median of 200",
)
def small_request(bed: Bed) -> Figure:
    times = []
    with resting_daemon(bed).client() as client:
        for _ in range(200):
            began = time.perf_counter()
            client.request("GET", "/api/status")
            times.append(time.perf_counter() - began)
    return Figure(statistics.median(times) * 1000)


@benchmark(
    name="start.agent_list",
    area=AREA,
    text="`compozy agent list -o json` against a running daemon",
    unit="ms",
    target=150,
    how=f"process, {_AGENTS} agents, median of {_RUNS}",
)
def agent_list(bed: Bed) -> Figure:
    daemon = resting_daemon(bed)
    env = clean_environment(daemon.home)
    took = median_ms([COMPOZY, "agent", "list", "-o", "json"], runs=_RUNS, env=env)
    return Figure(took.wall, f"{took.note}; bare Python {bare_python(runs=_RUNS).wall:.0f} ms")
