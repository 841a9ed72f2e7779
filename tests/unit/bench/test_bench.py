"""The benchmark harness: verdicts, absent parts, broken parts, the page. It measures nothing here."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from bench import __main__ as command
from bench.harness import Bed, Benchmark, Figure, Missing, Result, run_all, select
from bench.process import PYTHON, median_ms, time_process
from bench.report import markdown_page, terminal_line

ROOT = Path(__file__).resolve().parents[3]


def make(run, *, target: float | None = 10, better: str = "less") -> Benchmark:
    return Benchmark(
        name="a.b", area="Area", text="what", unit="ms", how="somehow", run=run, target=target, better=better
    )


@pytest.mark.parametrize(
    ("value", "target", "better", "verdict"),
    [
        (10, 10, "less", "met"),
        (10.1, 10, "less", "MISSED"),
        (10, 10, "more", "met"),
        (9.9, 10, "more", "MISSED"),
        (5, None, "less", "info"),
    ],
)
def test_a_figure_is_judged_against_its_target(value: float, target: float | None, better: str, verdict: str) -> None:
    assert make(lambda bed: Figure(0), target=target, better=better).judge(value) == verdict


def test_an_absent_part_and_a_broken_one_are_named_and_the_rest_is_still_measured() -> None:
    def absent(bed: Bed) -> Figure:
        raise Missing("no such agent here")

    def broken(bed: Bed) -> Figure:
        raise ValueError("what a pity")

    told: list[Result] = []
    results = run_all([make(absent), make(broken), make(lambda bed: Figure(3.2, "fine"))], told.append)
    assert told == results
    assert [result.verdict for result in results] == ["not measured", "broken", "met"]
    lines = [terminal_line(result) for result in results]
    assert "no such agent here" in lines[0]
    assert "ValueError: what a pity" in lines[1]
    assert "3.20 ms" in lines[2] and "≤ 10 ms" in lines[2] and "fine" in lines[2]


def test_what_is_shared_is_made_once_and_taken_down_in_reverse() -> None:
    seen: list[str] = []

    def share(name: str):
        def run(bed: Bed) -> Figure:
            def build(closers) -> int:
                seen.append(f"make {name}")
                closers.callback(seen.append, f"close {name}")
                return 1

            return Figure(bed.once(name, build))

        return run

    run_all([make(share("a")), make(share("a")), make(share("b"))], lambda result: None)
    assert seen == ["make a", "make b", "close b", "close a"]


def test_the_page_carries_figure_target_verdict_machine_and_note() -> None:
    result = Result(benchmark=make(lambda bed: Figure(0)), figure=Figure(1234.5))
    page = markdown_page([result], "a machine", note="At night.")
    assert "| what | 1,234 ms | ≤ 10 ms | MISSED | somehow |" in page
    assert "a machine. At night." in page


def test_every_benchmark_has_a_name_of_its_own_and_says_how_it_measures() -> None:
    for suite in command._SUITES:
        importlib.import_module(suite)
    benchmarks = select("")
    names = [bench.name for bench in benchmarks]
    assert len(names) == len(set(names)) > 20
    assert all(bench.text and bench.how and bench.unit for bench in benchmarks)
    assert {bench.area for bench in select("store.")} == {"Store"}


def test_a_program_that_fails_is_not_timed() -> None:
    assert time_process([PYTHON, "-c", "raise SystemExit(3)"]).code == 3
    with pytest.raises(RuntimeError, match="ended with 3"):
        median_ms([PYTHON, "-c", "raise SystemExit(3)"], runs=1)


def test_the_command_lists_what_it_can_measure() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--list", "-k", "start."], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "start.version" in done.stdout and "`compozy --version`" in done.stdout
