"""`compozy agent list` and `info` against a running daemon."""

import json

import pytest

from tests.kit.cli import COMPOZY, Cli, sequence, write_agent
from tests.kit.users import run_as_ordinary_user

REVIEWER = "---\nname: reviewer\nprovider: offline\ncategory_path: [quality, review]\n---\nYou review.\n"
BROKEN = "---\nname: [\n---\nhello\n"


@pytest.fixture
def workspace(shared: Cli) -> Cli:
    """The project is a workspace with one good and one broken agent."""
    write_agent(shared.folder / ".compozy", "reviewer", REVIEWER)
    write_agent(shared.folder / ".compozy", "broken", BROKEN)
    assert shared("workspace", "add", ".").code == 0
    return shared


def test_the_list_shows_what_is_in_force_and_counts_what_does_not_load(workspace: Cli) -> None:
    call = workspace("agent", "list")
    assert call.code == 0
    lines = call.out.splitlines()
    assert lines[0].split("  ")[0] == "NAME"
    assert lines[1].startswith("general")
    assert [line.split("  workspace")[0].rstrip() for line in lines[2:5]] == [
        "quality/",
        "  review/",
        "    reviewer",
    ]
    assert not any(line.startswith("broken") for line in lines)
    assert "1 definition does not load; see why with: compozy agent list --all" in call.out


def test_all_names_the_broken_file_and_its_problem(workspace: Cli) -> None:
    call = workspace("agent", "list", "--all")
    assert call.code == 0
    row = next(line for line in call.out.splitlines() if line.startswith("broken"))
    assert "invalid" in row
    assert str(workspace.folder / ".compozy/agents/broken/AGENT.md") in call.out


def test_json_is_a_bare_list_with_the_source_of_the_workspace_first(workspace: Cli) -> None:
    rows = sequence(workspace("agent", "list", "-o", "json").json())
    assert [row["name"] for row in rows] == ["broken", "general", "reviewer"]
    assert all(next(iter(row)) == "resolution_source" for row in rows)
    assert {row["resolution_source"] for row in rows} == {"cwd"}
    broken = rows[0]
    assert sequence(broken["diagnostics"])[0]["path"] == str(workspace.folder / ".compozy/agents/broken/AGENT.md")


def test_toon_names_its_fields_once(workspace: Cli) -> None:
    lines = workspace("agent", "list", "-o", "toon").out.splitlines()
    assert lines[0] == "resolution_source: cwd"
    assert lines[1].startswith("agents[3]{name,origin,state,")
    assert lines[4].startswith("  reviewer,workspace,ok,offline")


def test_every_way_to_name_the_workspace_says_so(workspace: Cli) -> None:
    elsewhere = workspace.folder.parent
    for words, env, source in (
        (("--workspace", str(workspace.folder)), {}, "flag"),
        (("--workspace", workspace.folder.name), {}, "flag"),
        ((), {"COMPOZY_WORKSPACE": workspace.folder.name}, "env"),
    ):
        rows = sequence(workspace("agent", "list", "-o", "json", *words, cwd=elsewhere, env=env).json())
        assert {row["resolution_source"] for row in rows} == {source}


def test_outside_of_any_workspace_the_global_agents_are_listed(workspace: Cli) -> None:
    rows = sequence(workspace("agent", "list", "-o", "json", cwd=workspace.folder.parent).json())
    assert [row["name"] for row in rows] == ["general"]
    assert "resolution_source" not in rows[0]


def test_a_blank_or_unknown_workspace_is_refused(workspace: Cli) -> None:
    blank = workspace("agent", "list", "--workspace", " ")
    assert blank.code == 2 and "blank" in blank.err
    unknown = workspace("agent", "list", "--workspace", f"{workspace.folder.name}x")
    assert unknown.code == 69 and f"did you mean {workspace.folder.name!r}?" in unknown.err


def test_an_unregistered_folder_is_named_with_the_command_that_registers_it(workspace: Cli) -> None:
    other = workspace.folder.parent / "other"
    other.mkdir()
    call = workspace("agent", "list", "--workspace", str(other))
    assert call.code == 69
    remedy = call.err.split("try: ")[1].split()
    assert workspace(*remedy[1:]).code == 0
    assert workspace("agent", "list", "--workspace", str(other)).code == 0


def test_info_shows_one_agent_as_it_would_run(workspace: Cli) -> None:
    call = workspace("agent", "info", "reviewer")
    assert call.code == 0
    assert "Provider  offline (from agent)" in call.out
    assert str(workspace.folder / ".compozy/agents/reviewer/AGENT.md") in call.out
    assert "  You review." in call.out
    agent = workspace("agent", "info", "reviewer", "-o", "json").object()
    assert agent["resolution_source"] == "cwd" and agent["origin"] == "workspace" and agent["capabilities"] == []


def test_info_of_an_unknown_agent_is_one_sentence_with_exit_code_69(workspace: Cli) -> None:
    call = workspace("agent", "info", "revewer")
    assert call.code == 69 and "'revewer'" in call.err and len(call.err.splitlines()) <= 2


def test_a_folder_that_cannot_be_read_is_no_empty_list(cli: Cli) -> None:
    """P21: an unreadable place is named and the rest is listed."""
    agents = write_agent(cli.folder / ".compozy", "reviewer", REVIEWER).parent.parent
    run_as_ordinary_user([*COMPOZY, "daemon", "start"], env=cli.environment, cwd=cli.folder)
    assert cli("workspace", "add", ".").code == 0
    agents.chmod(0)
    try:
        call = cli("agent", "list")
    finally:
        agents.chmod(0o700)
    assert call.code == 0 and f"could not read '{agents}'" in call.err and "general" in call.out


def test_errors_are_json_for_programs(workspace: Cli) -> None:
    call = workspace("agent", "info", "nobody", "-o", "json")
    assert call.out == "" and "nobody" in json.loads(call.err)["error"]


def test_an_unregistered_project_says_how_to_register_it_and_a_run_below_it_does(shared: Cli) -> None:
    write_agent(shared.folder / ".compozy", "reviewer", REVIEWER)
    below = shared.folder / "src"
    below.mkdir()
    call = shared("agent", "list", cwd=below)
    assert "reviewer" not in call.out and f"compozy workspace add {shared.folder}" in call.err
    made = shared("session", "new", "--agent", "general", "-o", "json", cwd=below).object()
    assert made["workspace_path"] == str(shared.folder)
    assert "reviewer" in shared("agent", "list", cwd=below).out


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("compozy agent info re", "reviewer"),
        ("compozy run x --agent gen", "general"),
        ("compozy agent li", "list"),
        ("compozy agent list --wor", "--workspace"),
    ],
)
def test_a_shell_is_offered_names_from_the_daemon(workspace: Cli, line: str, offered: str) -> None:
    words = line.split()
    env = {"_COMPOZY_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    call = workspace(env=env)
    assert call.code == 0 and f"plain,{offered}" in call.out.splitlines()


def test_completion_is_silent_without_a_daemon(cli: Cli) -> None:
    env = {"_COMPOZY_COMPLETE": "bash_complete", "COMP_WORDS": "compozy agent info g", "COMP_CWORD": "3"}
    call = cli(env=env)
    assert (call.out.strip(), call.err) == ("", "")


def test_when_nothing_could_be_read_the_list_fails_instead_of_being_empty(cli: Cli) -> None:
    """D8: "could not read" has another exit code than "none"."""
    run_as_ordinary_user([*COMPOZY, "daemon", "start"], env=cli.environment, cwd=cli.folder)
    agents = cli.home.agents
    agents.chmod(0)
    try:
        human, structured = cli("agent", "list"), cli("agent", "list", "-o", "json")
    finally:
        agents.chmod(0o700)
    assert (human.code, human.out) == (1, "") and f"could not read '{agents}'" in human.err
    assert structured.code == 1 and json.loads(structured.err)["code"] == "source_unreadable"
    (agents / "general" / "AGENT.md").unlink()
    empty = cli("agent", "list")
    assert empty.code == 0 and "no agents found" in empty.out
