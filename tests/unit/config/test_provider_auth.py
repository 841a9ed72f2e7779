"""The state of a provider and the one step that mends it (contract §2.3)."""

from pathlib import Path

import msgspec
import pytest

from compozy.config.builtin_providers import BUILTIN_PROVIDERS
from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.config.provider_auth import Probed, auth_status
from compozy.model.provider import Provider


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)


def look(provider: Provider, *present: str, probed: Probed | None = None) -> tuple[str, str | None, str]:
    found = auth_status(provider, lambda reference: reference in present, probed)
    return found.state, found.login.recommended_action, found.mend


def test_each_missing_thing_has_its_state_action_and_step(programs: Path) -> None:
    rows = BUILTIN_PROVIDERS
    assert look(rows["gemini"]) == ("missing_cli", "install_cli", "npm install -g @google/gemini-cli")
    assert look(rows["goose"]) == ("missing_cli", "install_cli", "install goose and put it on PATH")
    assert look(rows["claude"])[2].startswith("install Node.js 20")
    put(programs, "npx", "gemini")
    assert look(rows["claude"]) == ("unknown", "login", "npm install -g @anthropic-ai/claude-code")
    put(programs, "claude")
    assert look(rows["claude"]) == ("unknown", "login", "compozy provider auth login claude")
    assert look(rows["gemini"]) == ("unknown", "inspect", "")
    state, action, step = look(rows["groq"])
    assert (state, action) == ("missing_credential", "bind_secret") and step.startswith("read -rs GROQ_API_KEY && ")
    assert look(rows["groq"], "env:GROQ_API_KEY") == ("authenticated", None, "")
    assert look(rows["offline"]) == ("none", None, "")


def test_a_secret_of_the_vault_is_asked_for_by_its_name(programs: Path) -> None:
    put(programs, "npx")
    row = BUILTIN_PROVIDERS["groq"]
    slot = msgspec.structs.replace(row.credential_slots[0], secret_ref="vault:providers/groq/api_key")
    row = msgspec.structs.replace(row, credential_slots=(slot,))
    assert look(row)[2] == "compozy vault set providers/groq/api_key"


def test_an_endpoint_is_set_up_step_by_step(programs: Path) -> None:
    home = Home(programs / "home")
    home.root.mkdir()

    def row() -> Provider:
        return load_config(home).providers["openai-compatible"]

    assert look(row())[2] == "compozy provider install openai-compatible"
    program = home.root / "providers/openai-compatible/bin"
    program.mkdir(parents=True)
    put(program, "agentao")
    assert look(row())[2].startswith("compozy config set providers.openai-compatible.base_url http://127.0.0.1:11434")
    home.config_file.write_text('[providers.openai-compatible]\nbase_url = "http://127.0.0.1:1/v1"\n')
    assert look(row())[2].startswith("compozy config set providers.openai-compatible.models.default ")


@pytest.mark.parametrize(
    ("state", "action"),
    [
        ("authenticated", None),
        ("needs_login", "login"),
        ("permission_denied", "no_retry"),
        ("rate_limited", "retry"),
        ("transient", "retry"),
    ],
)
def test_what_a_probe_heard_counts_while_nothing_is_missing_here(programs: Path, state: str, action: str) -> None:
    probed = msgspec.convert({"state": state, "message": "m", "at": "t"}, Probed)
    assert look(BUILTIN_PROVIDERS["claude"], probed=probed)[0] == "missing_cli"
    put(programs, "npx", "claude")
    found = auth_status(BUILTIN_PROVIDERS["claude"], lambda _: True, probed)
    assert (found.state, found.login.recommended_action, found.last_probe_at) == (state, action, "t")


def test_the_login_command_itself_is_never_returned(programs: Path) -> None:
    put(programs, "npx", "claude")
    found = msgspec.to_builtins(auth_status(BUILTIN_PROVIDERS["claude"], lambda _: True))
    assert found["login"] == {
        "configured": True,
        "presence": "present",
        "executable": "claude",
        "recommended_action": "login",
        "source": "auth_login_command",
    }
    assert "auth login" not in str(found["login"])
