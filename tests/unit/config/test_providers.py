"""The built-in provider table, aliases, commands and what counts as found on a machine (contract §2.3; D21, D24)."""

import sys
from pathlib import Path

import pytest

from compozy.config.builtin_providers import ALIASES, BUILTIN_PROVIDERS, OFFLINE, canonical_provider
from compozy.config.commands import find_executable, split_command
from compozy.config.detection import first_installed, is_installed, missing_program


def program(folder: Path, *names: str) -> dict[str, str]:
    """Make executable files and return an environment that finds them."""
    for name in names:
        path = folder / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    return {"PATH": str(folder)}


def test_the_table_has_the_rows_of_the_contract_and_the_offline_agent() -> None:
    ids = [
        "claude",
        "codex",
        "gemini",
        "opencode",
        "copilot",
        "cursor",
        "kiro",
        "blackbox",
        "cline",
        "goose",
        "hermes",
        "junie",
        "kimi-cli",
        "openclaw",
        "openhands",
        "qoder",
        "qwen-code",
        "pi",
        "openrouter",
        "zai",
        "moonshot",
        "vercel-ai-gateway",
        "xai",
        "minimax",
        "mistral",
        "groq",
        "openai-compatible",
        "offline",
    ]
    assert list(BUILTIN_PROVIDERS) == ids


@pytest.mark.parametrize("row", BUILTIN_PROVIDERS.values(), ids=lambda row: row.id)
def test_every_row_keeps_the_rules_of_the_contract(row: object) -> None:
    provider = BUILTIN_PROVIDERS[row.id]  # type: ignore[attr-defined]
    assert split_command(provider.command)
    assert provider.session_mcp is (provider.id != "openclaw")
    assert (provider.reasoning_apply == "acp_option") is (provider.id in ("claude", "codex"))
    assert bool(provider.credential_slots) is (provider.auth_mode == "bound_secret")
    assert all(slot.secret_ref == f"env:{slot.target_env}" for slot in provider.credential_slots)
    if provider.default_model:
        assert provider.default_model in [model.id for model in provider.curated]
    for model in provider.curated:
        effort = model.default_reasoning_effort
        assert not effort or effort in model.reasoning_efforts


def test_prices_and_efforts_of_the_curated_rows_are_those_of_the_contract() -> None:
    sol = BUILTIN_PROVIDERS["codex"].curated[0]
    assert (sol.id, sol.featured, sol.cost_input_per_million, sol.cost_output_per_million) == (
        "gpt-5.6-sol",
        True,
        5,
        30,
    )
    assert sol.reasoning_efforts == ("none", "low", "medium", "high", "xhigh", "max")
    haiku = BUILTIN_PROVIDERS["claude"].curated[-1]
    assert haiku.context_window == 200_000 and haiku.reasoning_efforts == ()


def test_the_offline_provider_runs_this_interpreter_and_says_that_it_uses_no_model() -> None:
    row = BUILTIN_PROVIDERS[OFFLINE]
    assert split_command(row.command) == (sys.executable, "-m", "compozy_offline_agent")
    assert "no model" in row.display_name
    assert row.auth_mode == "none"


@pytest.mark.parametrize(("name", "expected"), [*ALIASES.items(), (" Claude ", "claude"), ("unknown", "unknown")])
def test_aliases_and_spelling_lead_to_one_row(name: str, expected: str) -> None:
    assert canonical_provider(name) == expected
    assert expected in BUILTIN_PROVIDERS or expected == "unknown"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("a b", ("a", "b")),
        ("'my prog' --x=\"1 2\" a\\ b", ("my prog", "--x=1 2", "a b")),
        ("FOO=1 cmd", ("FOO=1", "cmd")),
        ("a $HOME `id` ; rm -rf # no comment", ("a", "$HOME", "`id`", ";", "rm", "-rf", "#", "no", "comment")),
        ("a ''", ("a", "")),
    ],
)
def test_commands_are_split_by_the_shells_quotes_and_nothing_else(command: str, words: tuple[str, ...]) -> None:
    assert split_command(command) == words


@pytest.mark.parametrize("command", ["", "   ", "'open", "''", "a\0b"])
def test_a_command_that_names_no_program_is_refused(command: str) -> None:
    with pytest.raises(ValueError, match=r"names no program|cannot be split|NUL"):
        split_command(command)


def test_a_program_is_found_on_path_or_by_its_own_path(tmp_path: Path) -> None:
    env = program(tmp_path, "tool")
    (tmp_path / "plain").write_text("")
    assert find_executable("tool", env) == str(tmp_path / "tool")
    assert find_executable(str(tmp_path / "tool"), {}) == str(tmp_path / "tool")
    assert find_executable("plain", env) is None
    assert find_executable(str(tmp_path), env) is None
    assert find_executable("absent", env) is None


def test_a_native_program_counts_as_found_and_a_bridge_needs_its_vendor_too(tmp_path: Path) -> None:
    env = program(tmp_path, "gemini", "npx")
    assert is_installed(BUILTIN_PROVIDERS["gemini"], env)
    assert not is_installed(BUILTIN_PROVIDERS["claude"], env)
    assert is_installed(BUILTIN_PROVIDERS["claude"], program(tmp_path, "claude"))
    assert not is_installed(BUILTIN_PROVIDERS["openrouter"], env)
    assert missing_program(BUILTIN_PROVIDERS["goose"], env) == "goose"
    assert missing_program(BUILTIN_PROVIDERS["claude"], env) == ""


def test_the_first_found_provider_is_the_default_else_the_offline_one(tmp_path: Path) -> None:
    rows = BUILTIN_PROVIDERS.values()
    assert first_installed(rows, {"PATH": str(tmp_path)}) == OFFLINE
    env = program(tmp_path, "gemini", "goose", "npx")
    assert first_installed(rows, env) == "gemini"
    assert first_installed(rows, program(tmp_path, "codex")) == "codex"
