"""The way of a person with a model server of their own: install, set up, run; with the agent from PyPI (D24)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.leftovers import left_after

pytestmark = pytest.mark.e2e

# An installation downloads about 60 MB; a turn starts the agent.
PATIENCE = 600.0
KEY = "planted-endpoint-key-0123456789"


def test_a_model_server_is_used_from_installation_to_a_finished_turn(models: str, tmp_path: Path) -> None:
    home, workspace, marker = tmp_path / "home", tmp_path / "workspace", f"e2e-{os.getpid()}-endpoint"
    home.mkdir(mode=0o700)
    workspace.mkdir()
    (home / "config.toml").write_text("[http]\nenabled = false\n")
    (workspace / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:1/v1\nLLM_PROVIDER=OTHER\n")
    env = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG") or name.startswith("PIP_")},
        **{name: value for name, value in os.environ.items() if name.startswith("UV_")},
        "HOME": str(tmp_path),
        "COMPOZY_HOME": str(home),
        "ENDPOINT_KEY": KEY,
        "E2E_MARKER": marker,
    }

    def compozy(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "compozy", *words],
            env=env,
            cwd=workspace,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    try:
        where = ("--base-url", f"{models}/v1", "--model", "fake-model", "--default")
        installed = json.loads(compozy("provider", "install", "openai-compatible", *where, "-o", "json"))
        assert installed["version"] == "0.5.17" and installed["was_there"] is False
        again = json.loads(compozy("provider", "install", "openai-compatible", "-o", "json"))
        assert again["was_there"] is True
        compozy("provider", "set", "openai-compatible", "--key", "env:ENDPOINT_KEY")
        compozy("daemon", "start")
        asked = json.loads(compozy("provider", "auth", "status", "openai-compatible", "-o", "json"))
        assert asked["auth_status"]["state"] == "authenticated"
        task = f"[[write {workspace}/out.txt|written by the model]] [[say all done]]"
        report = json.loads(compozy("run", task, "--permissions", "approve-all", "-o", "json"))
        assert (report["text"], report["stop_reason"]) == ("all done", "end_turn")
        assert (workspace / "out.txt").read_text() == "written by the model"
        narrow = f"[[write {workspace}/no.txt|x]] [[say done]]"
        compozy("run", narrow, "--permissions", "approve-reads", "--on-ask", "deny", "-o", "json")
        assert not (workspace / "no.txt").exists()
        session = report["session_id"]
        answer = json.loads(compozy("session", "prompt", session, "[[say still here]]", "-o", "json"))
        assert "still here" in json.dumps(answer)
    finally:
        subprocess.run([sys.executable, "-m", "compozy", "daemon", "stop"], env=env, timeout=60, capture_output=True)
    stored = [path for path in home.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert stored == [] and left_after(f"E2E_MARKER={marker}") == []
