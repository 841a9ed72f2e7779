"""What an agent's process inherits and what it is told (contract §1.2, §5.3; P40)."""

import json
from pathlib import Path

import msgspec
import pytest

from compozy.config.builtin_providers import BUILTIN_PROVIDERS
from compozy.config.environment import (
    agent_environment,
    base_environment,
    is_secret_name,
    login_environment,
    make_provider_folders,
)
from compozy.config.home import Home
from compozy.config.pi_folder import forget_pi_folder, pi_folder, prepare_pi_folder
from compozy.model.provider import Provider

OUTER = {
    "PATH": "/usr/bin",
    "HOME": "/home/u",
    "LC_ALL": "C",
    "XDG_RUNTIME_DIR": "/run/u",
    "EDITOR": "vi",
    "UNRELATED_SECRET": "1",
    "SERVICE_TOKEN": "tok",
    "MY_KEY": "k",
    "SSH_AUTH_SOCK": "/s",
    "DBUS_SESSION_BUS_ADDRESS": "b",
    "COMPOZY_SESSION_ID": "sess-outer",
    "COMPOZY_AGENT_NAME": "outer",
    "COMPOZY_MODEL": "outer",
    "COMPOZY_INTERNAL_CHILD": "1",
}
HOME = Home(Path("/h"))


def environment(provider: Provider, **more: str) -> dict[str, str]:
    return agent_environment(provider, home=HOME, session_id="sess-1", agent_name="a", environ=OUTER, **more)


@pytest.mark.parametrize("name", ["API_KEY", "x_apikey", "AWS_ACCESS_KEY_ID", "COOKIE_JAR", "STRIPE_KEY", "auth"])
def test_secret_names_are_kept_back(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "KEYBOARD", "MONKEY", "EDITOR"])
def test_other_names_are_not(name: str) -> None:
    assert not is_secret_name(name)


def test_the_filtered_base_drops_every_secret_name_and_keeps_the_rest() -> None:
    base = base_environment("filtered", OUTER)
    assert {"PATH", "HOME", "EDITOR", "LC_ALL"} <= set(base)
    assert not {"UNRELATED_SECRET", "SERVICE_TOKEN", "MY_KEY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"} & set(
        base
    )


def test_the_isolated_base_keeps_the_documented_names_only() -> None:
    assert set(base_environment("isolated", OUTER)) == {"PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR"}


def test_an_agent_learns_who_it_is_and_nothing_of_an_outer_session() -> None:
    env = environment(BUILTIN_PROVIDERS["offline"])
    assert (env["COMPOZY_SESSION_ID"], env["COMPOZY_AGENT"], env["COMPOZY_AGENT_NAME"]) == ("sess-1", "a", "a")
    assert (env["COMPOZY_PROVIDER"], env["COMPOZY_PROVIDER_HARNESS"]) == ("offline", "acp")
    assert (env["COMPOZY_PROVIDER_AUTH_MODE"], env["COMPOZY_PROVIDER_ENV_POLICY"]) == ("none", "filtered")
    assert env["COMPOZY_HOME"] == "/h"
    assert not {"COMPOZY_MODEL", "COMPOZY_REASONING_EFFORT", "COMPOZY_INTERNAL_CHILD"} & set(env)


def test_model_and_effort_are_told_when_they_are_resolved() -> None:
    env = environment(BUILTIN_PROVIDERS["codex"], model="m", reasoning_effort="high")
    assert (env["COMPOZY_MODEL"], env["COMPOZY_REASONING_EFFORT"]) == ("m", "high")


def test_our_program_is_first_on_path_once() -> None:
    env = environment(BUILTIN_PROVIDERS["offline"])
    program = Path(env["COMPOZY_BIN"])
    assert program.is_file() and program.is_absolute()
    parts = env["PATH"].split(":")
    assert parts[0] == str(program.parent)
    assert parts.count(parts[0]) == 1 and "/usr/bin" in parts


def test_an_isolated_home_moves_every_place_a_provider_keeps_things() -> None:
    provider = msgspec.structs.replace(BUILTIN_PROVIDERS["claude"], home_policy="isolated")
    env = environment(provider)
    for name in ("HOME", "PROVIDER_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR"):
        assert env[name].startswith("/h/providers/claude"), name


@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "groq"])
def test_the_folders_an_isolated_provider_is_sent_to_exist_and_are_private(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / "h")
    home.create()
    provider = msgspec.structs.replace(BUILTIN_PROVIDERS[name], home_policy="isolated")
    make_provider_folders(provider, home)
    env = agent_environment(provider, home=home, session_id="s", agent_name="a", environ=OUTER)
    folders = {value for value in env.values() if value.startswith(str(home.root / "providers"))}
    assert folders
    for folder in folders:
        assert Path(folder).is_dir() and Path(folder).stat().st_mode & 0o077 == 0, folder


def test_an_operators_own_home_is_not_touched(tmp_path: Path) -> None:
    home = Home(tmp_path / "h")
    home.create()
    make_provider_folders(BUILTIN_PROVIDERS["claude"], home)
    assert not (home.root / "providers").exists()


def test_pi_gets_a_folder_of_the_session() -> None:
    assert environment(BUILTIN_PROVIDERS["groq"])["PI_CODING_AGENT_DIR"] == "/h/sessions/sess-1/pi-agent"


def test_an_endpoint_is_told_by_the_environment_alone_and_nothing_is_left_to_a_workspaces_dotenv() -> None:
    row = msgspec.structs.replace(BUILTIN_PROVIDERS["openai-compatible"], base_url="http://127.0.0.1:1/v1")
    env = environment(row, model="m")
    told = ("LLM_PROVIDER", "OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY")
    assert [env[name] for name in told] == ["OPENAI", "http://127.0.0.1:1/v1", "m", "not-needed"]


def test_a_login_runs_where_the_agent_will_look_for_it() -> None:
    row = msgspec.structs.replace(BUILTIN_PROVIDERS["claude"], home_policy="isolated")
    env = login_environment(row, HOME, OUTER)
    assert env["HOME"] == "/h/providers/claude" and env["CLAUDE_CONFIG_DIR"] == "/h/providers/claude/.claude"
    assert "COMPOZY_SESSION_ID" not in env and "SERVICE_TOKEN" not in env


def test_pi_is_pinned_to_provider_and_model_and_sees_the_login_of_its_home(tmp_path: Path) -> None:
    home, own = Home(tmp_path / "h"), tmp_path / "user" / ".pi" / "agent"
    home.root.mkdir()
    own.mkdir(parents=True)
    (own / "auth.json").write_text("{}")
    for _ in range(2):
        prepare_pi_folder(BUILTIN_PROVIDERS["moonshot"], home, "sess-1", "kimi", {"HOME": str(tmp_path / "user")})
    folder = pi_folder(home, "sess-1")
    settings = json.loads((folder / "settings.json").read_text())
    assert settings == {"defaultProvider": "kimi-coding", "defaultModel": "kimi"}
    assert (folder / "auth.json").resolve() == own / "auth.json" and not (folder / "models.json").exists()
    assert folder.stat().st_mode & 0o777 == 0o700
    forget_pi_folder(home, "sess-1")
    assert (own / "auth.json").exists() and not folder.parent.exists()
