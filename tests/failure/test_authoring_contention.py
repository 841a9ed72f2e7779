"""Many programs edit one agent at once, over a real daemon (reports P32; issue 4)."""

import subprocess
import sys
import time
from pathlib import Path

from compozy.documents.agents import load_agent
from tests.kit.agent_files import write_agent
from tests.kit.daemons import Daemon, make_home

WRITERS, EDITS = 16, 50
# Far more than it takes; the machine may be busy.
PATIENCE = 240


def test_sixteen_programs_make_fifty_changes_each_and_none_is_lost(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", http=False)
    path = write_agent(home.agents, "shared", extra="# one line that stays\n")
    daemon = Daemon(home).start()
    try:
        argv = [sys.executable, "-m", "tests.kit.authoring_writer", str(home.root), "shared"]
        writers = [
            subprocess.Popen([*argv, str(who), str(EDITS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for who in range(WRITERS)
        ]
        reads = 0
        deadline = time.monotonic() + PATIENCE
        while any(writer.poll() is None for writer in writers):
            load_agent(path)
            reads += 1
            assert time.monotonic() < deadline
            # Reading without pause would only take the writers' time.
            time.sleep(0.01)
        for writer in writers:
            _, errors = writer.communicate(timeout=PATIENCE)
            assert writer.returncode == 0, errors
    finally:
        daemon.end()
    expected = {f"writer {who} change {number}" for who in range(WRITERS) for number in range(EDITS)}
    lines = load_agent(path).definition.prompt.splitlines()
    assert set(lines[1:]) == expected and len(lines) == 1 + WRITERS * EDITS
    assert len(list((home.root / "history/agents/shared").iterdir())) == WRITERS * EDITS, "each can be taken back"
    assert reads > 0 and "# one line that stays" in path.read_text()
    assert [entry.name for entry in path.parent.iterdir()] == ["AGENT.md"]
