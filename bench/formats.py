"""Definitions: loading many folders, one check as a whole process, memory of many definitions."""

import contextlib
import json
import statistics
import subprocess
import sys
from pathlib import Path

from bench.harness import ROOT, Bed, Figure, benchmark
from bench.process import COMPOZY, bare_python, median_ms

AREA = "Definitions"
FOLDERS = 2_000
MANY = 10_000
_RUNS = 21
_PROCESSES = 3

_AGENT = """---
name: agent-{n}
provider: claude
model: claude-sonnet-4-5
permissions: approve-reads
tools: [fs__read_text_file, fs__write_text_file]
category_path: [team-{team}, backend]
skills:
  disabled: [legacy]
---

# Agent {n}

You look after part {n} of the system. {text}
"""
_CAPABILITIES = """[[capabilities]]
id = "review-{n}"
summary = "Reviews changes to part {n}"
outcome = "A list of findings with file and line"
version = "1.0.{n}"

[[capabilities]]
id = "explain-{n}"
summary = "Explains part {n}"
outcome = "A page a newcomer understands"
"""
_SERVERS = (
    '{{"mcpServers": {{"files-{n}": {{"command": "mcp-files", "args": ["--root", "."], "env": {{"N": "{n}"}}}}}}}}\n'
)
_SENTENCE = "Read the whole change before you judge any line of it. "


def write_agents(folder: Path, count: int, *, sidecars: bool, size: int) -> Path:
    """Write agent folders whose AGENT.md has about `size` bytes."""
    for n in range(count):
        agent = folder / f"agent-{n}"
        agent.mkdir(parents=True)
        text = _SENTENCE * max(1, (size - 350) // len(_SENTENCE))
        (agent / "AGENT.md").write_text(_AGENT.format(n=n, team=n % 12, text=text))
        if sidecars:
            (agent / "capabilities.toml").write_text(_CAPABILITIES.format(n=n))
            (agent / "mcp.json").write_text(_SERVERS.format(n=n))
    return folder


def load(folder: Path, expected: int) -> dict[str, float]:
    """Load the folder in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.load_definitions", str(folder)], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    told: dict[str, float] = json.loads(done.stdout)
    if told["agents"] != expected or not told["same"]:
        raise RuntimeError(f"{expected} agents were written, loaded: {told}")
    return told


def loads(bed: Bed) -> list[dict[str, float]]:
    """Return what several fresh processes took for the 2,000 folders."""

    def make(_: contextlib.ExitStack) -> list[dict[str, float]]:
        folder = write_agents(bed.make_folder("agents"), FOLDERS, sidecars=True, size=1_200)
        return [load(folder, FOLDERS) for _ in range(_PROCESSES + 1)][1:]

    return bed.once("loads", make)


@benchmark(
    name="formats.cold",
    area=AREA,
    text=f"load, validate and digest {FOLDERS:,} agent folders, cold",
    unit="s",
    target=1.5,
    how=f"AGENT.md, capabilities.toml and mcp.json each; fresh process, median of {_PROCESSES}",
)
def cold(bed: Bed) -> Figure:
    return Figure(statistics.median(told["cold"] for told in loads(bed)))


@benchmark(
    name="formats.unchanged",
    area=AREA,
    text=f"the same {FOLDERS:,} folders again, unchanged",
    unit="ms",
    target=60,
    how=f"same process, right after; median of {_PROCESSES}",
)
def unchanged(bed: Bed) -> Figure:
    return Figure(statistics.median(told["unchanged"] for told in loads(bed)) * 1000)


@benchmark(
    name="formats.memory",
    area=AREA,
    text=f"memory for {MANY:,} loaded definitions of 4 KB",
    unit="MiB",
    target=150,
    how="highest resident size of a process that holds them all",
)
def memory(bed: Bed) -> Figure:
    folder = write_agents(bed.make_folder("many"), MANY, sidecars=False, size=4_096)
    told = load(folder, MANY)
    return Figure(told["rss_mib"], f"loaded in {told['cold']:.1f} s")


@benchmark(
    name="start.agent_check",
    area=AREA,
    text="`compozy agent check` on one file",
    unit="ms",
    target=120,
    how=f"process, AGENT.md with capabilities and servers beside it, median of {_RUNS}",
)
def agent_check(bed: Bed) -> Figure:
    folder = write_agents(bed.make_folder("one"), 1, sidecars=True, size=1_200)
    took = median_ms([COMPOZY, "agent", "check", str(folder / "agent-0" / "AGENT.md")], runs=_RUNS)
    return Figure(took.wall, f"{took.note}; bare Python {bare_python(runs=_RUNS).wall:.0f} ms")
