"""`compozy agent which`, `why` and the list of a fleet with shadows: reports P21, P23, P24, P26."""

from pathlib import Path

import pytest

from tests.kit.agent_files import write_agent
from tests.kit.cli import Cli, sequence


@pytest.fixture
def fleet(served: Cli) -> Cli:
    """The same name in the workspace, an additional folder (twice) and the home; one broken, one reserved."""
    agents = served.folder / ".compozy" / "agents"
    more = served.folder.parent / "more" / ".compozy" / "agents"
    write_agent(agents, "pilot", prompt="Fly.\n", extra="permissions: approve-all\ncategory_path: [air, pilots]\n")
    write_agent(more, "pilot", prompt="Fly with care.\n", extra="tools: [fs__read]\n")
    write_agent(more, "pilot-copy", declared="pilot", prompt="Fly twice.\n")
    write_agent(served.home.agents, "pilot", prompt="Check the list before the flight. " * 180)
    (agents / "broken").mkdir()
    (agents / "broken" / "AGENT.md").write_text("no header\n")
    write_agent(agents, "coordinator")
    write_agent(agents, "folder-name", declared="crew", extra="category_path: [air]\n")
    assert served("workspace", "add", ".", "--name", "hangar", "--add-dir", str(more.parents[1])).code == 0
    return served


def test_which_shows_the_winner_then_every_hidden_file_with_its_rule(fleet: Cli) -> None:
    found = fleet("agent", "which", "pilot", "-o", "json").object()
    assert next(iter(found)) == "resolution_source"
    effective = found["effective"]
    assert isinstance(effective, dict)
    assert effective["path"] == str(fleet.folder / ".compozy/agents/pilot/AGENT.md")
    assert (effective["place"], effective["origin"]) == ("workspace", "workspace")
    assert len(str(effective["definition_digest"])) == 64
    assert effective["size"] == Path(str(effective["path"])).stat().st_size
    hidden = sequence(found["hidden"])
    assert [(item["place"], item["rule"]) for item in hidden] == [
        ("additional folder 1", "workspace comes before additional folder 1"),
        ("additional folder 1", "workspace comes before additional folder 1"),
        ("home", "workspace comes before home"),
    ]
    differs = sequence(hidden[0]["differs"])
    assert {item["field"]: (item["effective"], item["hidden"]) for item in differs} == {
        "permissions": ("approve-all", ""),
        "tools": ("", "fs__read"),
    }
    human = fleet("agent", "which", "pilot").out
    assert human.splitlines()[0].startswith("In force")
    assert human.index("In force") < human.index("Hidden")
    assert "permissions: not set here, approve-all in force" in human


def test_why_names_every_place_and_the_nearest_name(fleet: Cli) -> None:
    call = fleet("agent", "why", "pilto")
    assert call.code == 0
    assert "pilto is not defined here" in call.out and "Did you mean pilot?" in call.out
    for root in (fleet.folder / ".compozy/agents", fleet.home.agents):
        assert f"{root}/pilto/AGENT.md" in call.out
    missing = fleet("agent", "which", "pilto")
    assert missing.code == 69 and missing.err.splitlines()[-1] == "try: compozy agent why pilto"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("broken", "does not load: "),
        ("coordinator", "reserved name"),
        ("folder-name", "declares name 'crew'"),
        ("pilot", "is in force"),
    ],
)
def test_why_explains_each_kind_of_miss(fleet: Cli, name: str, text: str) -> None:
    call = fleet("agent", "why", name)
    assert call.code == 0 and text in call.out


def test_the_table_is_a_tree_of_categories_and_says_what_shadows_what(fleet: Cli) -> None:
    call = fleet("agent", "list")
    lines = [line.split("  workspace")[0].split("  global")[0].rstrip() for line in call.out.splitlines()]
    tree = lines[lines.index("air/") :][:4]
    assert tree == ["air/", "  crew", "  pilots/", "    pilot"]
    assert "3 agents · 1 definition does not load; see why with: compozy agent list --all" in call.out
    assert "coordinator" not in call.out
    assert "shadows global" in call.err and "→ 4 bytes of prompt" in call.err


def test_two_folders_with_one_name_are_reported_with_both_paths(served: Cli) -> None:
    agents = served.folder / ".compozy" / "agents"
    write_agent(agents, "one", declared="twin")
    write_agent(agents, "two", declared="twin")
    assert served("workspace", "add", ".").code == 0
    call = served("agent", "list")
    assert str(agents / "one" / "AGENT.md") in call.err and "already taken" in call.err
    hidden = sequence(served("agent", "which", "twin", "-o", "json").object()["hidden"])
    assert [item["path"] for item in hidden] == [str(agents / "two" / "AGENT.md")]
    assert "the first folder in name order wins" in str(hidden[0]["rule"])


def test_the_table_counts_sessions_and_calls_them_unavailable_when_the_store_is_damaged(fleet: Cli) -> None:
    assert fleet("session", "new", "--agent", "crew").code == 0
    counted = fleet("agent", "list").out.splitlines()
    assert counted[0].split() == ["NAME", "ORIGIN", "STATE", "PROVIDER", "·", "MODEL", "SESSIONS"]
    assert next(line for line in counted if line.startswith("  crew")).endswith("  1, 1 active")
    assert next(line for line in counted if line.startswith("general")).endswith("  0")
    for name in ("compozy.db", "compozy.db-wal", "compozy.db-shm"):
        (fleet.home.root / name).write_bytes(b"this is no database any more " * 4000)
    call = fleet("agent", "list")
    assert call.code == 0
    rows = [line for line in call.out.splitlines() if "  ok  " in line]
    assert len(rows) == 3 and all(line.endswith("unavailable") for line in rows), call.out
