"""A writer killed with SIGKILL at 200 random points leaves the old state or the new one (reports P32; issue 4)."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit import fuzzing

KILLS = 200


@pytest.mark.fuzz
def test_a_writer_killed_at_200_random_points_leaves_old_or_new_and_no_lock(tmp_path: Path) -> None:
    argv = [
        sys.executable,
        "-m",
        "tests.kit.authoring_victim",
        str(tmp_path),
        str(fuzzing.times(KILLS)),
        str(fuzzing.seed(7)),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=fuzzing.times(240))
    assert done.returncode == 0, done.stderr
