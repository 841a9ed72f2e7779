"""References become values in one place, and a value is masked as soon as it is known (P36, P39)."""

from pathlib import Path

import pytest

from compozy.config.home import Home
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.config.vault import Vault
from compozy.model.errors import Unprocessable
from compozy.model.provider import CredentialSlot, Provider


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.root.mkdir(mode=0o700)
    return made


def _provider(**slot: object) -> Provider:
    row = CredentialSlot(**{"name": "api_key", "target_env": "HOUSE_KEY", **slot})  # type: ignore[arg-type]
    return Provider(id="house", command="house", auth_mode="bound_secret", credential_slots=(row,))


def test_both_kinds_of_reference_resolve_and_are_masked_from_then_on(home: Home) -> None:
    Vault(home, {}).set("mcp/x/token", "value-of-the-vault")
    redactor = Redactor()
    secrets = Secrets(home, redactor, {"TRACKER": "value-of-the-variable"})
    found = secrets.environment("MCP server 'x'", {"A": "env:TRACKER", "B": "vault:mcp/x/token"})
    assert found == {"A": "value-of-the-variable", "B": "value-of-the-vault"}
    assert redactor.text("say value-of-the-vault or value-of-the-variable") == "say [REDACTED] or [REDACTED]"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("env:NOT_SET_ANYWHERE", ("NOT_SET_ANYWHERE", "restart the daemon")),
        ("env:EMPTY", ("EMPTY", "is not set")),
        ("vault:mcp/x/none", ("'mcp/x/none'", "compozy vault set mcp/x/none")),
        ("hunter2hunter2", ("no secret reference", "a secret of the vault")),
    ],
)
def test_a_reference_that_leads_nowhere_names_owner_key_and_variable(
    home: Home, reference: str, words: tuple[str, ...]
) -> None:
    secrets = Secrets(home, Redactor(), {"EMPTY": ""})
    for ask in (secrets.environment, secrets.require):
        with pytest.raises(Unprocessable) as refused:
            ask("MCP server 'notes'", {"API_BASE": reference})
        assert refused.value.code == "mcp_secret_unresolved"
        # Masking an answer must not take away what the message is about.
        shown = Redactor().text(str(refused.value))
        for word in ("MCP server 'notes'", "API_BASE", *words):
            assert word in shown
        assert "hunter2" not in str(refused.value) + str(refused.value.evidence)


def test_a_slot_takes_its_reference_or_the_variable_it_fills(home: Home) -> None:
    Vault(home, {}).set("providers/house/api_key", "from-the-vault")
    secrets = Secrets(home, Redactor(), {"HOUSE_KEY": "from-the-variable"})
    assert secrets.credentials(_provider()) == {"HOUSE_KEY": "from-the-variable"}
    slot = _provider(secret_ref="vault:providers/house/api_key")
    assert secrets.credentials(slot) == {"HOUSE_KEY": "from-the-vault"}


def test_a_required_slot_without_a_value_is_an_error_and_an_optional_one_is_left_out(home: Home) -> None:
    secrets = Secrets(home, Redactor(), {})
    assert secrets.credentials(_provider(required=False)) == {}
    with pytest.raises(Unprocessable) as refused:
        secrets.credentials(_provider(secret_ref="env:OTHER_NAME"))
    assert refused.value.code == "provider_credential_unresolved"
    for word in ("'house'", "'api_key'", "HOUSE_KEY", "OTHER_NAME"):
        assert word in str(refused.value)
