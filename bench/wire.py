"""The wire to an agent: what one update costs between the pipe and the handler that stores it."""

import asyncio
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.kit.agents import fake_agent

from bench.harness import Bed, Figure, benchmark
from compozy.acp.client import launch
from compozy.acp.contract import LaunchSpec, PermissionRequest, SessionUpdate, TerminalRequest

AREA = "Agents"
UPDATES = 100_000
_RUNS = 3
_BOUND = 60.0


class _Flood(NamedTuple):
    per_second: float
    cpu_microseconds: float


class _Counting:
    """Takes updates and keeps their number only."""

    def __init__(self) -> None:
        self.count = 0

    async def on_updates(self, updates: Sequence[SessionUpdate]) -> None:
        self.count += len(updates)

    async def on_permission(self, request: PermissionRequest) -> str | None:
        return None

    async def on_read_text_file(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        raise NotImplementedError

    async def on_write_text_file(self, session_id: str, path: str, content: str) -> None:
        raise NotImplementedError

    async def on_terminal(self, request: TerminalRequest) -> LaunchSpec:
        raise NotImplementedError

    async def on_diagnostic(self, kind: str, text: str) -> None:
        raise NotImplementedError

    async def on_exit(self, exit_code: int | None, stderr_tail: str) -> None:
        return None


async def _flood(folder: Path) -> _Flood:
    counting = _Counting()
    argv = fake_agent(folder, {"prompts": [[{"flood": UPDATES, "text": "x" * 80}]]})
    spec = LaunchSpec(argv=argv, env={"PATH": os.environ["PATH"]}, cwd=str(folder), marker="bench")
    client = await launch(spec, counting)
    try:
        await client.initialize(client_version="bench", timeout=_BOUND)
        session = await client.new_session(cwd=str(folder), mcp_servers=[], additional_dirs=[], timeout=_BOUND)
        wall, cpu = time.perf_counter(), time.process_time()
        await client.prompt(session.session_id, [{"type": "text", "text": "go"}], meta={})
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    finally:
        await client.close()
    if counting.count != UPDATES:
        raise RuntimeError(f"{counting.count} of {UPDATES} updates arrived")
    return _Flood(UPDATES / wall, cpu / UPDATES * 1e6)


def _floods(bed: Bed) -> list[_Flood]:
    return bed.once("floods", lambda _: [asyncio.run(_flood(bed.make_folder("flood"))) for _ in range(_RUNS)])


@benchmark(
    name="acp.update",
    area=AREA,
    text="one session update from the pipe to its handler",
    unit="µs",
    target=5,
    how=f"CPU time of the client over {UPDATES:,} updates of about 240 bytes, median of {_RUNS}",
)
def measure_update(bed: Bed) -> Figure:
    """Return CPU microseconds."""
    return Figure(statistics.median(flood.cpu_microseconds for flood in _floods(bed)))


@benchmark(
    name="acp.updates",
    area=AREA,
    text="session updates taken from one agent",
    unit="/s",
    target=20_000,
    better="more",
    how=f"wall time of one turn with {UPDATES:,} updates, median of {_RUNS}",
)
def measure_rate(bed: Bed) -> Figure:
    """Return updates a second, the 50 ms of quiet at the end included."""
    return Figure(statistics.median(flood.per_second for flood in _floods(bed)))
