"""What secrets, trust, resolution and roles promise."""

from tests.promises import Promise

_VAULT = "tests/unit/config/test_vault.py::"
_VAULT_CLI = "tests/interaction/cli/test_vault.py::"
_TRUST = "tests/interaction/cli/test_trust.py::"
_ROLES = "tests/unit/runtime/test_roles.py::"
_ROLES_CLI = "tests/interaction/cli/test_roles.py::"
_DERIVATION = "tests/unit/runtime/test_derivation.py::"
_PLANTED = "tests/interaction/sessions/test_secrets.py::"
_TITLES = "tests/interaction/sessions/test_titles.py::"
_DOCTOR = "tests/unit/config/test_doctor_secrets.py::"
_DOCTOR_CLI = "tests/interaction/cli/test_doctor_trust.py::"
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
    _row(
        "look-only",
        "P42",
        "list, info, check, inspect and trust show run nothing of a workspace",
        _TRUST + "test_looking_at_a_workspace_runs_nothing_of_it",
    ),
    _row(
        "evidence",
        "D15",
        "trust show names everything that would run, its file and digest",
        _TRUST + "test_the_evidence_names_everything_that_would_run_and_where_it_stands",
    ),
    _row(
        "headless",
        "D15, P19, P42",
        "without a terminal the refusal carries evidence and a command that ends it",
        _TRUST + "test_a_script_is_refused_with_evidence_and_a_command_that_works",
    ),
    _row(
        "changed-file",
        "P42",
        "a changed file asks again",
        _TRUST + "test_a_changed_file_asks_again_and_its_old_state_does_not",
    ),
    _row(
        "grant-what-was-shown",
        "D15",
        "a grant covers what was shown and nothing that came later",
        _TRUST + "test_a_grant_of_what_was_shown_does_not_cover_what_came_meanwhile",
    ),
    _row(
        "run-asks",
        "issue 5",
        "run asks in the terminal with what would run in view",
        _TRUST + "test_run_asks_in_the_terminal_with_what_would_run_in_view",
    ),
    _row(
        "program-content",
        "D15",
        "a program of the workspace is trusted by its content, before every start",
        _TRUST + "test_a_program_of_the_workspace_is_trusted_by_its_content",
    ),
    _row(
        "revoke",
        "issue 5",
        "trust taken back stops the next start",
        _TRUST + "test_trust_taken_back_stops_the_next_start",
    ),
    _row(
        "operators",
        "decisions D28",
        "an agent may not grant trust",
        _TRUST + "test_only_a_person_decides",
    ),
    _row(
        "workspace-provider",
        "D15",
        "a workspace's provider command counts only after it was trusted",
        _TRUST + "test_a_workspaces_provider_counts_only_after_it_was_trusted",
    ),
    _row(
        "record-damaged",
        "issue 5",
        "a damaged record of trust trusts nothing and is left as it is",
        _TRUST + "test_a_damaged_record_trusts_nothing_and_says_so",
    ),
    _row(
        "roles-defaults",
        "contract §9",
        "without settings every role is filled as the contract says",
        _ROLES + "test_without_settings_the_roles_are_filled_as_the_contract_says",
    ),
    _row(
        "roles-routing",
        "contract §9",
        "a role routed to an agent takes what that agent says",
        _ROLES + "test_a_role_routed_to_an_agent_takes_what_that_agent_says",
    ),
    _row(
        "roles-not-listed",
        "contract §9",
        "built-in agents resolve without folders and are never listed",
        _ROLES_CLI + "test_every_role_is_listed_and_no_built_in_agent_is",
    ),
    _row(
        "roles-unknown",
        "contract §3.6",
        "an unknown role is role_unknown",
        _ROLES_CLI + "test_an_unknown_role_is_refused_with_the_nearest",
    ),
    _row(
        "cascade",
        "contract §2.5",
        "every value of an agent has its source and its file",
        _DERIVATION + "test_each_value_has_its_source_and_its_file",
    ),
    _row(
        "cascade-workspace",
        "contract §2.1, D15",
        "a workspace overlays what it may",
        _DERIVATION + "test_a_workspace_overlays_what_it_may",
    ),
    _row(
        "cascade-errors",
        "contract §2.5",
        "what cannot be resolved is the contract's error",
        _DERIVATION + "test_what_cannot_be_resolved_is_the_contracts_error",
    ),
    _row(
        "resolve-command",
        "issue 5",
        "agent resolve prints the derivation",
        "tests/interaction/cli/test_resolve.py::test_a_derivation_is_one_line_a_value_with_source_and_file",
    ),
    _row(
        "auto-title",
        "contract §9",
        "an unnamed session is named after its first answer, by a hidden session that is deleted",
        _TITLES + "test_an_unnamed_session_is_named_after_its_first_answer_and_nothing_is_left",
    ),
    _row(
        "auto-title-once",
        "contract §9",
        "named sessions and later turns are left alone",
        _TITLES + "test_a_named_session_and_a_second_turn_are_left_alone",
    ),
    _row(
        "auto-title-nothing-allowed",
        "issue 5",
        "the agent that finds a title may do nothing else",
        _TITLES + "test_a_title_agent_that_asks_for_anything_gets_nothing",
    ),
    _row(
        "planted-secrets",
        "P39, contract §5.8",
        "no planted secret is in the home, outside authored files, or in any answer",
        _PLANTED + "test_no_planted_secret_is_found_in_the_home_or_in_any_answer",
    ),
    _row(
        "slots-injected",
        "contract §2.3, P40",
        "a slot reaches its agent, other secrets of the daemon do not",
        _PLANTED + "test_a_slot_reaches_the_agent_and_nothing_else_of_the_daemons_environment_does",
    ),
    _row(
        "server-secrets",
        "contract §2.4, P38",
        "a server gets its secrets and its literals as written",
        _PLANTED + "test_servers_get_their_secrets_and_literals_exactly_as_written",
    ),
    _row(
        "literal-env",
        "P35, D19",
        "a dollar sign in an env value stays as it is written, inline and in mcp.json",
        _PLANTED + "test_a_dollar_sign_in_a_value_stays_as_it_is_written",
    ),
    _row(
        "literal-env-everywhere",
        "P35, D19",
        "the same for settings and mcp.json of the home and the workspace, and for a provider's servers",
        "tests/unit/config/mcp/test_layers.py::test_every_place_is_read_in_order_and_values_stay_as_they_are_written",
    ),
    _row(
        "extension-programs",
        "D15, D13",
        "what an extension brings and would run needs trust by digest, programs and skills too",
        "tests/interaction/fleet/test_extensions.py::"
        "test_trust_in_an_extension_covers_the_programs_it_brings_and_asks_again_when_they_change",
    ),
    _row(
        "settings-ask-again",
        "issue 5, D15",
        "a change of a workspace's settings says when trust is needed again",
        "tests/interaction/cli/test_config.py::"
        "test_a_change_of_a_workspaces_settings_says_when_trust_is_needed_again",
    ),
    _row(
        "builtin-sessions",
        "contract §9",
        "the built-in agents run by name, have no folder and are never listed",
        "tests/interaction/sessions/test_builtin_agents.py::"
        "test_a_built_in_agent_runs_with_the_default_provider_and_its_own_prompt",
    ),
    _row(
        "doctor-vault",
        "issue 5",
        "the doctor opens the vault and names what mends it",
        _DOCTOR + "test_a_vault_that_cannot_be_opened_is_an_error_with_the_command_that_mends_it",
    ),
    _row(
        "doctor-record",
        "issue 5, D15",
        "the doctor names a damaged record of trust",
        _DOCTOR + "test_a_damaged_record_of_trust_is_an_error_and_moving_it_away_mends_it",
    ),
    _row(
        "doctor-changed",
        "issue 5, D15",
        "the doctor names files that changed since they were trusted",
        _DOCTOR_CLI + "test_a_file_that_changed_since_it_was_trusted_is_named_until_somebody_looked",
    ),
    _row(
        "doctor-waiting",
        "issue 5, D15",
        "the doctor names sessions whose agent waits for trust",
        _DOCTOR_CLI + "test_a_session_whose_agent_would_not_start_is_named",
    ),
    _row(
        "doctor-foreign-store",
        "D22",
        "without a daemon the doctor names a store of another program and touches nothing",
        _DOCTOR + "test_a_store_of_another_program_is_named_and_nothing_appears_beside_it",
    ),
    _row(
        "doctor-port",
        "issue 5",
        "without a daemon the doctor names a taken port and a free one",
        _DOCTOR + "test_a_taken_port_is_named_with_one_that_is_free",
    ),
    _row(
        "secret-flags",
        "contract §5.8, P39",
        "what follows a secret flag in a list of words is masked, in settings and servers too",
        "tests/unit/config/test_redaction.py::test_what_follows_a_secret_flag_in_a_list_of_words_is_masked",
    ),
    _row(
        "server-environment",
        "P40",
        "a server that the daemon starts sees the documented base set and its own keys",
        "tests/unit/runtime/test_mcp_start.py::"
        "test_a_server_sees_the_documented_base_and_its_own_keys_and_nothing_else",
    ),
    _row(
        "provider-commands-environment",
        "P40",
        "a provider's status and discovery commands get no secret of the daemon",
        _PLANTED + "test_the_commands_of_a_provider_get_no_secret_of_the_daemon",
    ),
    _row(
        "terminal-environment",
        "P40, contract §5.5",
        "a terminal of an agent gets no secret of the daemon",
        _PLANTED + "test_a_terminal_of_an_agent_gets_no_secret_of_the_daemon",
    ),
    _row(
        "programs-in-folders",
        "D15",
        "a program is found in the folder that a command goes into first",
        "tests/unit/runtime/test_trust_programs.py::"
        "test_a_program_is_found_in_the_folder_that_a_command_goes_into_first",
    ),
    _row(
        "programs-within",
        "D15",
        "a program of the workspace is found however a command names it, also within a shell's text",
        "tests/unit/runtime/test_trust_programs.py::test_a_program_is_found_however_a_command_names_it",
    ),
    _row(
        "program-links",
        "D15",
        "a link that leads out of the workspace counts by where it leads",
        "tests/unit/runtime/test_trust_programs.py::test_a_link_out_of_the_workspace_counts_by_where_it_leads",
    ),
    Promise(
        id="trust-hook-environment",
        source="P40",
        text="a hook sees the base set and its own keys",
        deferred="issue 9: hooks do not exist yet; they arrive with the skills and hooks issue",
    ),
    _row(
        "literal-command",
        "P39, SECURITY.md",
        "a secret in a command reaches its program, is stored nowhere, and the session goes on after a restart",
        "tests/interaction/sessions/test_command_secrets.py::"
        "test_the_program_is_told_the_secret_the_store_is_not_and_the_session_goes_on_after_a_restart",
    ),
    _row(
        "literal-command-trust",
        "D15",
        "a workspace cannot exchange what stands in the secret's place without being trusted again",
        "tests/interaction/sessions/test_command_secrets.py::"
        "test_a_workspace_cannot_exchange_what_stands_in_the_secrets_place_without_being_trusted_again",
    ),
)
