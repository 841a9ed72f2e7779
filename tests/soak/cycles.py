"""Many sessions opened and closed: the daemon's descriptors and memory return to where they were (P63)."""

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.kit.sessions import World

# Cycles before the baseline is taken: imports, caches and the allocator's pools fill up once.
WARM_UP = 300
# Sessions at a time, each in a workspace of its own.
LANES = 2
DESCRIPTORS = 5
# What the bounded histories and the store's page cache may still take; in the second half memory must stand still.
MEMORY = 12 * 1024 * 1024
SECOND_HALF = 3 * 1024 * 1024
WAL = 64 * 1024 * 1024


class CalledOff(Exception):
    """The other part of the soak has failed."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """What a process holds: open descriptors and bytes of resident memory."""

    descriptors: int
    memory: int


@dataclass(frozen=True, kw_only=True)
class CycleCounts:
    """The levels before and after, and the size of the write-ahead log at the end."""

    cycles: int
    before: Level
    halfway: Level
    after: Level
    wal: int
    processes: int
    seconds: float

    @property
    def faults(self) -> list[str]:
        grown = self.after.memory - self.before.memory
        found = []
        if abs(self.after.descriptors - self.before.descriptors) > DESCRIPTORS:
            found.append(f"descriptors went from {self.before.descriptors} to {self.after.descriptors}")
        if grown > MEMORY:
            found.append(f"memory grew by {grown / 2**20:.1f} MiB")
        if self.after.memory - self.halfway.memory > SECOND_HALF:
            found.append(f"memory still grew in the second half, from {self.halfway.memory} to {self.after.memory}")
        if self.wal > WAL:
            found.append(f"the write-ahead log has {self.wal} bytes")
        if self.processes:
            found.append(f"{self.processes} processes of agents are left")
        return found

    def lines(self) -> list[str]:
        """Return the summary for a person."""
        before, halfway, after = self.before, self.halfway, self.after
        return [
            f"{self.cycles} sessions opened, prompted and stopped in {self.seconds:.0f} s with those of the warm-up",
            f"descriptors {before.descriptors} before, {after.descriptors} after",
            f"memory {before.memory / 2**20:.1f} MiB before, {halfway.memory / 2**20:.1f} MiB halfway, "
            f"{after.memory / 2**20:.1f} MiB after; "
            f"write-ahead log {self.wal / 2**20:.1f} MiB",
        ]


def level_of(pid: int) -> Level:
    """Return what a process holds now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Level(
        descriptors=len(os.listdir(f"/proc/{pid}/fd")),  # noqa: PTH208 - names only
        memory=pages * os.sysconf("SC_PAGE_SIZE"),
    )


def run_cycles(
    folder: Path, cycles: int, *, warm_up: int = WARM_UP, is_wanted: Callable[[], bool] = lambda: True
) -> CycleCounts:
    """Open, prompt and stop sessions, two at a time; nine of ten are deleted too.

    Raises:
        CalledOff: it is not wanted any more.
    """
    world = World(folder).start()
    began = time.monotonic()
    lanes = [_lane(world, folder / f"lane-{number}") for number in range(LANES)]

    def run(count: int) -> None:
        with ThreadPoolExecutor(LANES) as pool:
            for done in [
                pool.submit(_cycles, lane, range(n, count, LANES), is_wanted) for n, lane in enumerate(lanes)
            ]:
                done.result()

    try:
        world.agent("brief", {"prompts": [[{"text": "ok"}]]})
        run(warm_up)
        before = level_of(world.daemon.pid)
        run(cycles // 2)
        halfway = level_of(world.daemon.pid)
        run(cycles - cycles // 2)
        wal = world.daemon.home.database.with_name("compozy.db-wal")
        return CycleCounts(
            cycles=cycles,
            before=before,
            halfway=halfway,
            after=level_of(world.daemon.pid),
            wal=wal.stat().st_size if wal.exists() else 0,
            processes=world.client.request("GET", "/api/daemon/processes").json()["total"],
            seconds=time.monotonic() - began,
        )
    finally:
        for lane in lanes:
            lane.end()
        world.end()


def _lane(world: World, folder: Path) -> World:
    folder.mkdir()
    return World(folder, daemon=world.daemon)


def _cycles(lane: World, numbers: Iterable[int], is_wanted: Callable[[], bool]) -> None:
    for number in numbers:
        if not is_wanted():
            raise CalledOff
        session = lane.create("brief")
        assert lane.prompt(session).text == "ok"
        lane.post(session, "/stop")
        if number % 10:
            lane.client.request("DELETE", lane.path(session))
