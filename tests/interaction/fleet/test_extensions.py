"""Extensions through the command line: their agents come and go, and are trusted no more than a workspace's."""

from pathlib import Path

import pytest

from tests.kit.agent_files import write_agent
from tests.kit.cli import Cli, sequence


@pytest.fixture
def kit(served: Cli) -> Path:
    root = served.folder.parent / "kit"
    write_agent(root / "agents", "reviewer", prompt="From the kit.\n")
    write_agent(root / "agents", "general", prompt="Hidden by the home's own.\n")
    write_agent(root / "agents", "runner", extra="command: /bin/true\n")
    (root / "extension.toml").write_text('name = "kit"\nversion = "1.0"\nagents = ["agents"]\n')
    return root


def names(cli: Cli) -> list[object]:
    return [row["name"] for row in sequence(cli("agent", "list", "-o", "json").json())]


def test_its_agents_are_global_candidates_while_it_is_enabled(served: Cli, kit: Path) -> None:
    added = served("extension", "add", str(kit))
    assert added.code == 0 and "enabled" in added.out
    assert names(served) == ["general", "reviewer", "runner"]
    info = served("agent", "info", "reviewer", "-o", "json").object()
    assert (info["origin"], info["extension"]) == ("global", "kit")
    which = served("agent", "which", "general", "-o", "json").object()
    assert [item["place"] for item in sequence(which["hidden"])] == ["extension kit"]
    assert served("extension", "disable", "kit").code == 0
    assert names(served) == ["general"]
    assert served("extension", "enable", "kit").code == 0
    assert names(served) == ["general", "reviewer", "runner"]
    assert served("extension", "remove", "kit", "--yes").code == 0
    assert names(served) == ["general"] and (kit / "extension.toml").exists()
    assert "no extensions yet" in served("extension", "list").out


def test_what_it_would_run_needs_trust(served: Cli, kit: Path) -> None:
    served("extension", "add", str(kit))
    call = served("session", "new", "--agent", "runner")
    assert call.code == 71 and "trust" in call.err


def test_a_reserved_name_or_a_broken_file_refuses_it_and_changes_nothing(served: Cli, kit: Path) -> None:
    write_agent(kit / "agents", "coordinator")
    call = served("extension", "add", str(kit), "-o", "json")
    assert call.code == 78 and "agent_name_reserved" in call.err
    assert served("extension", "list", "-o", "json").json() == []


def test_one_that_breaks_later_says_so_and_its_other_agents_stay(served: Cli, kit: Path) -> None:
    served("extension", "add", str(kit))
    (kit / "agents" / "runner" / "AGENT.md").write_text("no header")
    listed = served("extension", "list")
    assert "enabled, broken" in listed.out and str(kit / "agents/runner/AGENT.md") in listed.err
    assert names(served) == ["general", "reviewer", "runner"]
