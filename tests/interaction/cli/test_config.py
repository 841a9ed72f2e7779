"""`compozy config …`: read, change and explain settings, with and without a daemon (contract §2.1; issue 5.1)."""

from tests.kit.cli import Cli


def test_settings_are_read_changed_and_explained_without_a_daemon(cli: Cli) -> None:
    assert cli("config", "get", "http.enabled").out == "false\n"
    assert cli("config", "set", "log.level", "debug", "-o", "json").object() == {
        "key": "log.level",
        "before": "info",
        "value": "debug",
        "file": str(cli.home.config_file),
        "changed": True,
        "lifecycle": "restart-required",
        "next_action": "none",
        "applied": False,
    }
    assert cli("config", "get", "log.level", "-o", "json").json() == "debug"
    explained = cli("config", "explain", "log.level").out
    line = cli.home.config_file.read_text().splitlines().index('level = "debug"') + 1
    assert f"{cli.home.config_file}:{line}" in explained and "when the daemon is restarted" in explained
    assert "log.level" in cli("config", "list").out
    assert "log.level" in cli("config", "unset", "log.level").out
    assert cli("config", "path").out == f"{cli.home.config_file}\n"
    assert cli("config", "validate").out.startswith("valid: ")


def test_a_running_daemon_takes_over_a_model_at_once_and_names_what_needs_a_restart(served: Cli) -> None:
    live = served("config", "set", "providers.scripted.models.default", "m-1")
    assert "the running daemon uses it from now on" in live.err
    agent = served("agent", "info", "general", "-o", "json").object()
    assert agent["effective_runtime"] == {
        "provider": "scripted",
        "model": "m-1",
        "sources": {"provider": "project_default", "model": "provider_default"},
    }
    later = served("config", "set", "log.level", "debug")
    assert "compozy daemon stop && compozy daemon start" in later.err
    status = served("status", "-o", "json").object()["config"]
    assert isinstance(status, dict) and status["restart_required"] is True
    served("config", "unset", "log.level")
    again = served("status", "-o", "json").object()["config"]
    assert isinstance(again, dict) and again["restart_required"] is False


def test_mistakes_are_named_with_file_line_and_the_nearest_key_and_leave_the_daemon_alone(served: Cli) -> None:
    wrong = served("config", "set", "http.prot", "1")
    assert wrong.code == 78 and "did you mean 'port'?" in wrong.err
    assert "use models.default" in served("config", "set", "providers.claude.default_model", "x").err
    text = served.home.config_file.read_text()
    served.home.config_file.write_text(text + "\n[broken\n")
    invalid = served("config", "get", "http.port")
    assert invalid.code == 78 and f"{served.home.config_file}:{text.count(chr(10)) + 2}: invalid TOML" in invalid.err
    checked = served("config", "validate", "-o", "json")
    assert checked.code == 78 and checked.object()["valid"] is False
    assert served("status").code == 0
    served.home.config_file.write_text(text)


def test_a_workspace_has_settings_of_its_own(cli: Cli) -> None:
    assert cli("config", "set", "defaults.agent", "mine", "--workspace", ".").code == 0
    assert (cli.folder / ".compozy" / "config.toml").is_file()
    assert cli("config", "get", "defaults.agent", "--workspace", ".").out == "mine\n"
    assert cli("config", "get", "defaults.agent").out == "general\n"
    refused = cli("config", "set", "http.port", "1", "--workspace", ".")
    assert refused.code == 78 and "without --workspace" in refused.err


def test_a_change_of_a_workspaces_settings_says_when_trust_is_needed_again(served: Cli) -> None:
    assert served("workspace", "add", ".").code == 0
    plain = served("config", "set", "defaults.agent", "general", "--workspace", ".")
    assert plain.code == 0 and "trust" not in plain.err
    first = served("config", "set", "tools.enabled", "false", "--workspace", ".")
    assert "needs trust, since the file changed: tools" in first.err
    assert f"run: compozy trust grant --workspace {served.folder}" in first.err
    assert served("trust", "grant", "--yes").code == 0
    assert served("config", "get", "tools.enabled", "--workspace", ".").out.strip() == "false"
    # Another key of the same file: what was trusted is another file now.
    again = served("config", "set", "defaults.agent", "other", "--workspace", ".", "-o", "json").object()
    assert again["needs_trust"] == ["tools"] and "trust grant" in str(again["next_command"])
    removed = served("config", "unset", "tools.enabled", "--workspace", ".")
    assert removed.code == 0 and "trust" not in removed.err
