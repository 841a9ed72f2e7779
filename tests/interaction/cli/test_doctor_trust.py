"""The doctor of a running daemon about trust (decisions D15; issue 5)."""

import json
import shlex
import subprocess
import sys

from tests.kit.agents import fake_agent_command
from tests.kit.cli import Cli, sequence, write_agent


def findings(cli: Cli, *words: str) -> dict[str, dict[str, object]]:
    report = cli("doctor", "--only", "trust", "-o", "json", *words).object()
    return {str(item["code"]): item for item in sequence(report["items"])}


def run_suggested(cli: Cli, item: dict[str, object]) -> None:
    """Run the command a finding suggests; nobody can be asked here, so say yes."""
    program, *words = shlex.split(str(item["suggested_command"]))
    assert program == "compozy" and words[:2] == ["trust", "grant"]
    subprocess.run([sys.executable, "-m", "compozy", *words, "--yes"], env=cli.environment, check=True, timeout=60)


def test_a_file_that_changed_since_it_was_trusted_is_named_until_somebody_looked(shared: Cli) -> None:
    command = json.dumps(fake_agent_command(shared.folder.parent, name=shared.folder.name))
    path = write_agent(shared.folder / ".compozy", "local", f"---\nname: local\ncommand: {command}\n---\nHi.\n")
    assert shared("workspace", "add", ".").code == 0
    assert "trust_changed" not in findings(shared)
    assert shared("trust", "grant", "--yes").code == 0
    assert "trust_changed" not in findings(shared)
    path.write_text(path.read_text().replace("Hi.", "Hello there."))
    item = findings(shared)["trust_changed"]
    assert item["severity"] == "warn" and str(path) in str(item["message"])
    run_suggested(shared, item)
    assert "trust_changed" not in findings(shared)


def test_a_session_whose_agent_would_not_start_is_named(shared: Cli) -> None:
    command = json.dumps(fake_agent_command(shared.folder.parent, name=shared.folder.name))
    write_agent(shared.folder / ".compozy", "waits", f"---\nname: waits\ncommand: {command}\n---\nHi.\n")
    assert shared("workspace", "add", ".").code == 0
    assert shared("trust", "grant", "--yes").code == 0
    session = shared("session", "new", "--agent", "waits", "-o", "json").object()
    assert "sessions_waiting" not in findings(shared)
    assert shared("trust", "revoke").code == 0
    item = findings(shared)["sessions_waiting"]
    assert item["severity"] == "warn" and str(session["id"]) in str(item["message"])
    run_suggested(shared, item)
    assert "sessions_waiting" not in findings(shared)
