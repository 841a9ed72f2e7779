"""Promises about settings, providers and their models."""

from tests.promises import Promise

PROMISES: tuple[Promise, ...] = (
    Promise(
        "provider-rows",
        "contract 2.3",
        "every built-in row is started with its command, variables and secret",
        "tests/unit/runtime/test_provider_launch.py::test_a_provider_is_started_as_its_row_says",
    ),
    Promise(
        "provider-aliases",
        "contract 2.3",
        "an alias in the file changes the row it means",
        "tests/unit/runtime/test_provider_launch.py::test_an_alias_in_the_file_changes_the_row_it_means",
    ),
    Promise(
        "provider-isolated",
        "contract 1.2, 2.3",
        "isolated environment and home reach the program",
        "tests/unit/runtime/test_provider_launch.py::test_an_isolated_environment_and_home_reach_the_program",
    ),
    Promise(
        "provider-pi",
        "contract 1.2",
        "Pi gets a folder per session with provider, model and login",
        "tests/unit/config/test_environment.py::test_pi_is_pinned_to_provider_and_model_and_sees_the_login_of_its_home",
    ),
    Promise(
        "provider-slot",
        "issue 5 bad input",
        "a slot without a value names the variable and starts nothing",
        "tests/unit/runtime/test_provider_launch.py::test_a_slot_without_a_value_names_the_variable_and_starts_nothing",
    ),
    Promise(
        "provider-mistakes",
        "issue 5 bad input",
        "a mistake in a provider is named with file and line",
        "tests/unit/runtime/test_provider_launch.py::test_a_mistake_in_a_provider_is_named_with_file_and_line",
    ),
    Promise(
        "endpoint-launch",
        "D24",
        "an OpenAI-compatible endpoint gets address, model and key by the environment alone",
        "tests/unit/runtime/test_provider_launch.py::test_one_more_endpoint_is_a_provider_of_its_own_with_its_own_key",
    ),
    Promise(
        "endpoint-no-key",
        "D24",
        "a local endpoint needs no key",
        "tests/unit/runtime/test_provider_launch.py::test_a_local_endpoint_needs_no_key",
    ),
    Promise(
        "endpoint-steps",
        "D24",
        "an endpoint that is not ready is refused with the step that mends it",
        "tests/unit/runtime/test_provider_launch.py::test_an_endpoint_that_is_not_ready_is_refused_with_the_one_step_that_mends_it",
    ),
    Promise(
        "endpoint-dotenv",
        "D24, D14",
        "a workspace's .env decides nothing about the endpoint",
        "tests/unit/config/test_environment.py::test_an_endpoint_is_told_by_the_environment_alone_and_nothing_is_left_to_a_workspaces_dotenv",
    ),
    Promise(
        "endpoint-end-to-end",
        "D24",
        "installed from PyPI, an endpoint runs a whole turn (make e2e)",
        "tests/e2e/test_openai_compatible.py::test_a_model_server_is_used_from_installation_to_a_finished_turn",
    ),
    Promise(
        "auth-states",
        "contract 2.3",
        "each missing thing has its state, action and one step",
        "tests/unit/config/test_provider_auth.py::test_each_missing_thing_has_its_state_action_and_step",
    ),
    Promise(
        "auth-login-secret",
        "contract 2.3",
        "the login command itself is never returned",
        "tests/unit/config/test_provider_auth.py::test_the_login_command_itself_is_never_returned",
    ),
    Promise(
        "auth-login-terminal",
        "contract 3.1",
        "a login needs a terminal",
        "tests/interaction/cli/test_providers.py::test_a_login_needs_a_terminal_and_says_so",
    ),
    Promise(
        "auth-login-runs",
        "contract 4.1",
        "a login runs in the person's terminal",
        "tests/interaction/cli/test_providers.py::test_a_login_runs_in_the_terminal_of_the_person",
    ),
    Promise(
        "auth-probe",
        "contract 3.6",
        "a status command is asked by the daemon, its answer redacted",
        "tests/interaction/cli/test_providers.py::test_a_status_command_is_asked_by_the_daemon",
    ),
    Promise(
        "auth-probe-bounded",
        "contract 3.6",
        "a status command that hangs is ended with what it started",
        "tests/unit/runtime/test_provider_asking.py::test_a_program_that_hangs_is_ended_with_what_it_started",
    ),
    Promise(
        "auth-key-address",
        "contract 2.3",
        "a key is sent to its own address only",
        "tests/unit/runtime/test_provider_asking.py::test_a_redirect_is_not_followed_with_the_key",
    ),
    Promise(
        "provider-key-hidden",
        "contract 5.8",
        "a key is never taken on a command line",
        "tests/interaction/cli/test_providers.py::test_a_key_itself_is_never_taken_on_a_command_line",
    ),
    Promise(
        "provider-key-nowhere",
        "contract 5.8",
        "an endpoint's key is in no answer and in no file of the home",
        "tests/interaction/cli/test_providers.py::test_an_endpoint_is_set_up_and_asked_without_its_key_ever_being_shown",
    ),
    Promise(
        "models-priority",
        "contract 3.6",
        "config wins over the provider's list, that over built-in rows",
        "tests/unit/runtime/test_model_catalog.py::test_the_config_wins_over_the_built_in_row_and_fills_up_from_it",
    ),
    Promise(
        "models-availability",
        "contract 3.6",
        "availability says what the provider lists, and unknown until it was asked",
        "tests/unit/runtime/test_model_catalog.py::test_what_the_provider_lists_is_available_and_what_it_does_not_list_is_not",
    ),
    Promise(
        "models-stale",
        "contract 3.6",
        "a list that could not be refreshed is kept and called stale",
        "tests/unit/runtime/test_model_catalog.py::test_a_list_that_could_not_be_refreshed_is_kept_and_called_stale",
    ),
    Promise(
        "models-curate",
        "contract 3.6",
        "a curated model is written to the file and counts at once",
        "tests/interaction/cli/test_providers.py::test_a_model_is_curated_in_the_file_and_counts_at_once",
    ),
    Promise(
        "doctor-providers",
        "issue 5.2",
        "doctor names what each set-up provider lacks and the command",
        "tests/unit/config/test_doctor.py::test_each_provider_that_is_set_up_is_told_what_it_lacks_and_the_command_that_mends_it",
    ),
    Promise(
        "config-lossless",
        "D3",
        "a change of a setting keeps every other byte",
        "tests/unit/config/test_change.py::test_one_value_changes_and_everything_else_keeps_its_bytes",
    ),
    Promise(
        "config-checked",
        "contract 2.1",
        "a value that does not fit is refused and nothing is written",
        "tests/unit/config/test_change.py::test_a_value_that_does_not_fit_is_refused_and_nothing_is_written",
    ),
    Promise(
        "config-writers",
        "contract 2.1",
        "writers at the same time lose nothing",
        "tests/unit/config/test_change.py::test_writers_at_the_same_time_lose_nothing",
    ),
    Promise(
        "settings-config-workspace",
        "D15",
        "a workspace cannot set what belongs to the home",
        "tests/unit/config/test_change.py::test_a_workspace_gets_its_own_file_and_cannot_take_what_is_the_home_s",
    ),
    Promise(
        "config-keys",
        "contract 2.1",
        "an unknown key is refused with the nearest one, a removed one with its replacement",
        "tests/unit/config/test_keys.py::test_what_is_no_key_is_refused_with_what_it_should_be",
    ),
    Promise(
        "config-lifecycle",
        "contract 2.1",
        "roles, models and disabled skills change while the daemon runs",
        "tests/unit/config/test_keys.py::test_roles_models_and_disabled_skills_change_while_the_daemon_runs",
    ),
    Promise(
        "config-live",
        "contract 2.1",
        "a running daemon takes them over and names what needs a restart",
        "tests/interaction/cli/test_config.py::test_a_running_daemon_takes_over_a_model_at_once_and_names_what_needs_a_restart",
    ),
    Promise(
        "config-explain",
        "issue 5.1",
        "each value is explained with file and line, and what was refused",
        "tests/unit/config/test_explain.py::test_a_workspace_wins_where_it_may_and_is_refused_where_it_may_not",
    ),
    Promise(
        "config-masked",
        "contract 5.8",
        "secrets are masked, references stay",
        "tests/unit/config/test_explain.py::test_secrets_are_masked_and_references_stay",
    ),
    Promise(
        "settings-general",
        "contract 12",
        "general settings are answered in the contract's shape",
        "tests/interaction/daemon/test_settings.py::test_general_settings_have_the_contracts_shape",
    ),
    Promise(
        "settings-echo",
        "contract 12",
        "what was read can be sent back and changes nothing",
        "tests/interaction/daemon/test_settings.py::test_what_was_read_can_be_sent_back_and_changes_nothing",
    ),
    Promise(
        "settings-providers",
        "contract 12",
        "a provider is added, changed and removed; its secret goes to the vault",
        "tests/interaction/daemon/test_settings.py::test_a_provider_is_added_changed_and_removed_and_its_secret_goes_to_the_vault",
    ),
    Promise(
        "settings-broken",
        "issue 5 bad input",
        "a broken file is named with its line and the daemon goes on",
        "tests/interaction/daemon/test_settings.py::test_a_broken_file_is_named_with_its_line_and_the_daemon_goes_on",
    ),
    Promise(
        "onboarding",
        "contract 3.6",
        "onboarding is finished once and can be started again",
        "tests/interaction/daemon/test_settings.py::test_onboarding_is_finished_once_and_can_be_started_again",
    ),
    Promise(
        "fs-browse",
        "contract 3.6",
        "a folder is listed, folders first, hidden names on request",
        "tests/interaction/daemon/test_settings.py::test_a_folder_is_listed_with_folders_first_and_hidden_names_on_request",
    ),
    Promise(
        "every-policy",
        "contract 2.3, 5.3",
        "every built-in row takes both environment and both home policies; Pi's settings are local to the session",
        "tests/unit/runtime/test_provider_launch.py::test_every_row_takes_every_policy",
    ),
    Promise(
        "cascade-started",
        "contract 2.5, 5.4",
        "the agent that is started is told the model and effort that the cascade says",
        "tests/interaction/sessions/test_cascade.py::test_the_agent_that_is_started_is_told_what_the_cascade_says",
    ),
    Promise(
        "unknown-provider-line",
        "issue 5 bad input",
        "an agent of an unknown provider is refused with file, line and the nearest name",
        "tests/interaction/cli/test_bad_settings.py::"
        "test_an_agent_of_an_unknown_provider_is_refused_with_the_line_that_names_it",
    ),
    Promise(
        "unknown-provider-setting",
        "issue 5 bad input",
        "a setting that names an unknown provider is told with its line",
        "tests/interaction/cli/test_bad_settings.py::"
        "test_settings_that_name_an_unknown_provider_are_told_with_their_line",
    ),
    Promise(
        "bad-settings",
        "issue 5 bad input",
        "each mistake in the settings is named with file and line, and the daemon goes on",
        "tests/interaction/cli/test_bad_settings.py::test_a_settings_file_that_cannot_be_used_is_named_with_its_line",
    ),
    Promise(
        "bad-vault",
        "issue 5 bad input",
        "a vault that cannot be opened names its file wherever it is needed, and the daemon goes on",
        "tests/interaction/cli/test_bad_settings.py::"
        "test_a_vault_that_cannot_be_opened_names_its_file_wherever_it_is_needed",
    ),
    Promise(
        "state-follows",
        "issue 5",
        "the state of a provider follows its settings while the daemon runs, and says what waits for a restart",
        "tests/interaction/cli/test_providers.py::"
        "test_the_state_of_a_provider_follows_its_settings_while_the_daemon_runs",
    ),
    Promise(
        "models-dev",
        "contract 3.6",
        "models.dev is a source between the lists and the built-in rows, kept in the home",
        "tests/unit/runtime/test_models_dev.py::"
        "test_what_was_fetched_is_kept_in_the_home_and_ranks_between_the_lists_and_the_built_in_rows",
    ),
    Promise(
        "models-dev-asked",
        "contract 3.6",
        "it is asked on request only, at the address in the settings; without one nothing is reached",
        "tests/interaction/cli/test_providers.py::"
        "test_models_dev_is_asked_on_request_only_and_from_the_address_in_the_settings",
    ),
    Promise(
        "models-dev-fails",
        "contract 3.6",
        "a failed question says why; what was known stays and is called stale",
        "tests/unit/runtime/test_models_dev.py::"
        "test_a_failed_question_says_why_and_what_was_known_stays_and_is_called_stale",
    ),
)
