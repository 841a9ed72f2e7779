"""Command line of the benchmarks: ``python -m bench [-k WORD] [--list] [--record]``."""

import argparse
import importlib
import os

from bench.harness import ROOT, Result, run_all, select
from bench.machine import describe_machine
from bench.report import markdown_page, terminal_head, terminal_line

# In the order of the table.
_SUITES = (
    "bench.starts",
    "bench.settings",
    "bench.resolution",
    "bench.formats",
    "bench.manifests",
    "bench.stores",
    "bench.wire",
    "bench.daemons",
    "bench.fleet",
    "bench.sessions",
    "bench.durability",
    "bench.tools",
    "bench.selection",
    "bench.selection_speed",
)


def main() -> int:
    """Run what was asked for; 1 when a benchmark broke, 0 otherwise: a missed target is a figure, not a failure."""
    parser = argparse.ArgumentParser(prog="make bench", description="Measure and print figures beside targets.")
    parser.add_argument("-k", default="", metavar="WORD", help="only benchmarks whose name or area contains it")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and stop")
    parser.add_argument("--record", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--note", default="", metavar="TEXT", help="say on the page how this run differed from usual")
    arguments = parser.parse_args()
    # An installed program has its bytecode; without it every start compiles everything anew and says nothing.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for suite in _SUITES:
        importlib.import_module(suite)
    chosen = select(arguments.k)
    if arguments.list:
        for bench in chosen:
            print(f"{bench.name:<28} {bench.text}")
        return 0
    machine = describe_machine()
    print(machine + "\n\n" + terminal_head(), flush=True)
    results = run_all(chosen, _tell)
    if arguments.record:
        page = ROOT / "docs" / "benchmarks.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(markdown_page(results, machine, note=arguments.note), encoding="utf-8")
    counts = {word: sum(result.verdict == word for result in results) for word in ("met", "MISSED", "not measured")}
    print("\n" + ", ".join(f"{count} {word}" for word, count in counts.items()))
    return int(any(result.broken for result in results))


def _tell(result: Result) -> None:
    print(terminal_line(result), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
