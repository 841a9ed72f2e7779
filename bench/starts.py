"""Whole processes: what a person waits for at every command."""

from bench.harness import Bed, Figure, benchmark
from bench.process import COMPOZY, bare_python, median_ms

AREA = "Commands as whole processes"
_RUNS = 21


@benchmark(
    name="start.python",
    area=AREA,
    text="`python3 -c pass`, for comparison",
    unit="ms",
    how=f"process, median of {_RUNS}",
)
def interpreter(bed: Bed) -> Figure:
    took = bare_python(runs=_RUNS)
    return Figure(took.wall, took.note)


@benchmark(
    name="start.version",
    area=AREA,
    text="`compozy --version`",
    unit="ms",
    target=60,
    how=f"process, median of {_RUNS}",
)
def version(bed: Bed) -> Figure:
    took = median_ms([COMPOZY, "--version"], runs=_RUNS)
    return Figure(took.wall, took.note)
