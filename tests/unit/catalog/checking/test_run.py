"""Checking and repairing many files (issue 3 item 4; reports P03, P04, P05, P08, P10, P15)."""

from pathlib import Path

import pytest

from compozy.catalog.checking import run as run_module
from compozy.catalog.checking.run import check, repair
from compozy.documents.agents import load_agent
from compozy.model.diagnostic import Severity

BROKEN = """---\r
# who
name: Tide-Clerk   # the name\r
tools: "a__b, c__d"
permissions: deny-al
modle: x  # which
---

Keep the tables current.\r
---
"""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    path = tmp_path / ".compozy/agents/tide-clerk/AGENT.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(BROKEN.encode())
    path.chmod(0o640)
    return path


def test_a_file_whose_every_problem_has_a_repair_loads_afterwards(agent: Path) -> None:
    before = check([agent])
    assert before.errors == 4 and before.repairable == 4
    (change,) = repair([agent])
    assert len(change.titles) == 4
    assert load_agent(agent).definition.model == "x"
    assert check([agent]).diagnostics == ()


def test_a_repair_changes_the_concerned_characters_and_keeps_mode_and_line_endings(agent: Path) -> None:
    repair([agent])
    expected = (
        BROKEN.replace("Tide-Clerk", "tide-clerk")
        .replace('"a__b, c__d"', "[a__b, c__d]")
        .replace("deny-al", "deny-all")
        .replace("modle", "model")
    )
    assert agent.read_bytes() == expected.encode()
    assert agent.stat().st_mode & 0o777 == 0o640


def test_repairing_twice_is_repairing_once(agent: Path) -> None:
    repair([agent])
    once = agent.read_bytes()
    assert repair([agent]) == ()
    assert agent.read_bytes() == once


def test_without_writing_nothing_changes(agent: Path) -> None:
    (change,) = repair([agent], write=False)
    assert agent.read_bytes() == BROKEN.encode() == change.before.encode()
    assert change.after != change.before


def test_a_warning_is_repaired_unless_the_repair_would_bring_an_error(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServer": {"a": {"command": "x"}}}')
    repair([path])
    assert path.read_text() == '{"mcpServers": {"a": {"command": "x"}}}'
    broken = '{"mcpServer": {"a": {"nonsense": 1}}}'
    path.write_text(broken)
    assert repair([path]) == ()
    assert path.read_text() == broken and check([path]).errors == 0


def test_a_file_saved_while_it_is_repaired_is_left_to_its_author(
    agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "read_text", lambda path: "saved meanwhile")
    repair([agent])
    assert agent.read_bytes() == BROKEN.encode()


def test_one_bad_file_hides_no_other_and_is_named_with_its_absolute_path(tmp_path: Path) -> None:
    agents = tmp_path / ".compozy/agents"
    for name, text in (("good-one", "---\nname: good-one\n---\nHi\n"), ("bad-one", "---\nname: [\n---\n")):
        (agents / name).mkdir(parents=True)
        (agents / name / "AGENT.md").write_text(text)
    report = check([tmp_path])
    assert report.files == 2
    assert {one.path for one in report.diagnostics} == {str(agents / "bad-one/AGENT.md")}


def test_a_repeated_key_is_an_error_without_repair_and_names_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "AGENT.md"
    path.write_text("---\nname: quay\npermissions: deny-all\nprovider: claude\npermissions: approve-all\n---\nHi\n")
    (problem,) = check([path]).diagnostics
    assert "permissions" in problem.message and "lines 3 and 5" in problem.message
    assert problem.repair is None


@pytest.mark.parametrize("name", ["mcp.json", "capabilities.json"])
def test_a_repeated_json_member_is_an_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text('{\n"a": 1,\n"a": 2\n}')
    report = check([path])
    assert "duplicate-key" in [one.code for one in report.diagnostics]


def test_a_name_in_other_letters_is_one_problem_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "agents/校对/AGENT.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: 校对\n---\nHi\n")
    (problem,) = check([tmp_path / "agents"]).diagnostics
    assert problem.code == "name-invalid"
    assert "校对" in problem.message and "title" in problem.cause


def test_findings_that_need_two_definitions_appear_for_a_workspace(tmp_path: Path) -> None:
    agents = tmp_path / ".compozy/agents"
    for folder, name in (("a", "same"), ("b", "same"), ("c", "coordinator")):
        (agents / folder).mkdir(parents=True)
        (agents / folder / "AGENT.md").write_text(f"---\n# {folder}\nname: {name}\n---\nHi\n")
    report = check([tmp_path])
    found = [(one.code, Path(one.path).parent.name, one.position and one.position.line) for one in report.diagnostics]
    assert ("discovery-same-name", "b", 3) in found
    assert ("name-reserved", "c", 3) in found


@pytest.mark.parametrize("make", ["link", "folder", "pipe"])
def test_what_is_no_file_is_one_finding(make: str, tmp_path: Path) -> None:
    import os

    path = tmp_path / "a/AGENT.md"
    path.parent.mkdir()
    if make == "link":
        path.symlink_to(tmp_path / "elsewhere.md")
    elif make == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    (problem,) = check([tmp_path / "a"]).diagnostics
    assert problem.severity is Severity.ERROR
    assert problem.code == {"link": "symlink-rejected"}.get(make, "not-regular-file")
    assert repair([tmp_path / "a"]) == ()


def test_a_file_that_is_not_utf_8_names_the_place(tmp_path: Path) -> None:
    path = tmp_path / "AGENT.md"
    path.write_bytes(b"---\nname: a\n---\nna\xefve\n")
    (problem,) = check([path]).diagnostics
    assert problem.position is not None
    assert (problem.position.line, problem.position.column) == (4, 3)


@pytest.mark.parametrize(
    ("extension", "text"),
    [
        ("json", '{{"id": "{name}",\n "sumary":  "S.",\n "outcome": "O."}}'),
        ("toml", 'id = "{name}"\nsumary = "S."  # keep\noutcome = "O."\n'),
    ],
)
def test_every_file_of_a_catalog_folder_is_repaired(extension: str, text: str, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    (folder / "capabilities").mkdir(parents=True)
    (folder / "AGENT.md").write_text("---\nname: a\n---\nHi\n")
    for name in ("one", "two"):
        (folder / "capabilities" / f"{name}.{extension}").write_text(text.format(name=name))
    repair([folder])
    assert check([folder]).diagnostics == ()
    expected = text.format(name="two").replace("sumary", "summary")
    assert (folder / f"capabilities/two.{extension}").read_text() == expected
