"""What the configuration of MCP servers promises."""

from tests.promises import Promise

_MERGE = "tests/unit/config/mcp/test_merge.py::"
_ACCESS = "tests/unit/config/mcp/test_access.py::"
_LAYERS = "tests/unit/config/mcp/test_layers.py::"
_SESSIONS = "tests/interaction/sessions/test_mcp_servers.py::"
_CLI = "tests/interaction/cli/test_mcp.py::"
_SERVERS = "tests/interaction/mcp/test_servers.py::"
_BAD = "tests/interaction/mcp/test_bad_servers.py::"
_REMOTE = "tests/interaction/mcp/test_remote.py::"
_OAUTH = "tests/interaction/mcp/test_oauth.py::"


def _row(name: str, source: str, text: str, test: str) -> Promise:
    return Promise(id=f"mcp-{name}", source=source, text=text, test=test)


PROMISES: tuple[Promise, ...] = (
    _row(
        "one-table",
        "D19, contract §2.4",
        "of any two places the later wins; fields mix within one level of trust only",
        _MERGE + "test_of_any_two_places_the_later_wins_and_fields_mix_within_one_level_only",
    ),
    _row(
        "no-swap",
        "D19",
        "a repository cannot put its command under the home's secrets",
        _SESSIONS + "test_a_repository_cannot_put_its_command_under_the_secrets_of_the_home",
    ),
    _row(
        "empty-map",
        "P37",
        "an empty map adds and removes nothing",
        _SESSIONS + "test_an_empty_map_adds_and_removes_nothing",
    ),
    _row(
        "injected",
        "P38, contract §5.6",
        "session/new carries the merge of home, provider and agent, environment names in order",
        _SESSIONS + "test_the_agent_gets_the_merge_of_home_provider_and_its_own_definition",
    ),
    _row(
        "injected-again",
        "P38",
        "a session that is opened again gets the same servers",
        _SESSIONS + "test_a_session_that_is_loaded_again_gets_the_same_servers",
    ),
    _row(
        "missing-reference",
        "P36, D19",
        "a missing reference of any place fails the creation, naming server, key and variable",
        _SESSIONS + "test_a_reference_that_leads_nowhere_fails_before_anything_starts",
    ),
    _row(
        "typing-mistake",
        "P41",
        "a misspelt key in settings is named with place and the nearest key",
        _LAYERS + "test_a_typing_mistake_is_named_with_file_line_server_and_the_nearest_key",
    ),
    _row(
        "broken-file",
        "P41, D8",
        "a broken shared file refuses sessions with its line; the list shows the rest",
        _SESSIONS + "test_a_mistake_in_a_shared_file_is_named_with_its_line_and_hurts_nobody_else",
    ),
    _row(
        "trust",
        "P42, D15",
        "a workspace's mcp.json needs trust, and again when it changes",
        _SESSIONS + "test_a_changed_mcp_json_asks_again_and_one_that_is_trusted_does_not",
    ),
    _row(
        "trust-settings",
        "D15",
        "servers in a workspace's settings count once trusted",
        _SESSIONS + "test_settings_of_a_workspace_bring_servers_only_when_they_are_trusted",
    ),
    _row(
        "literal-secret",
        "P39",
        "literal secrets reach the agent and stay out of the store",
        _SESSIONS + "test_literal_secrets_of_every_place_reach_the_agent_and_stay_out_of_the_store",
    ),
    _row(
        "deny",
        "P70",
        "deny_tools keeps all servers or one away from an agent, and none of them is started",
        _SESSIONS + "test_an_agent_says_which_inherited_servers_it_does_not_want",
    ),
    _row(
        "deny-patterns",
        "P70",
        "a server is kept away when no tool of it could be used",
        _ACCESS + "test_a_server_is_kept_away_when_no_tool_of_it_could_be_used",
    ),
    _row(
        "which-file",
        "P37",
        "mcp list says per server which file won and what is hidden",
        _CLI + "test_each_server_says_which_file_won_and_what_is_hidden",
    ),
    _row(
        "which-key",
        "P35, D1",
        "mcp explain says per key where it stands, shows no value, and names what is not expanded",
        _CLI + "test_each_key_says_where_it_stands_and_no_value_of_a_secret_is_shown",
    ),
    _row(
        "one-server",
        "contract §5.6",
        "with hosted tools the agent is given one server, and reaches the configured ones through it",
        _SERVERS + "test_an_agent_gets_one_server_and_calls_configured_ones_through_it",
    ),
    _row(
        "instances",
        "issue 7 item 3",
        "sessions of one workspace share an instance, other workspaces have their own",
        _SERVERS + "test_sessions_of_one_workspace_share_an_instance_and_other_workspaces_have_their_own",
    ),
    _row(
        "never-started",
        "P70",
        "a server that is denied is never started",
        _SERVERS + "test_a_server_that_is_denied_is_never_started",
    ),
    _row(
        "environment",
        "P40",
        "a server that the daemon starts sees the base and its own keys",
        _SERVERS + "test_a_server_sees_the_base_and_its_own_keys_and_nothing_else",
    ),
    _row(
        "changes",
        "issue 7 item 3",
        "tools of a server appear and disappear in running sessions",
        _SERVERS + "test_tools_appear_and_disappear_in_a_running_session",
    ),
    _row(
        "ends",
        "P47",
        "servers end with the daemon, with everything they started",
        _SERVERS + "test_servers_end_with_the_daemon_also_those_that_will_not",
    ),
    _row(
        "swept",
        "P47",
        "servers that a killed daemon left are ended by the next one",
        _SERVERS + "test_servers_that_a_killed_daemon_left_are_ended_by_the_next_one",
    ),
    _row(
        "injected-set",
        "D19",
        "without hosted tools the resolved set is given to the agent",
        _SERVERS + "test_without_hosted_tools_the_agent_is_given_the_resolved_set",
    ),
    _row(
        "dies",
        "issue 7, Bad input",
        "a server that dies is started again with growing pauses, and says why",
        _BAD + "test_a_server_that_dies_at_once_is_started_again_with_growing_pauses_and_says_why",
    ),
    _row(
        "dies-in-call",
        "issue 7, Bad input",
        "a server that dies during a call fails that call and serves the next",
        _BAD + "test_a_server_that_dies_during_a_call_fails_that_call_and_is_there_for_the_next",
    ),
    _row(
        "too-much",
        "issue 7, Bad input",
        "floods, endless lines and 50 MB end the server with a stated error",
        _BAD + "test_a_server_that_sends_too_much_is_ended_and_says_so",
    ),
    _row(
        "artifact",
        "contract §6.3",
        "a large result of a server is kept as an artifact",
        _BAD + "test_a_large_result_is_kept_as_an_artifact_and_read_in_pages",
    ),
    _row(
        "bad-schema",
        "issue 7, Bad input",
        "a tool with an unusable schema is shown with the reason, the others work",
        _BAD + "test_tools_with_unusable_schemas_are_shown_with_the_reason_and_the_others_work",
    ),
    _row(
        "collide",
        "issue 7, Bad input",
        "names that become one id can be called by nobody",
        _BAD + "test_names_that_become_one_id_can_be_called_by_nobody",
    ),
    _row(
        "no-secret-shown",
        "P39",
        "what a server prints of its secrets is shown nowhere",
        _BAD + "test_what_a_server_prints_of_its_secrets_is_shown_nowhere",
    ),
    _row(
        "doctor",
        "issue 7 item 3",
        "the doctor names servers that do not work",
        _BAD + "test_a_program_that_does_not_exist_is_stated_and_the_doctor_names_it",
    ),
    _row(
        "remote",
        "issue 7 item 3",
        "a remote server that goes and comes back is reached again",
        _REMOTE + "test_a_remote_server_that_goes_and_comes_back_is_reached_again",
    ),
    _row(
        "headers",
        "P39",
        "secret headers reach the server and no file",
        _REMOTE + "test_headers_reach_the_server_and_their_secrets_nobody_else",
    ),
    _row(
        "login",
        "issue 7 item 3",
        "a person logs in by discovery, registration and PKCE, and running sessions get the tools",
        _OAUTH + "test_a_person_logs_in_and_running_sessions_get_the_tools",
    ),
    _row(
        "refresh",
        "issue 7 item 3",
        "a login survives a restart and is renewed when it ends",
        _OAUTH + "test_a_login_survives_a_restart_and_is_renewed_when_it_ends",
    ),
    _row(
        "taken-back",
        "issue 7 item 3",
        "a login that was taken back asks for a person, never by itself",
        _OAUTH + "test_a_login_that_the_server_takes_back_asks_for_a_person_and_never_by_itself",
    ),
    _row(
        "login-headless",
        "issue 7 item 3",
        "mcp auth login prints the address, waits within its bound, and is not for agents",
        _OAUTH + "test_the_command_prints_the_address_and_waits",
    ),
    _row(
        "logout-revokes",
        "RFC 7009",
        "a logout has the tokens revoked where they came from, and forgets the login whatever the server says",
        _OAUTH + "test_a_logout_has_the_tokens_revoked_where_they_came_from",
    ),
    _row(
        "logout-anyway",
        "RFC 7009",
        "a logout forgets the login also where the server does not revoke it",
        _OAUTH + "test_a_logout_forgets_the_login_also_where_the_server_does_not_revoke_it",
    ),
    _row(
        "pre-registered",
        "issue 7 item 3",
        "a client that was registered by hand logs in, renews and logs out with its own secret",
        _OAUTH + "test_a_client_that_was_registered_by_hand_logs_in_renews_and_logs_out_with_its_own_secret",
    ),
    _row(
        "idle",
        "issue 7 item 3",
        "a server that nobody uses is ended, one that a running session has stays",
        "tests/unit/runtime/test_mcp_idle.py::test_a_server_of_a_running_session_stays_until_the_session_has_ended",
    ),
    _row(
        "page",
        "design §4",
        "the commands of docs/mcp.md say what the page shows",
        "tests/golden/test_docs_mcp.py::test_the_commands_of_the_page_say_what_it_shows",
    ),
    _row(
        "published",
        "issue 7, Real components",
        "published servers of npm and PyPI work through the daemon",
        "tests/e2e/test_published_servers.py::test_the_filesystem_server_of_npm_reads_a_file_of_the_workspace",
    ),
)
