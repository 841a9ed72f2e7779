"""What a benchmark is: a name, a target and a function that measures; and how a list of them is run.

Knows nothing of compozy. A benchmark whose part is absent raises `Missing` and is shown as not measured, with why.
"""

import contextlib
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parents[1]
T = TypeVar("T")
# On the repository's own disk, not in /tmp, which is memory on many machines: what is synced must reach a disk.
SCRATCH = ROOT / ".cache" / "bench"


class Missing(Exception):
    """The benchmark cannot run here; the text says why."""


class Figure(NamedTuple):
    """One measured value in the benchmark's unit, and what a reader should know beside it."""

    value: float
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """One line of the table. `target` None: for information only."""

    name: str
    area: str
    text: str
    unit: str
    how: str
    run: Callable[["Bed"], Figure]
    target: float | None = None
    better: Literal["less", "more"] = "less"

    def judge(self, value: float) -> Literal["met", "MISSED", "info"]:
        """Compare a value with the target."""
        if self.target is None:
            return "info"
        is_met = value <= self.target if self.better == "less" else value >= self.target
        return "met" if is_met else "MISSED"


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of one benchmark: a figure, or the reason why there is none."""

    benchmark: Benchmark
    figure: Figure | None = None
    missing: str = ""
    broken: str = ""
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        if self.figure is not None:
            return self.benchmark.judge(self.figure.value)
        return "broken" if self.broken else "not measured"


class Bed:
    """Where benchmarks work: a scratch folder, and things made once and shared, closed at the end in reverse."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: dict[str, object] = {}
        self._closers = contextlib.ExitStack()

    def once(self, name: str, make: Callable[[contextlib.ExitStack], T]) -> T:
        """Return what `make` returned the first time; it may push its own clean-up onto the stack."""
        if name not in self._made:
            self._made[name] = make(self._closers)
        return self._made[name]  # type: ignore[return-value]

    def make_folder(self, name: str) -> Path:
        """Return a new empty folder."""
        return Path(tempfile.mkdtemp(prefix=name + "-", dir=self.folder))

    def close(self) -> None:
        """Run every clean-up."""
        self._closers.close()


_registry: list[Benchmark] = []


def benchmark(
    *,
    name: str,
    area: str,
    text: str,
    unit: str,
    how: str,
    target: float | None = None,
    better: Literal["less", "more"] = "less",
) -> Callable[[Callable[[Bed], Figure]], Callable[[Bed], Figure]]:
    """Register the decorated function as a benchmark."""

    def register(run: Callable[[Bed], Figure]) -> Callable[[Bed], Figure]:
        _registry.append(
            Benchmark(name=name, area=area, text=text, unit=unit, how=how, run=run, target=target, better=better)
        )
        return run

    return register


def select(word: str) -> tuple[Benchmark, ...]:
    """Return the registered benchmarks whose name or area contains the word, in order of registration."""
    return tuple(bench for bench in _registry if word in bench.name or word in bench.area)


@contextlib.contextmanager
def open_bed() -> Iterator[Bed]:
    """Give a bed in a scratch folder of this run, removed afterwards."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=SCRATCH))
    bed = Bed(folder)
    try:
        yield bed
    finally:
        try:
            bed.close()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def run_all(benchmarks: Sequence[Benchmark], tell: Callable[[Result], None]) -> list[Result]:
    """Run one after the other, telling each result as it comes; one that breaks does not stop the others."""
    results = []
    with open_bed() as bed:
        for bench in benchmarks:
            began = time.perf_counter()
            try:
                result = Result(benchmark=bench, figure=bench.run(bed))
            except Missing as why:
                result = Result(benchmark=bench, missing=str(why))
            except Exception as problem:  # noqa: BLE001 - one broken benchmark must not hide the others' figures
                traceback.print_exc(file=sys.stderr)
                result = Result(benchmark=bench, broken=f"{type(problem).__name__}: {problem}")
            result = Result(
                benchmark=bench,
                figure=result.figure,
                missing=result.missing,
                broken=result.broken,
                seconds=time.perf_counter() - began,
            )
            results.append(result)
            tell(result)
    return results
