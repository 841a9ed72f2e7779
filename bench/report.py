"""Results as people read them: a line in the terminal as each comes, and `docs/benchmarks.md`."""

from collections.abc import Sequence
from datetime import UTC, datetime

from bench.harness import Benchmark, Result

_INTRODUCTION = """# Benchmarks

`make bench` measures every figure below on your machine and prints it beside its target; `make bench k=store` runs
those whose name or area contains a word. `make bench-record` writes this page. Figures are never part of the tests.

A *process* figure is the wall time of a whole program, from its start to its end, as the median of several runs.
Everything that needs a daemon uses a real one in a home of its own and talks to it over its sockets.
"""


def show_value(bench: Benchmark, value: float) -> str:
    """Return the value with its unit, in three significant digits or a whole number."""
    if value >= 100:
        text = f"{value:,.0f}"
    elif value >= 10:
        text = f"{value:.1f}"
    else:
        text = f"{value:.2f}"
    return f"{text} {bench.unit}"


def show_target(bench: Benchmark) -> str:
    """Return the target with its direction, or a dash."""
    if bench.target is None:
        return "–"
    sign = "≤" if bench.better == "less" else "≥"
    return f"{sign} {bench.target:,g} {bench.unit}"


def terminal_line(result: Result) -> str:
    """Return one result as a line of the table."""
    bench = result.benchmark
    figure = show_value(bench, result.figure.value) if result.figure else "–"
    note = result.figure.note if result.figure else result.missing or result.broken
    return f"{bench.name:<28} {figure:>16} {show_target(bench):>16}  {result.verdict:<12} {note}".rstrip()


def terminal_head() -> str:
    """Return the head of the table."""
    return f"{'benchmark':<28} {'figure':>16} {'target':>16}  {'verdict':<12} note"


def markdown_page(results: Sequence[Result], machine: str, *, note: str = "") -> str:
    """Return the whole page; `note` says what was unusual about the run."""
    parts = [_INTRODUCTION, f"Measured {datetime.now(UTC):%Y-%m-%d} on: {machine}. {note}".rstrip() + "\n"]
    areas = list(dict.fromkeys(result.benchmark.area for result in results))
    for area in areas:
        parts.append(f"## {area}\n")
        parts.append("| what | figure | target | | how it is measured |\n|---|---:|---:|---|---|")
        parts.append("\n".join(_row(result) for result in results if result.benchmark.area == area) + "\n")
    return "\n".join(parts)


def _row(result: Result) -> str:
    bench = result.benchmark
    figure = show_value(bench, result.figure.value) if result.figure else "–"
    note = result.figure.note if result.figure else result.missing or result.broken
    how = f"{bench.how} ({note})" if note else bench.how
    return f"| {bench.text} | {figure} | {show_target(bench)} | {result.verdict} | {how} |"
