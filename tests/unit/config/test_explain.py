"""Where a value comes from: default, home, workspace, each with file and line, and what was refused (issue 5.1)."""

from pathlib import Path

import pytest

from compozy.config.effective import effective_table, flatten, masked
from compozy.config.explain import explain
from compozy.config.home import Home
from compozy.config.keys import split_key
from compozy.config.live import take_over
from compozy.config.load import load_config


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.root.mkdir(mode=0o700)
    return home


def rows(home: Home, key: str, root: Path | None = None) -> list[tuple[str, str, str, object]]:
    (found,) = explain(home, split_key(key), root)
    return [(row.origin, row.standing, Path(row.place).name, row.value) for row in found.contributions]


def test_a_value_of_the_home_overrides_the_default(home: Home) -> None:
    home.config_file.write_text("\n[http]\nport = 3000\n")
    assert rows(home, "http.port") == [
        ("default", "overridden", "", 2123),
        ("home", "effective", "config.toml:3", 3000),
    ]


def test_a_default_is_effective_when_nobody_says_anything(home: Home) -> None:
    assert rows(home, "http.port") == [("default", "effective", "", 2123)]


def test_a_workspace_wins_where_it_may_and_is_refused_where_it_may_not(home: Home, tmp_path: Path) -> None:
    home.config_file.write_text('[permissions]\nmode = "approve-reads"\n[defaults]\nagent = "a"\n')
    local = tmp_path / "repo" / ".compozy" / "config.toml"
    local.parent.mkdir(parents=True)
    local.write_text('[http]\nport = 1\n[permissions]\nmode = "approve-all"\n[defaults]\nagent = "b"\n')
    root = tmp_path / "repo"
    assert rows(home, "defaults.agent", root)[1:] == [
        ("home", "overridden", "config.toml:4", "a"),
        ("workspace", "effective", "config.toml:6", "b"),
    ]
    assert rows(home, "permissions.mode", root)[1:] == [
        ("home", "effective", "config.toml:2", "approve-reads"),
        ("workspace", "refused", "config.toml:4", "approve-all"),
    ]
    (port,) = explain(home, split_key("http.port"), root)
    assert port.value == 2123 and "decided by the home alone" in port.contributions[-1].reason


def test_a_provider_is_found_under_the_name_the_file_gives_it(home: Home) -> None:
    home.config_file.write_text('[providers.grok.models]\ndefault = "m"\n')
    assert rows(home, "providers.xai.models.default")[1:] == [("home", "effective", "config.toml:2", "m")]


def test_a_table_is_explained_by_everything_the_files_say_below_it(home: Home) -> None:
    home.config_file.write_text(
        '[session.supervision]\ninactivity_timeout = "40m"\n[session.limits]\ntimeout = "1h"\n'
    )
    assert [one.key for one in explain(home, split_key("session"))] == [
        "session.supervision.inactivity_timeout",
        "session.limits.timeout",
    ]


def test_secrets_are_masked_and_references_stay(home: Home) -> None:
    home.config_file.write_text(
        '[providers.mine]\ncommand = "agent --api-key sk-abcdefghijklmnopqrstuv"\n'
        'base_url = "https://me:pass@x.test/v1"\n'
        '[[providers.mine.credential_slots]]\nname = "key"\ntarget_env = "MY_KEY"\n'
        'secret_ref = "vault:providers/mine/key"\n'
    )
    table = masked(effective_table(load_config(home)))
    text = str(table)
    assert "sk-abcdefghij" not in text and "me:pass" not in text and "vault:providers/mine/key" in text
    assert "sk-abcdefghij" not in str(explain(home, split_key("providers.mine")))


def test_masking_leaves_every_default_as_it_is(home: Home) -> None:
    table = effective_table(load_config(home))
    assert masked(table) == table


def test_every_documented_default_is_there_to_be_read(home: Home) -> None:
    keys = {".".join(key) for key, _ in flatten(effective_table(load_config(home)))}
    assert {"http.port", "session.busy_input.queue_cap", "providers.claude.models.default"} <= keys


def test_a_running_configuration_takes_over_models_roles_and_disabled_skills_only(home: Home) -> None:
    config = load_config(home)
    holder = config.providers
    home.config_file.write_text(
        '[http]\nport = 9\n[skills]\nenabled = false\ndisabled_skills = ["a"]\n[roles.dream]\nenabled = false\n'
        '[providers.claude]\ncommand = "other"\n[providers.claude.models]\ndefault = "m"\n'
        '[providers.new]\ncommand = "x"\n'
    )
    applied, waiting = take_over(config, load_config(home))
    assert config.providers["claude"].default_model == "m" and config.skills.disabled_skills == ("a",)
    assert config.providers["claude"].command != "other" and config.http.port == 2123 and config.skills.enabled
    # Nobody uses a new provider yet, so it counts at once.
    assert config.providers is not holder and config.providers["new"].command == "x"
    assert ("providers", "claude", "models", "default") in applied
    assert {("http", "port"), ("skills", "enabled"), ("providers", "claude", "command")} <= set(waiting)
