"""`make soak`: run both parts, print what was counted, end with 1 when the books do not balance.

The parts run side by side, each with a home and a daemon of its own: the rounds mostly wait, for the moment of a
kill, for the pause before an agent is started again, and for daemons that start.
"""

import argparse
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from tests.soak.cycles import CycleCounts, run_cycles
from tests.soak.rounds import Soak


def main() -> int:
    """Run the soak."""
    parser = argparse.ArgumentParser(prog="make soak")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--sessions", type=int, default=4)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    chosen = parser.parse_args()
    began = time.monotonic()
    print(f"soak of {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, seed {chosen.seed}", flush=True)
    over = threading.Event()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, ThreadPoolExecutor(1) as beside:
        cycles = beside.submit(_cycles, Path(folder) / "cycles", chosen.cycles, over)
        try:
            faults = _rounds(Path(folder) / "rounds", chosen)
            counted = cycles.result()
        finally:
            over.set()
    print("\n".join(counted.lines()), flush=True)
    faults += counted.faults
    print(f"{time.monotonic() - began:.0f} s; {'clean' if not faults else f'{len(faults)} FAULTS'}")
    for fault in faults:
        print(f"  {fault}")
    return 1 if faults else 0


def _rounds(folder: Path, chosen: argparse.Namespace) -> list[str]:
    folder.mkdir()
    began = time.monotonic()
    soak = Soak(folder, seed=chosen.seed, sessions=chosen.sessions)
    try:
        for number in range(chosen.rounds):
            soak.round()
            if sys.stderr.isatty():
                print(f"\r{number + 1}/{chosen.rounds}", end="", file=sys.stderr, flush=True)
    finally:
        soak.end()
    print("\n".join([*soak.counts.lines(), f"the rounds took {time.monotonic() - began:.0f} s"]), flush=True)
    return soak.counts.faults


def _cycles(folder: Path, cycles: int, over: threading.Event) -> CycleCounts:
    folder.mkdir()
    return run_cycles(folder, cycles, is_wanted=lambda: not over.is_set())


if __name__ == "__main__":
    sys.exit(main())
