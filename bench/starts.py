"""Whole processes: what a person waits for at every command."""

from bench.harness import Bed, Figure, benchmark
from bench.process import COMPOZY, bare_python_ms, median_ms

AREA = "Commands as whole processes"
_RUNS = 21


@benchmark(
    name="start.python",
    area=AREA,
    text="`python3 -c pass`, for comparison",
    unit="ms",
    how=f"process, median of {_RUNS}",
)
def bare_python(bed: Bed) -> Figure:
    return Figure(bare_python_ms(runs=_RUNS))


@benchmark(
    name="start.version",
    area=AREA,
    text="`compozy --version`",
    unit="ms",
    target=60,
    how=f"process, median of {_RUNS}",
)
def version(bed: Bed) -> Figure:
    return Figure(median_ms([COMPOZY, "--version"], runs=_RUNS))
