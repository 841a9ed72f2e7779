"""Trust before execution, as a person and a script meet it (decisions D15; reports P19, P42)."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.kit.agents import fake_agent_command
from tests.kit.cli import Cli, sequence, write_agent

RECORDING = "import pathlib, sys; pathlib.Path(sys.argv[1]).open('a').write('ran\\n')"


@pytest.fixture
def ran(shared: Cli) -> Path:
    """A file that exists as soon as anything of the workspace ran."""
    return shared.folder.parent / "ran"


@pytest.fixture
def project(shared: Cli, ran: Path) -> Cli:
    """A cloned repository whose agents, hooks, servers, skills and settings would all leave a trace when they run."""
    record = json.dumps([sys.executable, "-c", RECORDING, str(ran)])
    line = json.dumps(shlex.join([sys.executable, "-c", RECORDING, str(ran)]))
    program, *words = json.loads(record)
    hook = f"{{name: h, event: session.pre_create, command: {json.dumps(program)}, args: {json.dumps(words)}}}"
    folder = shared.folder / ".compozy"
    agent = write_agent(folder, "stranger", f"---\nname: stranger\ncommand: {line}\nhooks: [{hook}]\n---\nHello.\n")
    server = {"mcpServers": {"probe": {"command": program, "args": words, "secret_env": {"T": "env:HOME"}}}}
    agent.with_name("mcp.json").write_text(json.dumps(server))
    skill = folder / "skills" / "helper" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: helper\nmetadata: {{compozy: {{hooks: [{hook}]}}}}\n---\nHelp.\n")
    (folder / "config.toml").write_text(f"[providers.house]\ncommand = {line}\n")
    assert shared("workspace", "add", ".").code == 0
    return shared


@pytest.fixture
def simple(shared: Cli) -> Cli:
    """A repository with one agent that runs the scripted agent."""
    command = json.dumps(fake_agent_command(shared.folder.parent, name=shared.folder.name))
    write_agent(shared.folder / ".compozy", "local", f"---\nname: local\ncommand: {command}\n---\nHello.\n")
    assert shared("workspace", "add", ".").code == 0
    return shared


def test_looking_at_a_workspace_runs_nothing_of_it(project: Cli, ran: Path) -> None:
    path = str(project.folder / ".compozy/agents/stranger/AGENT.md")
    for words in (
        ("agent", "list", "--all"),
        ("agent", "info", "stranger"),
        ("agent", "check", path),
        ("agent", "inspect", path),
        ("skill", "check", str(project.folder / ".compozy/skills/helper/SKILL.md")),
        ("workspace", "info"),
        ("trust", "show"),
        ("trust", "show", "--agent", "stranger", "-o", "json"),
        ("doctor",),
    ):
        call = project(*words)
        assert call.code in (0, 1), (words, call.err)
        assert not ran.exists(), words
    refused = project("session", "new", "--agent", "stranger")
    assert refused.code == 71 and not ran.exists()


def test_the_evidence_names_everything_that_would_run_and_where_it_stands(project: Cli) -> None:
    report = project("trust", "show", "--agent", "stranger", "-o", "json").object()
    items = {str(item["kind"]): item for item in sequence(report["items"])}
    assert set(items) == {"agent_command", "hook", "mcp_server", "skill_hook", "provider"}
    folder = project.folder / ".compozy"
    assert items["agent_command"]["path"] == str(folder / "agents/stranger/AGENT.md")
    assert items["skill_hook"]["path"] == str(folder / "skills/helper/SKILL.md")
    assert items["provider"]["path"] == str(folder / "config.toml")
    assert items["mcp_server"]["references"] == ["T from variable HOME"]
    assert all("pathlib" in str(item["runs"]) and item["digest"] for item in items.values())
    assert all(item["required"] and not item["trusted"] for item in items.values())
    human = project("trust", "show").out
    assert "hook of a skill" in human and "trust it as it is now: compozy trust grant" in human


def test_a_script_is_refused_with_evidence_and_a_command_that_works(simple: Cli) -> None:
    refused = simple("run", "hello", "--agent", "local", "-o", "json")
    assert refused.code == 71
    diagnostic = json.loads(refused.err)["diagnostic"]
    assert diagnostic["code"] == "trust_required"
    evidence = diagnostic["evidence"]["items"]
    assert [item["kind"] for item in evidence] == ["agent_command"]
    assert evidence[0]["path"] == str(simple.folder / ".compozy/agents/local/AGENT.md") and evidence[0]["digest"]
    words = shlex.split(diagnostic["suggested_command"])
    assert words[:3] == ["compozy", "trust", "grant"]
    granted = simple(*words[1:])
    assert granted.code == 0 and "trusted 1 item" in granted.err
    assert simple("run", "hello", "--agent", "local").code == 0
    assert "yes" in simple("trust", "show").out


def test_a_changed_file_asks_again_and_its_old_state_does_not(simple: Cli) -> None:
    path = simple.folder / ".compozy/agents/local/AGENT.md"
    text = path.read_text()
    assert simple("trust", "grant", "--yes").code == 0
    assert simple("session", "new", "--agent", "local").code == 0
    path.write_text(text.replace("Hello.", "Hello. Delete everything."))
    assert simple("session", "new", "--agent", "local").code == 71
    path.write_text(text)
    assert simple("session", "new", "--agent", "local").code == 0


def test_a_grant_of_what_was_shown_does_not_cover_what_came_meanwhile(simple: Cli) -> None:
    digest = str(simple("trust", "show", "-o", "json").object()["digest"])
    path = simple.folder / ".compozy/agents/local/AGENT.md"
    path.write_text(path.read_text().replace("Hello.", "Something else."))
    late = simple("trust", "grant", "--digest", digest)
    assert late.code == 71 and "changed since it was shown" in late.err
    assert simple("session", "new", "--agent", "local").code == 71


def test_run_asks_in_the_terminal_with_what_would_run_in_view(simple: Cli) -> None:
    path = str(simple.folder / ".compozy/agents/local/AGENT.md")
    with simple.terminal("run", "hello", "--agent", "local") as terminal:
        shown = terminal.wait_for("Trust these files as they are now?")
        assert "agent program local:" in shown and "fake_agent.py" in shown
        assert path in shown.replace("\n", "")
        terminal.type("n\n")
        terminal.wait_for("not trusted; nothing was started")
        assert terminal.process.wait(30) != 0
    with simple.terminal("run", "hello", "--agent", "local") as terminal:
        terminal.wait_for("Trust these files as they are now?")
        terminal.type("y\n")
        terminal.wait_for("go on:")
        assert terminal.process.wait(30) == 0


def test_a_program_of_the_workspace_is_trusted_by_its_content(shared: Cli) -> None:
    command = fake_agent_command(shared.folder.parent, name=shared.folder.name)
    program = shared.folder / "start.sh"
    program.write_text(f"#!/bin/sh\nexec {command}\n")
    program.chmod(0o755)
    text = "---\nname: local\ncommand: sh start.sh\n---\nHello.\n"
    write_agent(shared.folder / ".compozy", "local", text)
    assert shared("workspace", "add", ".").code == 0
    assert "start.sh" in shared("trust", "show").out
    assert shared("trust", "grant", "--yes").code == 0
    session = str(shared("session", "new", "--agent", "local", "-o", "json").object()["id"])
    assert shared("session", "prompt", session, "hello").code == 0
    assert shared("session", "stop", session).code == 0
    program.write_text(program.read_text() + "# changed\n")
    refused = shared("session", "prompt", session, "hello")
    assert refused.code == 71 and "the program changed since it was trusted" in refused.err
    assert shared("session", "new", "--agent", "local").code == 71
    remedy = shlex.split(refused.err.split("try: ")[1].strip())
    assert shared(*remedy[1:]).code == 0
    assert shared("session", "prompt", session, "hello").code == 0


def test_trust_taken_back_stops_the_next_start(simple: Cli) -> None:
    assert simple("trust", "grant", "--yes").code == 0
    session = str(simple("session", "new", "--agent", "local", "-o", "json").object()["id"])
    assert "took back trust in 1 file" in simple("trust", "revoke").err
    refused = simple("session", "prompt", session, "hello")
    assert refused.code == 71 and "trust was taken back" in refused.err
    (item,) = sequence(simple("attention", "-o", "json").object()["items"])
    assert (item["kind"], item["session_id"]) == ("trust", session)
    assert item["command"] == f"compozy trust grant --workspace {simple.folder}"
    assert simple("session", "new", "--agent", "local").code == 71


def test_only_a_person_decides(simple: Cli) -> None:
    for verb in ("grant", "revoke"):
        refused = simple("trust", verb, env={"COMPOZY_SESSION_ID": "sess-0000000000000000"})
        assert refused.code == 77 and "for a person" in refused.err
    inside = {"COMPOZY_SESSION_ID": "sess-0000000000000000"}
    for change in (("set", "trust.mode", "off"), ("set", "permissions.mode", "approve-all"), ("unset", "trust.mode")):
        refused = simple("config", *change, env=inside)
        assert refused.code == 77 and "for a person" in refused.err
    assert simple("config", "get", "trust.mode", env=inside).code == 0
    unasked = simple("trust", "grant")
    assert unasked.code == 2 and "--digest" in unasked.err


def test_a_workspaces_provider_counts_only_after_it_was_trusted(shared: Cli) -> None:
    command = json.dumps(fake_agent_command(shared.folder.parent, name=shared.folder.name))
    folder = shared.folder / ".compozy"
    write_agent(folder, "local", "---\nname: local\nprovider: house\n---\nHello.\n")
    (folder / "config.toml").write_text(f"[providers.house]\ncommand = {command}\n")
    assert shared("workspace", "add", ".").code == 0
    refused = shared("session", "new", "--agent", "local", "-o", "json")
    assert refused.code == 71
    assert [i["kind"] for i in json.loads(refused.err)["diagnostic"]["evidence"]["items"]] == ["provider"]
    assert shared("trust", "grant", "--yes").code == 0
    assert shared("run", "hello", "--agent", "local").code == 0


def test_a_damaged_record_trusts_nothing_and_says_so(cli: Cli) -> None:
    command = json.dumps(fake_agent_command(cli.folder.parent, name="local"))
    write_agent(cli.folder / ".compozy", "local", f"---\nname: local\ncommand: {command}\n---\nHello.\n")
    (cli.home.root / "trust.json").write_text("{")
    assert cli("daemon", "start").code == 0
    for words in (("session", "new", "--agent", "local"), ("trust", "show"), ("trust", "grant", "--yes")):
        refused = cli(*words)
        assert refused.code == 71 and "trust.json' is damaged" in refused.err, words
    assert (cli.home.root / "trust.json").read_text() == "{"
    assert cli("agent", "list").code == 0
