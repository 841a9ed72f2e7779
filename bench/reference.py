"""The reference program beside ours: the same work, the same machine, the same run (issue 8 speed and memory).

It is installed from its registry into an environment of its own below .cache; where that fails its figures are left
out and the note says so. Only the notes of our own benchmarks carry them: it is nobody's target.
"""

import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.harness import ROOT, Bed

PACKAGE = "opensmartroute==1.10.0"
PLACE = ROOT / ".cache" / "reference" / PACKAGE.replace("==", "-")
_PATIENCE = 600
_FEW = 3
_LOAD = """
import json, sys, time
from opensmartroute import load_targets
began = time.perf_counter()
count = len(list(load_targets(sys.argv[1])))
print(json.dumps([time.perf_counter() - began, count]))
"""
_SELECT = """
import json, sys, time
from opensmartroute import Router, load_targets
given = json.load(sys.stdin)
registry = load_targets(sys.argv[1])
began = time.perf_counter()
router = Router(registry)
router.route(given[0])
index = time.perf_counter() - began
took = []
for task in given:
    began = time.perf_counter()
    router.route(task)
    took.append((time.perf_counter() - began) * 1000)
took.sort()
status = open("/proc/self/status").read()
memory = next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))
print(json.dumps([took[len(took) // 2], took[len(took) * 99 // 100], index, memory]))
"""


def folder(bed: Bed) -> Path | None:
    """Return the folder of the reference's programs, installed once; None where it cannot be had."""

    def install(_: contextlib.ExitStack) -> Path | None:
        python = PLACE / "bin" / "python"
        if not (PLACE / "bin" / "osr").is_file():
            for argv in (
                [sys.executable, "-m", "venv", str(PLACE)],
                [str(python), "-m", "pip", "install", "--quiet", PACKAGE, "pyyaml"],
            ):
                if subprocess.run(argv, capture_output=True, timeout=_PATIENCE).returncode:
                    return None
        return PLACE / "bin"

    return bed.once("reference", install)


def beside(value: float | None, unit: str) -> str:
    """Return the note of a figure of the reference."""
    if value is None:
        return f"reference ({PACKAGE}) not installable here"
    return f"reference {value:,.0f} {unit}" if value >= 10 else f"reference {value:.2f} {unit}"


def validate_ms(bed: Bed, path: Path, *, runs: int = _FEW) -> float | None:
    """Return the median wall time of `osr validate PATH` in milliseconds."""
    programs = folder(bed)
    if programs is None:
        return None
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run([str(programs / "osr"), "validate", str(path)], check=True, capture_output=True)
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def load_s(bed: Bed, path: Path) -> float | None:
    """Return the time the reference takes to load a folder, in seconds, without its imports."""
    programs = folder(bed)
    if programs is None:
        return None
    seconds: float = _told(programs, _LOAD, str(path))[0]
    return seconds


def select(bed: Bed, targets: Sequence[object], tasks: Sequence[str]) -> tuple[float, ...] | None:
    """Return p50 and p99 in ms, the index in s and the memory in MiB of the reference on the same catalogue."""

    def run(_: contextlib.ExitStack) -> tuple[float, ...] | None:
        programs = folder(bed)
        if programs is None:
            return None
        path = bed.make_folder("reference-catalogue") / "targets.json"
        path.write_text(json.dumps({"targets": targets}))
        return tuple(_told(programs, _SELECT, str(path), given=json.dumps(tasks)))

    return bed.once("reference.select", run)


def _told(programs: Path, script: str, *arguments: str, given: str = "") -> list[float]:
    done = subprocess.run(
        [str(programs / "python"), "-c", script, *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        timeout=_PATIENCE,
    )
    told: list[float] = json.loads(done.stdout.splitlines()[-1])
    return told
