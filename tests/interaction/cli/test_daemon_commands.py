"""`daemon start|stop`, `status`, `drain`, `doctor`, `install`, and workspaces: the small commands."""

import json
from pathlib import Path

from tests.kit.cli import Cli, sequence, steps


def test_start_status_stop_and_start_again(cli: Cli) -> None:
    started = cli("daemon", "start", "-o", "json").object()
    status = cli("status", "-o", "json").object()
    daemon = status["daemon"]
    assert isinstance(daemon, dict) and daemon["pid"] == started["pid"] and daemon["status"] == "running"
    assert f"running (pid {started['pid']})" in cli("status").out
    again = cli("daemon", "start")
    assert again.code == 1 and f"already running (pid={started['pid']})" in again.err
    assert cli("daemon", "stop").code == 0
    stopped = cli("status")
    assert stopped.code == 69 and "try: compozy daemon start" in stopped.err
    assert cli("daemon", "stop").code == 1


def test_while_draining_new_work_is_refused_and_afterwards_accepted(served: Cli) -> None:
    assert "refused" in served("drain").out
    refused = served("run", steps({"text": "x"}))
    assert refused.code == 71 and "draining" in refused.err
    assert "accepted" in served("undrain").out
    assert served("run", steps({"text": "x"})).code == 0


def test_doctor_works_with_and_without_a_daemon(cli: Cli) -> None:
    alone = cli("doctor", "-o", "json").object()
    assert "daemon.not_running" in [item["id"] for item in sequence(alone["items"])]
    cli("daemon", "start")
    served = cli("doctor", "-o", "json").object()
    assert "daemon.running" in [item["id"] for item in sequence(served["items"])]
    assert "daemon" in cli("doctor").out


def test_a_broken_configuration_is_a_finding_and_71(cli: Cli) -> None:
    cli.home.config_file.write_text("[http]\nprot = 1\n")
    call = cli("doctor", "--only", "config")
    assert call.code == 71 and "prot" in call.out
    assert "no check is called 'confg'" in cli("doctor", "--only", "confg").err


def test_the_bundle_holds_no_secret(served: Cli) -> None:
    served.home.config_file.write_text(
        served.home.config_file.read_text() + '# api_key = "sk-live-0123456789abcdef"\n'
    )
    path = Path(str(served("doctor", "--bundle", "-o", "json").object()["bundle"]))
    text = path.read_text()
    assert json.loads(text)["schema"] and "sk-live-0123456789abcdef" not in text
    assert path.stat().st_mode & 0o077 == 0


def test_install_writes_the_defaults_and_keeps_the_agent_that_is_there(cli: Cli) -> None:
    first = cli("install", "--provider", "offline", "-o", "json").object()
    assert first["created_agent"] is True and first["provider"] == "offline"
    assert 'provider = "offline"' in cli.home.config_file.read_text()
    agent = Path(str(first["agent_file"]))
    agent.write_text(agent.read_text() + "mine\n")
    assert cli("install", "--provider", "offline", "-o", "json").object()["created_agent"] is False
    assert agent.read_text().endswith("mine\n")


def test_install_says_what_offline_is_and_that_a_run_asks(cli: Cli) -> None:
    told = cli("install", "--provider", "offline").err
    assert "no language model" in told and "a run asks before it writes (approve-reads)" in told
    assert "language model" not in cli("install", "--provider", "codex").err


def test_settings_that_wait_for_a_restart_are_said_by_install_and_doctor_until_it_came(cli: Cli) -> None:
    cli("install", "--provider", "offline")
    cli("daemon", "start")
    assert "restarted" not in cli("install").err
    assert "compozy daemon stop && compozy daemon start" in cli("install", "--provider", "codex").err
    found = cli("doctor", "--only", "config")
    assert found.code == 70 and "defaults.provider" in found.out
    cli("daemon", "stop")
    cli("daemon", "start")
    assert "defaults.provider" not in cli("doctor", "--only", "config").out


def test_an_unknown_provider_is_refused_with_the_nearest_name(cli: Cli) -> None:
    call = cli("install", "--provider", "ofline")
    assert call.code != 0 and "did you mean 'offline'?" in call.err


def test_workspaces_are_added_shown_changed_and_forgotten(served: Cli, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    added = served("workspace", "add", ".", "--name", "first", "--add-dir", str(more), "-o", "json").object()
    assert added["root_dir"] == str(served.folder) and added["add_dirs"] == [str(more)]
    assert "first" in served("workspace", "list").out
    detail = served("workspace", "info", "-o", "json").object()
    assert next(iter(detail)) == "resolution_source" and "workspace" in detail
    assert "general" in served("workspace", "info", "first").out
    changed = served("workspace", "edit", "first", "--name", "second", "-o", "json").object()
    assert changed["resolution_source"] == "positional" and changed["name"] == "second"
    assert served("workspace", "edit", "second").code == 2
    assert served("workspace", "remove", "second").code == 2
    assert served("workspace", "remove", "second", "--yes").code == 0
    assert served.folder.is_dir()
    assert "second" not in served("workspace", "list").out


def test_a_path_that_does_not_exist_is_refused_with_the_command_that_makes_it(served: Cli) -> None:
    call = served("workspace", "add", "missing folder")
    assert call.code == 1 and "does not exist" in call.err
    assert call.err.splitlines()[-1] == f"try: mkdir -p '{served.folder}/missing folder'"


def test_the_processes_of_agents_are_listed_until_their_session_stops(served: Cli) -> None:
    assert served("daemon", "processes").out == "no agent runs\n"
    session = str(served("session", "new", "-o", "json").object()["id"])
    pid = served("session", "prompt", session, steps({"text": "{pid}"})).out.strip()
    lines = served("daemon", "processes").out.splitlines()
    assert lines[0].split()[:3] == ["PID", "Started", "Session"] and len(lines) == 2
    assert lines[1].startswith(pid) and session in lines[1] and "MiB" in lines[1]
    found = served("daemon", "processes", "-o", "json").object()
    assert found["total"] == 1 and [str(row["pid"]) for row in sequence(found["processes"])] == [pid]
    assert served("session", "stop", session).code == 0
    assert served("daemon", "processes", "-o", "json").object() == {"processes": [], "total": 0, "rss_bytes": 0}
