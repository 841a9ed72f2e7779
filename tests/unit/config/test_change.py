"""Changing config.toml: lossless, checked before it is written, old-or-new (contract §2.1; D3, D15)."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compozy.config.change import change_settings, read_value, set_value, unset_value
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.keys import split_key
from compozy.config.load import load_config

TEXT = """\
# my settings
[http]
port = 3000   # not the usual one

[providers.grok]
models = { default = "one" }
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.root.mkdir(mode=0o700)
    home.config_file.write_text(TEXT)
    return home


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


def test_one_value_changes_and_everything_else_keeps_its_bytes(home: Home) -> None:
    change = set_value(home, split_key("http.port"), "3001")
    assert (change.before, change.after, change.lifecycle) == (3000, 3001, "restart-required")
    assert home.config_file.read_text() == TEXT.replace("3000", "3001")


def test_a_provider_is_changed_where_the_file_spells_it(home: Home) -> None:
    change = set_value(home, split_key("providers.xai.models.default"), "two")
    assert (change.after, change.lifecycle) == ("two", "live")
    assert home.config_file.read_text() == TEXT.replace('"one"', '"two"')


def test_removing_a_value_puts_the_default_back_in_force(home: Home) -> None:
    assert unset_value(home, split_key("http.port")).after == 2123
    assert load_config(home).http.port == 2123
    unset_value(home, split_key("providers.xai"))
    assert load_config(home).providers["xai"].default_model == "grok-4-fast-non-reasoning"
    with pytest.raises(ConfigError, match="is not set in"):
        unset_value(home, split_key("http.port"))


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("http.port", "70000", "http.port: expected `int` <= 65535"),
        ("http.port", "many", "is no value of TOML"),
        ("permissions.mode", "all", "permissions.mode"),
        ("session.supervision.inactivity_timeout", "5", "is no duration"),
        ("providers.mine.display_name", "x", "command is required"),
        ("providers.claude.auth_mode", "none", ""),
        ("http", "x", "is a table"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_and_nothing_is_written(
    home: Home, key: str, value: str, problem: str
) -> None:
    if not problem:
        set_value(home, split_key(key), value)
        return
    with pytest.raises(ConfigError) as caught:
        set_value(home, split_key(key), value)
    assert problem in caught.value.message
    assert home.config_file.read_text() == TEXT


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("http.port", "80", 80),
        ("http.enabled", "false", False),
        ("defaults.provider", "claude", "claude"),
        ("defaults.provider", '"claude"', "claude"),
        ("log.level", "debug", "debug"),
        ("session.limits.timeout", "1h", "1h"),
        ("skills.disabled_skills", '["a", "b"]', ["a", "b"]),
        ("providers.x.models.curated", '[{id = "m"}]', [{"id": "m"}]),
        ("tools.artifacts.max_count", "5", 5),
        ("roles.dream.agent", "me", "me"),
    ],
)
def test_text_is_text_and_everything_else_is_written_as_in_toml(key: str, text: str, value: object) -> None:
    assert read_value(split_key(key), text) == value


def test_several_values_are_written_together_or_not_at_all(home: Home) -> None:
    with pytest.raises(ConfigError):
        change_settings(home, {("http", "port"): 4000, ("log", "level"): "loud"})
    assert home.config_file.read_text() == TEXT
    change_settings(home, {("http", "port"): 4000, ("log", "level"): "warn"})
    assert (load_config(home).http.port, load_config(home).log.level) == (4000, "warn")


def test_a_workspace_gets_its_own_file_and_cannot_take_what_is_the_home_s(home: Home, workspace: Path) -> None:
    with pytest.raises(ConfigError, match="decided by the home alone; set it without --workspace"):
        set_value(home, split_key("http.port"), "5000", workspace)
    assert not (workspace / ".compozy").exists()
    set_value(home, split_key("permissions.mode"), "approve-reads")
    change = set_value(home, split_key("permissions.mode"), "approve-all", workspace)
    assert change.after == "approve-reads" and "needs trust" in change.note
    assert set_value(home, split_key("permissions.mode"), "deny-all", workspace).after == "deny-all"
    assert load_config(home).permissions.mode == "approve-reads"


def test_a_file_that_is_no_toml_is_left_as_it_is_and_named_with_its_line(home: Home) -> None:
    home.config_file.write_text("[http]\nport = \n")
    with pytest.raises(ConfigError, match=r"config\.toml:2: invalid TOML"):
        set_value(home, split_key("log.level"), "warn")
    assert home.config_file.read_text() == "[http]\nport = \n"


def test_writers_at_the_same_time_lose_nothing(home: Home) -> None:
    names = [f"m{number}" for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda name: set_value(home, ("providers", name, "command"), f"run {name}"), names))
    providers = load_config(home).providers
    assert [providers[name].command for name in names] == [f"run {name}" for name in names]
