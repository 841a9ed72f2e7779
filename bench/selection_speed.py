"""Speed and memory of selection among 10,000 capabilities, beside the reference on the same ones (issue 8)."""

import contextlib
import gc
import itertools
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench import reference
from bench.harness import ROOT, Bed, Figure, benchmark
from bench.selection import AREA
from compozy.lexical.related import related_words
from compozy.lexical.words import FILLER
from compozy.ocm.selection.engine import Selector
from compozy.ocm.target import Target

_MANY = 10_000
_QUERIES = 1_000
# The reference takes a third of a second for each.
_REFERENCE_QUERIES = 60


class Speed(NamedTuple):
    """What one process took that holds a large catalogue; milliseconds, seconds, MiB."""

    median: float
    slow: float
    indexed: float
    memory: float


def large_catalogue() -> tuple[list[Target], list[str]]:
    """Return 10,000 targets and the tasks they are asked for; the same in every run."""
    chance = random.Random(4)
    # Words of English, the most used first: invented ones would have no relatives, and asking would cost less.
    vocabulary = [root for root in related_words().stems if root not in FILLER]
    weights = list(itertools.accumulate(1 / (number + 5) for number in range(len(vocabulary))))

    def sentence(count: int) -> str:
        return " ".join(chance.choices(vocabulary, cum_weights=weights, k=count))

    targets = [
        Target(
            id=f"t/{n}", kind="tool", name=sentence(2), description=sentence(15), examples=(sentence(8), sentence(8))
        )
        for n in range(_MANY)
    ]
    return targets, [sentence(chance.randint(4, 16)) for _ in range(_QUERIES)]


def measure_speed() -> Speed:
    """Build a catalogue of 10,000 and ask it; for a process of its own."""
    targets, tasks = large_catalogue()
    began = time.perf_counter()
    selector = Selector(targets)
    index = time.perf_counter() - began
    for task in tasks[:20]:
        selector.select(task)
    gc.collect()
    took = []
    for task in tasks:
        began = time.perf_counter()
        selector.select(task)
        took.append((time.perf_counter() - began) * 1000)
    took.sort()
    memory = _highest_resident()
    return Speed(took[_QUERIES // 2], took[_QUERIES * 99 // 100], index, memory)


def _highest_resident() -> float:
    # Not getrusage: its figure begins with that of the process this one was forked from.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def speed(bed: Bed) -> Speed:
    """Measure in a fresh process, once."""

    def run(_: contextlib.ExitStack) -> Speed:
        code = "from bench.selection_speed import measure_speed; print(*measure_speed())"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        return Speed(*map(float, done.stdout.split()))

    return bed.once("selection.speed", run)


def beside(bed: Bed, place: int, unit: str) -> str:
    """Return what the reference takes for the same catalogue and the first of the same tasks."""
    targets, tasks = large_catalogue()
    rows = [
        {"id": one.id, "kind": one.kind, "name": one.name, "description": one.description, "examples": one.examples}
        for one in targets
    ]
    theirs = reference.select(bed, rows, tasks[:_REFERENCE_QUERIES])
    return reference.beside(None if theirs is None else theirs[place], unit)


@benchmark(
    name="selection.p50",
    area=AREA,
    text="select among 10,000, p50",
    unit="ms",
    target=2,
    how=f"{_QUERIES:,} tasks of 4 to 16 English stems, reasons included; fresh process",
)
def median(bed: Bed) -> Figure:
    return Figure(speed(bed).median, beside(bed, 0, "ms"))


@benchmark(
    name="selection.p99", area=AREA, text="select among 10,000, p99", unit="ms", target=10, how="the same process"
)
def slow(bed: Bed) -> Figure:
    return Figure(speed(bed).slow, beside(bed, 1, "ms"))


@benchmark(name="selection.index", area=AREA, text="index of 10,000", unit="s", target=2, how="about 35 words each")
def index(bed: Bed) -> Figure:
    return Figure(speed(bed).indexed, beside(bed, 2, "s"))


@benchmark(
    name="selection.memory",
    area=AREA,
    text="memory of that process",
    unit="MiB",
    target=150,
    how="highest resident size",
)
def memory(bed: Bed) -> Figure:
    return Figure(speed(bed).memory, beside(bed, 3, "MiB"))
