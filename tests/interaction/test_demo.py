"""`make demo`, as a newcomer without a terminal, an account or a network meets it."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

from tests.kit.leftovers import left_after

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0


def run_demo(folder: Path, marker: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "nobody"),
        "COMPOZY_DEMO_DIR": str(folder / "demo"),
        "COMPOZY_DEMO_PROGRAM": str(Path(sys.executable).with_name("compozy")),
        "DEMO_MARKER": marker,
    }
    done = subprocess.run(
        [ROOT / "scripts" / "demo.sh"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_demo_does_the_main_job_twice_and_leaves_no_process(tmp_path: Path) -> None:
    marker = f"demo-{uuid.uuid4().hex}"
    for _ in range(2):
        told = run_demo(tmp_path, marker)
        assert "agent code-scout" in told and "agent incident-desk" in told, "each task finds its agent"
        assert "no language model" in told and "shop/payments/retry.py:" in told
        assert "permission" in told and "session_stopped" in told, "the events are shown"
        findings = (tmp_path / "demo" / "webshop" / "FINDINGS.md").read_text()
        assert "shop/payments/retry.py:" in findings
        assert left_after(marker) == []
    assert not (tmp_path / "nobody").exists(), "the person's own home is not touched"
    assert not (ROOT / "examples" / "webshop" / "FINDINGS.md").exists(), "the sample is copied, not changed"
