"""Keys as people write them: split, refused with the nearest name, and how a change is applied (contract §2.1)."""

import pytest

from compozy.config.errors import ConfigError
from compozy.config.keys import is_table, join_key, lifecycle_of, meaning_of, split_key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("http.port", ("http", "port")),
        (" http . port ", ("http", "port")),
        ('providers."my.own".command', ("providers", "my.own", "command")),
        ("providers.'my own'.models.default", ("providers", "my own", "models", "default")),
        ("providers.Grok.models.default", ("providers", "xai", "models", "default")),
        ("roles.auto_title.agent", ("roles", "auto_title", "agent")),
        ("session", ("session",)),
    ],
)
def test_a_key_is_split_and_the_provider_is_resolved(text: str, key: tuple[str, ...]) -> None:
    assert split_key(text) == key
    assert split_key(join_key(key)) == key


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("http.prot", "unknown config key 'http.prot'; did you mean 'port'?"),
        ("htp", "unknown config key 'htp'; did you mean 'http'?"),
        ("providers.claude.comand", "did you mean 'command'?"),
        ("providers.claude.default_model", "was removed; use models.default"),
        ("providers.claude.supports_reasoning_effort", "was removed; use models.curated"),
        ("http..port", "is no key"),
        ("http.port.", "ends in a dot"),
        ("", "is no key"),
        ("notes", "unknown config key"),
    ],
)
def test_what_is_no_key_is_refused_with_what_it_should_be(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        split_key(text)
    assert problem in caught.value.message and caught.value.exit_code == 78


@pytest.mark.parametrize(
    ("text", "lifecycle"),
    [
        ("roles.dream.agent", "live"),
        ("providers.claude.models.default", "live"),
        ("providers.claude.models.curated", "live"),
        ("skills.disabled_skills", "live"),
        ("mcp_servers", "live"),
        ("providers.claude.mcp_servers", "live"),
        ("skills.enabled", "restart-required"),
        ("providers.claude.command", "restart-required"),
        ("providers.claude", "restart-required"),
        ("http.port", "restart-required"),
    ],
)
def test_roles_models_and_disabled_skills_change_while_the_daemon_runs(text: str, lifecycle: str) -> None:
    assert lifecycle_of(split_key(text)) == lifecycle


def test_every_key_has_its_meaning_and_tables_are_told_from_values() -> None:
    assert meaning_of(("http", "port")).startswith("TCP port")
    assert meaning_of(("providers", "x", "models", "reasoning", "apply")).startswith("`acp_option`")
    assert is_table(("http",)) and is_table(("providers",)) and is_table(("providers", "x"))
    assert not is_table(("http", "port")) and not is_table(("tools", "artifacts", "days"))
