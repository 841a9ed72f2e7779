"""The settings pages' routes, onboarding and the folder picker, over a real daemon (contract §12; shapes)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.client import ApiError
from compozy.config.load import load_config
from tests.kit.daemons import Daemon, make_home

SECRET = "planted-settings-key-0123456789"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(make_home(tmp_path_factory.mktemp("settings") / "home")).start()
    yield daemon
    daemon.end()


def ask(daemon: Daemon, method: str, route: str, body: object = None, **query: str) -> dict[str, object]:
    with daemon.client() as client:
        answer = client.request(method, route, body=body, query=query).json()  # type: ignore[arg-type]
    assert isinstance(answer, dict)
    return answer


def refusal(daemon: Daemon, method: str, route: str, body: object = None, **query: str) -> ApiError:
    with daemon.client() as client, pytest.raises(ApiError) as caught:
        client.request(method, route, body=body, query=query)  # type: ignore[arg-type]
    return caught.value


def general(daemon: Daemon) -> dict[str, object]:
    config = ask(daemon, "GET", "/api/settings/general")["config"]
    assert isinstance(config, dict)
    return config


def test_general_settings_have_the_contracts_shape(daemon: Daemon) -> None:
    answer = ask(daemon, "GET", "/api/settings/general")
    assert (answer["section"], answer["scope"], answer["available_scopes"]) == ("general", "global", ["global"])
    paths, runtime, config = answer["config_paths"], answer["runtime"], answer["config"]
    assert isinstance(paths, dict) and isinstance(runtime, dict) and isinstance(config, dict)
    assert paths["global_config"] == str(daemon.home.config_file) and runtime["pid"] == daemon.pid
    assert config["permissions"] == {"mode": "approve-all"} and config["session_timeout"] == "0s"
    assert config["daemon"] == {
        "socket": str(daemon.home.socket),
        "memory_report_interval": "5m",
        "reload_timeouts": {"bridges": "30s", "mcp": "10s", "providers": "5s"},
    }


def test_what_was_read_can_be_sent_back_and_changes_nothing(daemon: Daemon) -> None:
    before = daemon.home.config_file.read_text()
    answer = ask(daemon, "PATCH", "/api/settings/general", {"config": general(daemon)})
    assert daemon.home.config_file.read_text() == before
    assert (answer["applied"], answer["next_action"], answer["section"]) == (True, "none", "general")


def test_a_changed_setting_is_written_alone_and_says_that_it_needs_a_restart(daemon: Daemon) -> None:
    before = daemon.home.config_file.read_text()
    changed = {**general(daemon), "permissions": {"mode": "deny-all"}, "session_timeout": "2h"}
    answer = ask(daemon, "PATCH", "/api/settings/general", {"config": changed})
    assert (answer["lifecycle"], answer["next_action"], answer["restart_required"]) == (
        "restart-required",
        "restart-daemon",
        True,
    )
    assert daemon.home.config_file.read_text().startswith(before)
    config = load_config(daemon.home)
    assert (config.permissions.mode, config.session.limits.timeout) == ("deny-all", 7200)
    assert general(daemon)["permissions"] == {"mode": "deny-all"}
    status = ask(daemon, "GET", "/api/status")["config"]
    assert isinstance(status, dict) and status["restart_required"] is True
    daemon.home.config_file.write_text(before)
    assert ask(daemon, "POST", "/api/settings/reload")["next_action"] == "none"


@pytest.mark.parametrize(
    "config",
    [
        {"http": {"port": 0}},
        {"http": {"port": "many"}},
        {"permissions": {"mode": "all"}},
        {"colour": "red"},
        {"http": 5},
        {"session_timeout": "soon"},
        {"defaults": {"agent": None}},
    ],
)
def test_a_setting_that_does_not_fit_is_a_400_and_nothing_is_written(daemon: Daemon, config: object) -> None:
    before = daemon.home.config_file.read_text()
    assert refusal(daemon, "PATCH", "/api/settings/general", {"config": config}).status == 400
    assert daemon.home.config_file.read_text() == before


def test_a_broken_file_is_named_with_its_line_and_the_daemon_goes_on(daemon: Daemon) -> None:
    before = daemon.home.config_file.read_text()
    try:
        daemon.home.config_file.write_text("[http\n")
        broken = refusal(daemon, "POST", "/api/settings/reload")
        assert broken.status == 422 and f"{daemon.home.config_file}:1: invalid TOML" in broken.message
        assert ask(daemon, "GET", "/api/providers")["providers"]
    finally:
        daemon.home.config_file.write_text(before)


def provider(daemon: Daemon, name: str) -> dict[str, object]:
    row = ask(daemon, "GET", f"/api/settings/providers/{name}")["provider"]
    assert isinstance(row, dict)
    return row


def test_providers_are_listed_with_where_their_settings_come_from(daemon: Daemon) -> None:
    answer = ask(daemon, "GET", "/api/settings/providers")
    rows = answer["providers"]
    assert answer["collection"] == "providers" and isinstance(rows, list) and len(rows) > 25
    row = provider(daemon, "groq")
    assert row["source_metadata"] == {
        "available_targets": ["global-config"],
        "effective_source": {"kind": "builtin-provider", "scope": "global"},
        "shadowed_sources": [],
    }
    (slot,) = row["credentials"]  # type: ignore[misc]
    assert isinstance(slot, dict) and (slot["present"], slot["secret_ref"]) == (False, "env:GROQ_API_KEY")
    assert "login" not in json.dumps(provider(daemon, "claude")["settings"])


def test_a_provider_is_added_changed_and_removed_and_its_secret_goes_to_the_vault(daemon: Daemon) -> None:
    reference = "vault:providers/mine/api_key"
    slot = {"name": "api_key", "target_env": "MINE_API_KEY", "secret_ref": reference, "required": True}
    body = {
        "settings": {"command": "/bin/cat --acp", "auth_mode": "bound_secret", "credential_slots": [slot]},
        "secrets": [{"secret_ref": reference, "value": SECRET}],
    }
    assert ask(daemon, "PUT", "/api/settings/providers/mine", body)["lifecycle"] == "restart-required"
    row = provider(daemon, "mine")
    assert [one["present"] for one in row["credentials"]] == [True]  # type: ignore[attr-defined]
    assert row["source_metadata"]["effective_source"]["kind"] == "global-config"  # type: ignore[index]
    text = json.dumps(ask(daemon, "GET", "/api/settings/providers"))
    assert SECRET not in text and SECRET not in daemon.home.config_file.read_text()
    models = {"models": {"default": "m-1", "curated": [{"id": "m-1", "context_window": 1000}]}}
    ask(daemon, "PUT", "/api/settings/providers/mine", {"settings": models})
    assert load_config(daemon.home).providers["mine"].curated[0].context_window == 1000
    for bad in ({"colour": 1}, {"command": "a 'b"}, {"auth_mode": "magic"}, {"models": {"default": 5}}):
        assert refusal(daemon, "PUT", "/api/settings/providers/mine", {"settings": bad}).status == 400
    ask(daemon, "DELETE", "/api/settings/providers/mine")
    assert refusal(daemon, "DELETE", "/api/settings/providers/mine").status == 404
    assert refusal(daemon, "GET", "/api/settings/providers/mine").status == 404
    assert "mine" not in load_config(daemon.home).providers


def test_a_changed_built_in_row_keeps_its_fallback(daemon: Daemon) -> None:
    ask(daemon, "PUT", "/api/settings/providers/gemini", {"settings": {"display_name": "My Gemini"}})
    row = provider(daemon, "gemini")
    fallback, settings = row["fallback"], row["settings"]
    assert isinstance(fallback, dict) and isinstance(settings, dict)
    assert settings["display_name"] == "My Gemini" and fallback["settings"]["display_name"] == "Gemini CLI"
    ask(daemon, "DELETE", "/api/settings/providers/gemini")
    assert "fallback" not in provider(daemon, "gemini")


def test_onboarding_is_finished_once_and_can_be_started_again(daemon: Daemon) -> None:
    assert ask(daemon, "GET", "/api/onboarding") == {"onboarding": {"completed": False}}
    done = ask(daemon, "POST", "/api/onboarding/complete")
    assert done == ask(daemon, "POST", "/api/onboarding/complete") == ask(daemon, "GET", "/api/onboarding")
    assert done["onboarding"]["completed_at"]  # type: ignore[index]
    (daemon.home.root / "onboarding.json").write_text("[")
    assert ask(daemon, "GET", "/api/onboarding") == {"onboarding": {"completed": False}}
    assert ask(daemon, "DELETE", "/api/onboarding") == {"onboarding": {"completed": False}}


def names(answer: dict[str, object]) -> list[str]:
    entries = answer["entries"]
    assert isinstance(entries, list)
    return [entry["name"] for entry in entries]


def test_a_folder_is_listed_with_folders_first_and_hidden_names_on_request(daemon: Daemon, tmp_path: Path) -> None:
    for name in ("b", ".git", "A"):
        (tmp_path / name).mkdir()
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to("b")
    path = str(tmp_path)
    answer = ask(daemon, "GET", "/api/fs/browse", path=path)
    assert (answer["path"], answer["parent"], answer["roots"]) == (path, str(tmp_path.parent), ["/"])
    assert names(answer) == ["A", "b", "link", "a.txt", "loop"]
    assert names(ask(daemon, "GET", "/api/fs/browse", path=path, dirs_only="true")) == ["A", "b", "link"]
    assert ".git" in names(ask(daemon, "GET", "/api/fs/browse", path=path, show_hidden="true"))
    assert "parent" not in ask(daemon, "GET", "/api/fs/browse", path="/")
    assert ask(daemon, "GET", "/api/fs/browse")["path"] == str(daemon.home.root.parent)


@pytest.mark.parametrize(
    ("path", "status"),
    [("relative/path", 400), ("/no/such/folder", 404), ("/etc/passwd", 400), ("~nobody-here", 404)],
)
def test_a_path_that_cannot_be_listed_says_why(daemon: Daemon, path: str, status: int) -> None:
    assert refusal(daemon, "GET", "/api/fs/browse", path=path).status == status


def test_a_huge_folder_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from compozy.runtime import browsing

    monkeypatch.setattr(browsing, "MAX_ENTRIES", 3)
    for number in range(5):
        (tmp_path / f"{number}").mkdir()
    answer = browsing.browse(str(tmp_path))
    assert len(answer.entries) == 3 and answer.truncated is True
