"""`make soak`: run both parts, print what was counted, end with 1 when the books do not balance."""

import argparse
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.soak.cycles import run_cycles
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
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        faults = _rounds(Path(folder) / "rounds", chosen) + _cycles(Path(folder) / "cycles", chosen.cycles)
    print(f"{time.monotonic() - began:.0f} s; {'clean' if not faults else f'{len(faults)} FAULTS'}")
    for fault in faults:
        print(f"  {fault}")
    return 1 if faults else 0


def _rounds(folder: Path, chosen: argparse.Namespace) -> list[str]:
    folder.mkdir()
    soak = Soak(folder, seed=chosen.seed, sessions=chosen.sessions)
    try:
        for number in range(chosen.rounds):
            soak.round()
            if sys.stderr.isatty():
                print(f"\r{number + 1}/{chosen.rounds}", end="", file=sys.stderr, flush=True)
    finally:
        soak.end()
    print("\n".join(soak.counts.lines()), flush=True)
    return soak.counts.faults


def _cycles(folder: Path, cycles: int) -> list[str]:
    folder.mkdir()
    counts = run_cycles(folder, cycles)
    print("\n".join(counts.lines()), flush=True)
    return counts.faults


if __name__ == "__main__":
    sys.exit(main())
