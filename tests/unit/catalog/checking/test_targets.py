"""Which files a path stands for (issue 3 item 4, reports P18)."""

from pathlib import Path

import pytest

from compozy.catalog.checking.run import visible_targets
from compozy.catalog.checking.targets import Kind, NothingToCheck, targets_at, workspace_of


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def found(path: Path, below: Path) -> list[tuple[str, str]]:
    return [(target.kind.name, str(target.path.relative_to(below))) for target in targets_at(path)]


def test_an_agent_folder_is_everything_that_belongs_to_the_agent(tmp_path: Path) -> None:
    put(
        tmp_path,
        "a/AGENT.md",
        "a/mcp.json",
        "a/capabilities/x.toml",
        "a/SOUL.md",
        "a/skills/g/s/SKILL.md",
        "a/notes.md",
    )
    assert found(tmp_path / "a", tmp_path) == [
        ("AGENT", "a/AGENT.md"),
        ("CATALOG", "a"),
        ("MCP", "a/mcp.json"),
        ("SOUL", "a/SOUL.md"),
        ("SKILL", "a/skills/g/s/SKILL.md"),
    ]


def test_a_workspace_is_its_agents_skills_and_servers_and_nothing_else_in_it(tmp_path: Path) -> None:
    put(
        tmp_path,
        ".compozy/agents/b/AGENT.md",
        ".compozy/agents/a/AGENT.md",
        ".compozy/agents/README.md",
        ".compozy/agents/AGENTS.md",
        ".compozy/agents/notes/todo.txt",
        ".compozy/agents/a/AGENT.md~",
        ".compozy/agents/.DS_Store",
        ".compozy/skills/s/SKILL.md",
        ".compozy/mcp.json",
        "AGENTS.md",
        "src/mcp.json",
    )
    expected = [
        ("AGENT", ".compozy/agents/a/AGENT.md"),
        ("AGENT", ".compozy/agents/b/AGENT.md"),
        ("SKILL", ".compozy/skills/s/SKILL.md"),
        ("MCP", ".compozy/mcp.json"),
    ]
    assert found(tmp_path, tmp_path) == expected
    assert found(tmp_path / ".compozy", tmp_path) == expected
    assert found(tmp_path / ".compozy/agents", tmp_path) == expected[:2]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("AGENT.md", Kind.AGENT),
        ("reviewer.md", Kind.AGENT),
        ("SKILL.md", Kind.SKILL),
        ("SOUL.md", Kind.SOUL),
        ("HEARTBEAT.md", Kind.HEARTBEAT),
        ("mcp.json", Kind.MCP),
        (".mcp.json", Kind.MCP),
        ("capabilities.toml", Kind.CAPABILITY_FILE),
        ("capabilities/a.json", Kind.CAPABILITY_RECORD),
    ],
)
def test_a_single_file_is_known_by_its_name(name: str, kind: Kind, tmp_path: Path) -> None:
    put(tmp_path, name)
    assert [(target.kind, target.path) for target in targets_at(tmp_path / name)] == [(kind, tmp_path / name)]


@pytest.mark.parametrize("name", ["absent", "notes.txt", "empty-folder"])
def test_what_cannot_be_checked_is_said_with_what_can(name: str, tmp_path: Path) -> None:
    put(tmp_path, "notes.txt")
    (tmp_path / "empty-folder").mkdir()
    with pytest.raises(NothingToCheck, match=name):
        targets_at(tmp_path / name)


def test_the_home_is_no_workspace_of_the_folders_above_it(tmp_path: Path) -> None:
    home = tmp_path / ".compozy"
    put(home, "agents/g/AGENT.md")
    project = tmp_path / "project"
    put(project, ".compozy/agents/w/AGENT.md", "deep/er/file")
    assert workspace_of(project / "deep/er", home) == project
    assert workspace_of(tmp_path, home) != tmp_path
    names = [target.path.parent.name for target in visible_targets(project / "deep", home)]
    assert names == ["w", "g"]


def test_links_are_not_entered(tmp_path: Path) -> None:
    put(tmp_path, "real/s/SKILL.md", ".compozy/agents/a/AGENT.md")
    (tmp_path / ".compozy/skills").symlink_to(tmp_path / "real")
    (tmp_path / ".compozy/agents/b").mkdir()
    (tmp_path / ".compozy/agents/b/AGENT.md").symlink_to(tmp_path / "nowhere")
    assert found(tmp_path, tmp_path) == [
        ("AGENT", ".compozy/agents/a/AGENT.md"),
        ("AGENT", ".compozy/agents/b/AGENT.md"),
    ]
