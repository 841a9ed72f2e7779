"""Open Capability Manifests: judging them in memory, loading folders of them, the command as a whole process."""

import contextlib
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench import reference
from bench.harness import ROOT, Bed, Figure, benchmark
from bench.process import COMPOZY, bare_python, median_ms

AREA = "Capability manifests"
IN_MEMORY = 10_000
FOLDERS = 2_000
_RUNS = 21
_FEW = 5
_MANIFEST = """ocm: "1"
id: acme/team-{team}/part-{n}
kind: agent
name: Part {n}
description: Reviews changes to part {n} of the system and lists what is wrong
publisher: acme
version: 1.2.0
capabilities:
  domains: [code, review]
  actions: [review, explain]
  languages: [en, de]
  max_complexity: 0.9
  context_window: 128000
  supports_tools: true
constraints:
  regions: [eu, us]
  data_boundary: private
  pii_allowed: false
cost:
  usd_per_call: 0.02
  usd_per_1k_tokens: 0.004
latency_ms: {{p50: 300, p99: 900}}
endpoints:
  - protocol: http
    url: https://agents.example/part-{n}
    region: eu
    auth: bearer
examples:
  - review this diff of part {n}
  - what is wrong with part {n}
quality_prior: 0.7
metadata:
  owner: team-{team}
"""
# Run in a fresh process, so that nothing of the harness is measured.
_VALIDATE = """
import json, sys, time
from compozy.ocm.validate import validate
documents = json.load(sys.stdin)
began = time.perf_counter()
found = sum(len(validate(one)) for one in documents)
print(json.dumps([(time.perf_counter() - began) * 1000, found]))
"""
_LOAD = """
import json, sys, time
from compozy.ocm.loading import load
began = time.perf_counter()
entries = load([sys.argv[1]])
print(json.dumps([time.perf_counter() - began, len(entries), sum(one.position is not None for one in entries)]))
"""


def write_manifests(folder: Path, count: int) -> Path:
    """Write folders with one capability.yaml each."""
    for n in range(count):
        (folder / str(n)).mkdir(parents=True)
        (folder / str(n) / "capability.yaml").write_text(_MANIFEST.format(n=n, team=n % 12))
    return folder


def _many(bed: Bed) -> Path:
    def make(_: contextlib.ExitStack) -> Path:
        return write_manifests(bed.make_folder("manifests"), FOLDERS)

    return bed.once("manifests", make)


def _told(script: str, *arguments: str, given: str = "") -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, input=given, capture_output=True, text=True, check=True
    )
    told: list[float] = json.loads(done.stdout)
    return told


@benchmark(
    name="ocm.validate",
    area=AREA,
    text=f"judge {IN_MEMORY:,} manifests in memory, one in ten with three problems",
    unit="ms",
    target=150,
    how=f"decoded documents, every problem listed; fresh process, median of {_FEW}",
)
def validate(bed: Bed) -> Figure:
    import yaml

    base = yaml.safe_load(_MANIFEST.format(n=0, team=0))
    documents = [{**base, "id": f"acme/part-{n}"} for n in range(IN_MEMORY)]
    for one in documents[::10]:
        one.update({"kind": "robot", "colour": "red", "cost": {"usd_per_call": -1}})
    given = json.dumps(documents)
    runs = [_told(_VALIDATE, given=given) for _ in range(_FEW)]
    assert all(found == 3 * IN_MEMORY / 10 for _, found in runs)
    return Figure(statistics.median(took for took, _ in runs))


@benchmark(
    name="ocm.load",
    area=AREA,
    text=f"load {FOLDERS:,} capability.yaml with positions",
    unit="s",
    target=1.0,
    how=f"one folder each, 33 lines; fresh process, median of {_FEW}",
)
def load(bed: Bed) -> Figure:
    folder = _many(bed)
    runs = [_told(_LOAD, str(folder)) for _ in range(_FEW)]
    assert all((count, placed) == (FOLDERS, FOLDERS) for _, count, placed in runs)
    return Figure(
        statistics.median(took for took, _, _ in runs), reference.beside(reference.load_s(bed, folder), "s")
    )


@benchmark(
    name="start.ocm_validate",
    area=AREA,
    text="`compozy ocm validate` on one file",
    unit="ms",
    target=120,
    how=f"process, median of {_RUNS}",
)
def validate_one(bed: Bed) -> Figure:
    path = _many(bed) / "0" / "capability.yaml"
    took = median_ms([COMPOZY, "ocm", "validate", str(path)], runs=_RUNS)
    beside = reference.beside(reference.validate_ms(bed, path, runs=_RUNS), "ms")
    return Figure(took.wall, f"{took.note}; bare Python {bare_python(runs=_RUNS).wall:.0f} ms; {beside}")


@benchmark(
    name="ocm.validate_folder",
    area=AREA,
    text=f"`compozy ocm validate` on {FOLDERS:,} files",
    unit="s",
    target=1.2,
    how=f"process, median of {_FEW}",
)
def validate_folder(bed: Bed) -> Figure:
    folder = _many(bed)
    runs = []
    for _ in range(_FEW):
        began = time.perf_counter()
        subprocess.run([COMPOZY, "ocm", "validate", str(folder)], check=True, capture_output=True)
        runs.append(time.perf_counter() - began)
    theirs = reference.validate_ms(bed, folder)
    return Figure(statistics.median(runs), reference.beside(None if theirs is None else theirs / 1000, "s"))
