"""Tools: the policy's decision, search among thousands, and what the way from an agent to a hosted tool costs."""

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.kit.sessions import World
from tests.kit.tools import ListedSource, make_tool

from bench.harness import Bed, Figure, benchmark

AREA = "Tools"
_TOOLS = 2_000
_DECISIONS = 5_000
_RELAYS = 7
_PROBE = Path(__file__).with_name("relay_probe.py")
_SCRIPTED = Path(__file__).resolve().parents[1] / "tests" / "kit" / "mcp_stdio.py"
_VERBS = ("list", "create", "delete", "search", "update", "archive", "export", "merge")
_THINGS = (
    "issue",
    "invoice",
    "customer",
    "file",
    "message",
    "calendar event",
    "deployment",
    "alert",
    "page",
    "ticket",
)
_QUERIES = (
    "create an invoice for a customer",
    "search messages",
    "delete old files",
    "what alerts fired",
    "merge page",
)


@benchmark(
    name="tools.policy",
    area=AREA,
    text="one policy decision through all eleven layers",
    unit="µs",
    target=50,
    how=f"an external tool, lists of 20 entries, mean of {_DECISIONS:,}",
)
def policy(bed: Bed) -> Figure:
    from compozy.tools.ids import Patterns
    from compozy.tools.policy import Moment, PolicyContext, decide

    names = [f"mcp__server_{number}__tool" for number in range(20)]
    context = PolicyContext(
        agent_deny=Patterns.of(names),
        allow=Patterns.of(["mcp__github__*", *(f"{name}_*" for name in names)]),
        lineage=Patterns.of([*names, "mcp__github__*"]),
        permission_mode="approve-reads",
        can_ask=True,
    )
    tool = make_tool("mcp__github__create_issue", kind="mcp", owner="github", risk="mutating")
    moment = Moment(hook="allowed")
    began = time.perf_counter()
    for _ in range(_DECISIONS):
        decision = decide(context, tool, moment)
    took = (time.perf_counter() - began) / _DECISIONS
    assert decision.approval_required and len(decision.layers) == 11
    return Figure(took * 1e6)


@benchmark(
    name="tools.search",
    area=AREA,
    text=f"tool_search over {_TOOLS:,} tools",
    unit="ms",
    target=5,
    how="the search itself with its index built, median of 5 queries, 20 times each",
)
def search(bed: Bed) -> Figure:
    from compozy.tools.registry import Registry
    from compozy.tools.source import ToolScope

    tools = [
        make_tool(
            f"mcp__server_{number % 40}__{_VERBS[number % 8]}_{_THINGS[number % 10].replace(' ', '_')}_{number}",
            kind="mcp",
            owner=f"server_{number % 40}",
            description=f"{_VERBS[number % 8].title()} one {_THINGS[number % 10]} of account {number} in the system.",
        )
        for number in range(_TOOLS)
    ]
    snapshot = asyncio.run(Registry([ListedSource().put(*tools)]).snapshot(ToolScope()))
    began = time.perf_counter()
    index = snapshot.index
    built = time.perf_counter() - began
    times = []
    for _ in range(20):
        for query in _QUERIES:
            began = time.perf_counter()
            found = index.search(query, 20)
            times.append(time.perf_counter() - began)
            assert found
    return Figure(statistics.median(times) * 1000, f"the index is built once in {built * 1000:.0f} ms")


_PLAIN = ("compozy__workspace_info", "{}", "root_dir")
_ECHO = ("mcp__tracker__echo", '{"text": "hello"}', "hello")
Measured = dict[str, object]


def _world(bed: Bed) -> World:
    """Return a running daemon with one configured server, used by all figures of the way to a tool."""

    def make(closers: contextlib.ExitStack) -> World:
        world = World(bed.make_folder("tools"), config='[permissions]\nmode = "approve-all"\n')
        closers.callback(lambda: world.end())
        tracker = {"command": sys.executable, "args": [str(_SCRIPTED), "good"]}
        world.daemon.home.mcp_file.write_text(json.dumps({"mcpServers": {"tracker": tracker}}))
        world.start()
        world.agent("probed", {})
        return world

    return bed.once("tools-world", make)


def _relays(bed: Bed, tool: tuple[str, str, str]) -> list[Measured]:
    """Return what the probe measured in sessions of their own; the first, which loads the MCP server, is left out."""
    world = _world(bed)

    def make(closers: contextlib.ExitStack) -> list[Measured]:
        measured = []
        for number in range(_RELAYS + 1):
            answer = world.folder / f"{tool[0]}-{number}.json"
            program = [sys.executable, "-I", "-S", str(_PROBE), *tool]
            steps = [{"mcp_program": program}, {"touch": str(answer), "content": "{last}"}]
            session = world.create("probed")
            world.prompt(session, "!steps " + json.dumps(steps))
            world.post(session, "/stop")
            measured.append(json.loads(answer.read_text()))
        return measured[1:]

    return bed.once(f"relays {tool[0]}", make)


def _outside(bed: Bed) -> list[Measured]:
    """Return the same of clients outside, over `compozy mcp serve`; the first is left out."""
    world = _world(bed)
    home = {"name": "COMPOZY_HOME", "value": str(world.daemon.home.root)}
    server = {"command": sys.executable, "args": ["-m", "compozy", "mcp", "serve"], "env": [home]}

    def make(closers: contextlib.ExitStack) -> list[Measured]:
        measured = []
        for _ in range(_RELAYS + 1):
            done = subprocess.run(
                [sys.executable, "-I", "-S", str(_PROBE), "compozy__workspace_list", "{}", "workspaces"],
                input=json.dumps([server]),
                capture_output=True,
                text=True,
                check=True,
                timeout=120,
            )
            measured.append(json.loads(done.stdout))
        return measured[1:]

    return bed.once("outside", make)


def _calls(measured: list[Measured]) -> Figure:
    calls = sorted(float(str(call)) for row in measured for call in row["calls"])  # type: ignore[attr-defined]
    return Figure(statistics.median(calls), f"p95 {calls[int(len(calls) * 0.95)]:.1f} ms")


def _starts(measured: list[Measured]) -> Figure:
    return Figure(statistics.median(float(str(row["first"])) for row in measured))


@benchmark(
    name="tools.relay_start",
    area=AREA,
    text="`compozy tool mcp`: from its start to the first tools/list",
    unit="ms",
    target=200,
    how=f"bind, initialize, list through the real daemon, median of {_RELAYS}; the daemon's first relay is left out",
)
def relay_start(bed: Bed) -> Figure:
    return _starts(_relays(bed, _PLAIN))


@benchmark(
    name="tools.hosted_call",
    area=AREA,
    text="a hosted call, all of it: agent, relay, daemon and back",
    unit="ms",
    target=5,
    how=f"compozy__workspace_info, which does next to nothing; median of 50 in each of {_RELAYS} sessions",
)
def hosted_call(bed: Bed) -> Figure:
    return _calls(_relays(bed, _PLAIN))


@benchmark(
    name="tools.server_call",
    area=AREA,
    text="a call of a configured server's tool, all of it: agent, relay, daemon, server and back",
    unit="ms",
    target=None,
    how=f"a scripted server on stdio that answers at once; median of 50 in each of {_RELAYS} sessions",
)
def server_call(bed: Bed) -> Figure:
    return _calls(_relays(bed, _ECHO))


@benchmark(
    name="tools.serve_start",
    area=AREA,
    text="`compozy mcp serve`: from its start to the first tools/list",
    unit="ms",
    target=None,
    how=f"open, initialize, list through a daemon that runs, median of {_RELAYS}; the first is left out",
)
def serve_start(bed: Bed) -> Figure:
    return _starts(_outside(bed))


@benchmark(
    name="tools.serve_call",
    area=AREA,
    text="a call over `compozy mcp serve`, all of it: client, command, daemon and back",
    unit="ms",
    target=None,
    how=f"compozy__workspace_list, which does next to nothing; median of 50 in each of {_RELAYS} connections",
)
def serve_call(bed: Bed) -> Figure:
    return _calls(_outside(bed))
