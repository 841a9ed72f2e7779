"""The bad input of issue 5, each through the command line: a stated error with its place, and the daemon goes on."""

import base64
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.cli import Call, Cli, write_agent

NEEDS_VAULT = "---\nname: sealed\nprovider: sealed\n---\nHi.\n"
SEALED = """
[providers.sealed]
command = "true"
[[providers.sealed.credential_slots]]
name = "key"
target_env = "SEALED_KEY"
secret_ref = "vault:providers/sealed/key"
"""


@pytest.fixture
def bad(served: Cli) -> Iterator[Cli]:
    """A running daemon that has to answer after whatever a test did."""
    yield served
    assert served("status").code == 0
    assert served("session", "new", "--agent", "general").code == 0


def line_of(path: Path, words: str) -> int:
    return next(number for number, line in enumerate(path.read_text().splitlines(), start=1) if words in line)


def test_an_agent_of_an_unknown_provider_is_refused_with_the_line_that_names_it(bad: Cli) -> None:
    path = write_agent(bad.home.root, "lost", "---\nname: lost\nmodel: m\nprovider: cluade\n---\nHi.\n")
    for words in (
        ("session", "new", "--agent", "lost"),
        ("run", "--agent", "lost", "hi"),
        ("agent", "resolve", "lost"),
    ):
        call = bad(*words)
        assert call.code == 65 and f"({path}:4): did you mean 'claude'?" in call.err, words


def test_settings_that_name_an_unknown_provider_are_told_with_their_line(bad: Cli) -> None:
    path = bad.home.config_file
    before = path.read_text()
    said = bad("config", "set", "defaults.provider", "cluade")
    place = f"{path}:{line_of(path, 'cluade')}: defaults.provider names provider 'cluade'"
    assert said.code == 0 and place in said.err and "did you mean 'claude'?" in said.err
    roles = '[roles.memory_extractor]\nprovider = "nobody"\n[[roles.dream.fallback_chain]]\nprovider = "x"\n'
    path.write_text(f'{before}{roles}model = "m"\n')
    checked = bad("config", "validate")
    assert f"{path}:{line_of(path, 'nobody')}: roles.memory_extractor.provider names provider 'nobody'" in checked.err
    assert "roles.dream.fallback_chain[0].provider names provider 'x'" in checked.err
    path.write_text(before)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[providers.claude]\ndefault_model = 'x'\n", "use models.default"),
        ("[providers.claude]\nsupported_models = []\n", "use models.curated"),
        ("[providers.claude]\nsupports_reasoning_effort = true\n", "reasoning_efforts"),
        ("[providers.claude]\naliases = []\n", "aliases are built in"),
        ("[providers.mine]\ndisplay_name = 'x'\n", "command is required"),
        ("[http\nport = 1\n", "invalid TOML"),
        ("[log]\nlevle = 'info'\n", "did you mean 'level'?"),
        ("[session.busy_input]\nqueue_cap = 0\n", "session.busy_input.queue_cap"),
        ("[permissions]\nmode = 'plan'\n", "permissions.mode"),
        ("[[mcp_servers]]\nname = 'x'\ncomand = 'y'\n", "did you mean"),
        ("[models_dev]\nurl = 5\n", "models_dev.url"),
    ],
)
def test_a_settings_file_that_cannot_be_used_is_named_with_its_line(bad: Cli, text: str, words: str) -> None:
    path = bad.home.config_file
    before = path.read_text()
    first = before.count("\n") + 2
    path.write_text(f"{before}\n{text}")
    try:
        for command in (("config", "validate"), ("config", "get", "http.port"), ("doctor", "--only", "config")):
            call = bad(*command)
            said = call.out + call.err
            assert call.code in (71, 78) and words in said, command
            assert any(f"{path}:{first + number}:" in said for number in range(text.count("\n"))), said
    finally:
        path.write_text(before)


def _remove_key(home: Path) -> None:
    (home / "vault.key").unlink()


def _other_key(home: Path) -> None:
    (home / "vault.key").write_bytes(base64.b64encode(os.urandom(32)))


def _open_key(home: Path) -> None:
    (home / "vault.key").chmod(0o644)


def _cut(home: Path) -> None:
    (home / "vault.json").write_bytes((home / "vault.json").read_bytes()[:-9])


@pytest.mark.parametrize(
    ("damage", "file", "words"),
    [
        (_remove_key, "vault.key", "does not exist"),
        (_other_key, "vault.key", "is not the one that sealed"),
        (_open_key, "vault.key", "chmod 600"),
        (_cut, "vault.json", "is damaged"),
    ],
)
def test_a_vault_that_cannot_be_opened_names_its_file_wherever_it_is_needed(
    bad: Cli, damage: Callable[[Path], None], file: str, words: str
) -> None:
    assert bad("vault", "set", "providers/sealed/key", stdin="planted-value-41\n").code == 0
    bad.home.config_file.write_text(bad.home.config_file.read_text() + SEALED)
    assert bad("config", "set", "providers.sealed.models.default", "m").code == 0
    write_agent(bad.home.root, "sealed", NEEDS_VAULT)
    damage(bad.home.root)
    calls: list[Call] = [bad("run", "--agent", "sealed", "hi"), bad("doctor", "--only", "vault")]
    for call in calls:
        said = call.out + call.err
        assert call.code == 71 and words in said and str(bad.home.root / file) in said, said
        assert "planted-value-41" not in said


def test_a_slot_without_a_value_names_provider_slot_and_the_next_step(bad: Cli) -> None:
    bad.home.config_file.write_text(bad.home.config_file.read_text() + SEALED)
    assert bad("config", "set", "providers.sealed.models.default", "m").code == 0
    write_agent(bad.home.root, "sealed", NEEDS_VAULT)
    call = bad("run", "--agent", "sealed", "hi")
    assert call.code == 71 and "'sealed' needs SEALED_KEY for its slot 'key'" in call.err
    assert "compozy vault set providers/sealed/key" in call.err


def test_a_login_without_a_terminal_says_where_to_run_it(bad: Cli) -> None:
    call = bad("provider", "auth", "login", "claude")
    assert call.code == 78 and "needs a person at a terminal" in call.err
