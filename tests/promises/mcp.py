"""What the configuration of MCP servers promises."""

from tests.promises import Promise

_MERGE = "tests/unit/config/mcp/test_merge.py::"
_ACCESS = "tests/unit/config/mcp/test_access.py::"
_LAYERS = "tests/unit/config/mcp/test_layers.py::"
_SESSIONS = "tests/interaction/sessions/test_mcp_servers.py::"
_CLI = "tests/interaction/cli/test_mcp.py::"


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
)
