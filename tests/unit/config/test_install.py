"""What makes a home usable, and that nothing a person wrote is lost (contract §1.5; D21)."""

import stat
from pathlib import Path

import pytest

from compozy.config.config import Config
from compozy.config.errors import ConfigError, HomeError
from compozy.config.home import HOME_DIRECTORIES, Home
from compozy.config.install import create_home, install_home, managed_agent_file, prepare_home
from compozy.config.load import load_config
from compozy.documents.agents import load_agent

NOTHING = {"PATH": "/nonexistent"}
WRITTEN = """\
# my settings
[defaults]   # what I use
agent = 'mine'

[http]
port = 3000  # mine
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_fresh_home_has_private_folders_an_agent_and_a_default_provider(home: Home) -> None:
    prepare_home(home, NOTHING)
    assert all(mode(home.root / name) == 0o700 for name in (".", *HOME_DIRECTORIES))
    assert mode(managed_agent_file(home)) == 0o600
    assert mode(home.config_file) == 0o600
    assert load_config(home).defaults.provider == "offline"


def test_the_managed_agent_loads_and_has_only_a_name_and_a_prompt(home: Home) -> None:
    prepare_home(home, NOTHING)
    loaded = load_agent(managed_agent_file(home))
    assert loaded.definition.name == "general"
    assert loaded.definition.prompt
    assert (loaded.definition.provider, loaded.definition.model, loaded.definition.tools) == ("", "", ())
    assert loaded.warnings == ()


def test_what_a_person_wrote_is_never_overwritten(home: Home) -> None:
    prepare_home(home, NOTHING)
    managed_agent_file(home).write_text("mine")
    home.config_file.write_text('[defaults]\nprovider = "codex"\n')
    prepare_home(home, NOTHING)
    assert managed_agent_file(home).read_text() == "mine"
    assert load_config(home).defaults.provider == "codex"


def test_the_first_start_adds_a_provider_to_a_written_configuration_and_keeps_its_bytes(home: Home) -> None:
    create_home(home)
    home.config_file.write_text(WRITTEN)
    prepare_home(home, NOTHING)
    text = home.config_file.read_text()
    assert text.replace('provider = "offline"\n', "") == WRITTEN
    config = load_config(home)
    assert (config.defaults.provider, config.defaults.agent, config.http.port) == ("offline", "mine", 3000)


def test_later_starts_leave_the_configuration_alone(home: Home) -> None:
    create_home(home)
    home.database.write_bytes(b"")
    prepare_home(home, NOTHING)
    assert not home.config_file.exists()


def test_an_explicitly_empty_provider_stays_empty(home: Home) -> None:
    create_home(home)
    home.config_file.write_text('[defaults]\nprovider = ""\n')
    prepare_home(home, NOTHING)
    assert load_config(home).defaults.provider == ""


def test_install_writes_the_promised_values_and_reports_them(home: Home) -> None:
    create_home(home)
    home.config_file.write_text(WRITTEN)
    result = install_home(home, provider="claude-code", model="claude-opus-4-8")
    assert (result.agent_name, result.provider, result.model) == ("general", "claude", "claude-opus-4-8")
    assert (result.permissions, result.created_agent, result.managed) == ("approve-all", True, True)
    config: Config = load_config(home)
    assert (config.defaults.agent, config.defaults.provider) == ("general", "claude")
    assert config.providers["claude"].default_model == "claude-opus-4-8"
    assert config.permissions.mode == "approve-all"
    assert "# my settings" in home.config_file.read_text() and config.http.port == 3000
    assert not install_home(home, provider="claude").created_agent


def test_install_without_a_choice_takes_what_is_set_else_what_is_on_the_machine(home: Home) -> None:
    assert install_home(home, environ=NOTHING).provider == "offline"
    install_home(home, provider="codex")
    assert install_home(home, environ=NOTHING).provider == "codex"


def test_install_refuses_an_unknown_provider_with_the_nearest_name(home: Home) -> None:
    with pytest.raises(ConfigError, match="unknown provider 'cluade'; did you mean 'claude'"):
        install_home(home, provider="cluade")
    assert not home.root.exists()


def test_a_configuration_behind_a_link_is_edited_where_it_lies(home: Home, tmp_path: Path) -> None:
    create_home(home)
    real = tmp_path / "dotfiles.toml"
    real.write_text("# dotfiles\n")
    home.config_file.symlink_to(real)
    install_home(home, provider="codex")
    assert home.config_file.is_symlink()
    assert real.read_text().startswith("# dotfiles\n")


@pytest.mark.parametrize("where", ["home", "above", "inside"])
def test_a_file_where_a_folder_is_needed_is_one_clear_sentence(tmp_path: Path, where: str) -> None:
    home = Home(tmp_path / "home" / "deep") if where == "above" else Home(tmp_path / "home")
    if where == "inside":
        home.root.mkdir()
        (home.root / "agents").write_text("")
    else:
        (tmp_path / "home").write_text("")
    with pytest.raises(HomeError) as caught:
        create_home(home)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert caught.value.exit_code == 1


def test_an_existing_folder_keeps_its_mode(home: Home) -> None:
    home.root.mkdir(mode=0o755)
    home.root.chmod(0o755)
    create_home(home)
    assert mode(home.root) == 0o755
