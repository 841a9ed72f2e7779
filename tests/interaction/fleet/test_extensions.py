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


def test_trust_in_an_extension_covers_the_programs_it_brings_and_asks_again_when_they_change(
    served: Cli, kit: Path
) -> None:
    program = kit / "bin" / "run.sh"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    write_agent(kit / "agents", "runner", extra=f"command: {program}\n")
    skill = kit / "agents" / "runner" / "skills" / "helper" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(
        "---\nname: helper\nmetadata: {compozy: {mcp_servers: [{name: s, command: s-srv}]}}\n---\nHelp.\n"
    )
    served("extension", "add", str(kit))
    report = served("trust", "show", "--agent", "runner", "-o", "json").object()
    kinds = {str(item["kind"]): str(item["path"]) for item in sequence(report["items"])}
    assert kinds == {
        "agent_command": str(kit / "agents/runner/AGENT.md"),
        "skill_mcp_server": str(skill),
        "program": str(program),
    }
    assert served("trust", "grant", "--agent", "runner", "--yes").code == 0
    assert served("session", "new", "--agent", "runner").code == 0
    for path in (program, skill, kit / "agents" / "runner" / "AGENT.md"):
        path.write_text(path.read_text() + "\n# another line\n")
        call = served("session", "new", "--agent", "runner")
        assert call.code == 71 and str(path) in call.err
        assert served("trust", "grant", "--agent", "runner", "--yes").code == 0
        assert served("session", "new", "--agent", "runner").code == 0


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
