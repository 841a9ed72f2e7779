"""A few rounds of the soak: enough to know that it runs and that its books balance."""

import sys
from pathlib import Path

import pytest

from tests.soak.cycles import run_cycles
from tests.soak.rounds import Soak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_random_kills_under_load_lose_nothing_and_leave_nobody(tmp_path: Path) -> None:
    soak = Soak(tmp_path, seed=11, sessions=2)
    try:
        for _ in range(6):
            soak.round()
    finally:
        soak.end()
    assert soak.counts.faults == []
    assert soak.counts.turns and soak.counts.acknowledged and soak.counts.kills.total() == 6


def test_sessions_opened_and_closed_leave_no_descriptors_and_no_processes(tmp_path: Path) -> None:
    counts = run_cycles(tmp_path, 20, warm_up=10)
    assert counts.faults == []
