"""What secrets, trust, resolution and roles promise."""

from tests.promises import Promise

_VAULT = "tests/unit/config/test_vault.py::"
_VAULT_CLI = "tests/interaction/cli/test_vault.py::"
_SECRETS = "tests/unit/config/test_secrets.py::"


def _row(name: str, source: str, text: str, test: str) -> Promise:
    return Promise(id=f"trust-{name}", source=source, text=text, test=test)


PROMISES: tuple[Promise, ...] = (
    _row(
        "vault-sealed",
        "contract §1.1",
        "a secret lies sealed in private files and comes back",
        _VAULT + "test_a_value_comes_back_and_lies_sealed_in_private_files",
    ),
    _row(
        "vault-env-key",
        "contract §1.2",
        "COMPOZY_VAULT_KEY replaces the key file",
        _VAULT + "test_a_key_of_the_environment_leaves_no_key_file",
    ),
    _row("vault-wrong-key", "issue 5", "a wrong key is named", _VAULT + "test_a_wrong_key_says_whose_key_it_is"),
    _row(
        "vault-missing-key",
        "issue 5",
        "a missing key is named with the next step",
        _VAULT + "test_a_missing_key_names_file_and_next_step",
    ),
    _row(
        "vault-damaged",
        "issue 5",
        "a damaged vault is named and left as it is",
        _VAULT + "test_a_damaged_file_is_named_and_never_replaced",
    ),
    _row(
        "vault-swap",
        "issue 5",
        "sealed values cannot be swapped",
        _VAULT + "test_two_values_cannot_be_swapped_and_a_changed_one_is_noticed",
    ),
    _row(
        "vault-writers",
        "issue 5, P32",
        "writers in several processes lose nothing",
        _VAULT + "test_writers_in_several_processes_lose_nothing",
    ),
    _row(
        "vault-no-argument",
        "issue 5",
        "a value is never an argument",
        _VAULT_CLI + "test_a_value_is_no_argument",
    ),
    _row(
        "vault-no-echo",
        "issue 5",
        "a terminal asks for the value without echo",
        _VAULT_CLI + "test_on_a_terminal_the_value_is_asked_for_without_echo",
    ),
    _row(
        "vault-operators",
        "decisions D28",
        "an agent may not write secrets",
        _VAULT_CLI + "test_an_agent_may_not_write_secrets",
    ),
    _row(
        "secret-missing",
        "P36, D19",
        "a reference that leads nowhere names owner, key and variable",
        _SECRETS + "test_a_reference_that_leads_nowhere_names_owner_key_and_variable",
    ),
    _row(
        "secret-masked",
        "contract §5.8",
        "a resolved value is masked from then on",
        _SECRETS + "test_both_kinds_of_reference_resolve_and_are_masked_from_then_on",
    ),
)
