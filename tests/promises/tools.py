"""What tools promise: who may call what, how an agent reaches them, what happens to a call."""

from tests.promises import Promise

_POLICY = "tests/unit/tools/test_policy.py::"
_REGISTRY = "tests/unit/tools/test_registry.py::"
_RESULTS = "tests/unit/tools/test_results.py::"
_LAUNCHES = "tests/unit/tools/test_launches.py::"
_HOSTED = "tests/interaction/tools/test_hosted.py::"
_CALLS = "tests/interaction/tools/test_calls.py::"
_COMMANDS = "tests/interaction/tools/test_commands.py::"
_PAGE = "tests/interaction/tools/test_page.py::"


def _row(name: str, source: str, text: str, test: str) -> Promise:
    return Promise(id=f"tools-{name}", source=source, text=text, test=test)


def _later(name: str, source: str, text: str, why: str) -> Promise:
    return Promise(id=f"tools-{name}", source=source, text=text, deferred=why)


PROMISES: tuple[Promise, ...] = (
    _row(
        "policy-order",
        "contract §6.3",
        "eleven layers in the contract's order; the first denial wins, in every combination",
        _POLICY + "test_the_first_denial_wins_in_every_combination_of_all_layers",
    ),
    _row(
        "policy-source",
        "contract §6.3",
        "an external source is judged by grant, allow list, trust and default",
        _POLICY + "test_a_source_is_judged_by_grant_allow_list_trust_and_default",
    ),
    _row(
        "policy-unreachable",
        "contract §6.3",
        "what nobody can be asked about is hidden and not callable",
        _POLICY + "test_a_tool_nobody_can_be_asked_about_is_hidden_and_not_callable",
    ),
    _row(
        "native-namespace",
        "contract §6.1",
        "no other source can displace our own tools",
        _REGISTRY + "test_our_own_tools_cannot_be_displaced",
    ),
    _row(
        "conflicts",
        "contract §6.1",
        "an id that two sources give is usable from neither",
        _REGISTRY + "test_an_id_of_two_sources_is_usable_from_neither",
    ),
    _row(
        "search",
        "contract §6.2",
        "tools are found by name, word and likeness",
        _REGISTRY + "test_search_finds_by_name_by_word_and_by_likeness",
    ),
    _row(
        "one-server",
        "contract §5.6",
        "an agent gets exactly one server and reaches the daemon's tools through it",
        _HOSTED + "test_an_agent_gets_exactly_one_server_and_calls_tools_through_it",
    ),
    _row(
        "official-client",
        "contract §6.4; issue 7",
        "the official MCP client lists and calls through the relay, old handshake and new",
        _HOSTED + "test_the_official_client_lists_and_calls_through_the_relay",
    ),
    _row("nonce-once", "contract §6.4", "a nonce binds once", _HOSTED + "test_a_nonce_is_good_for_one_bind"),
    _row(
        "nonce-stolen",
        "contract §6.4",
        "another process cannot use a nonce, and does not use it up",
        _HOSTED + "test_a_nonce_stolen_by_another_process_is_refused_and_still_good_for_the_agent",
    ),
    _row(
        "nonce-window",
        "contract §6.4",
        "a nonce is valid from initialize on, for its time",
        _LAUNCHES + "test_a_nonce_is_not_valid_before_it_is_armed_nor_after_its_time",
    ),
    _row(
        "nonce-hashed",
        "contract §6.4",
        "only the nonce's hash is kept",
        _LAUNCHES + "test_only_a_hash_of_the_nonce_is_kept",
    ),
    _row(
        "unix-only",
        "contract §1.3",
        "the internal routes exist on the socket only",
        _HOSTED + "test_the_internal_routes_do_not_exist_on_tcp",
    ),
    _row("relay-ends", "issue 7", "a relay ends with its session", _HOSTED + "test_the_relay_ends_with_its_session"),
    _row(
        "required-missing",
        "D18",
        "a required tool, toolset or server that does not exist fails at creation",
        _HOSTED + "test_a_required_name_that_does_not_exist_fails_at_creation",
    ),
    _row(
        "required-provider",
        "D18",
        "a provider without session MCP cannot have required tools",
        _HOSTED + "test_a_provider_without_session_mcp_cannot_have_required_tools",
    ),
    _row("required-off", "D18", "tools off fails required tools", _HOSTED + "test_tools_off_leaves_nothing"),
    _row(
        "wildcard-idle",
        "D18",
        "a wildcard that matches nothing is a system event",
        _HOSTED + "test_a_wildcard_that_matches_nothing_is_a_system_event",
    ),
    _row(
        "explained",
        "contract §6.3; issue 7",
        "every decision can be explained layer by layer",
        _HOSTED + "test_an_agents_lists_decide_what_it_sees_and_why_is_explained",
    ),
    _row(
        "asked",
        "contract §6.3",
        "a person is asked in the session, and each answer counts for one call",
        _CALLS + "test_a_person_allows_one_call_and_is_asked_again_for_the_next",
    ),
    _row("timeout", "contract §6.3", "nobody in time means no", _CALLS + "test_nobody_in_time_means_no"),
    _row(
        "remembered",
        "contract §6.3",
        "always is remembered for exactly that input and can be revoked",
        _CALLS + "test_always_is_remembered_for_exactly_that_input_and_can_be_revoked",
    ),
    _row(
        "tokens",
        "contract §6.3",
        "an approval token is good for one call with one input",
        _CALLS + "test_an_operator_allows_one_call_of_a_session_with_a_token_that_is_good_once",
    ),
    _row(
        "statuses",
        "contract §3.1",
        "calls that cannot be have their status and code",
        _CALLS + "test_a_call_that_cannot_be_has_its_status_and_code",
    ),
    _row(
        "artifacts",
        "contract §6.3",
        "a large result is kept and read in pages; 507 when it cannot be",
        _CALLS + "test_a_large_result_is_kept_and_read_in_pages_by_the_agent",
    ),
    _row(
        "artifacts-intact",
        "contract §6.3",
        "a changed artifact is recognised",
        _RESULTS + "test_a_changed_artifact_is_recognised",
    ),
    _row(
        "own-sessions",
        "D28",
        "tools change the caller's own session and its descendants only",
        _CALLS + "test_a_session_changes_only_itself_and_its_own_children",
    ),
    _row(
        "children",
        "contract §9; D28",
        "a session starts, prompts, waits for and stops its children, which never have more than it has",
        _CALLS + "test_a_session_starts_prompts_waits_for_and_stops_its_children",
    ),
    _row(
        "clarify",
        "contract §6.2",
        "an agent asks its person through a tool",
        _CALLS + "test_an_agent_asks_its_person_and_gets_the_answer",
    ),
    _row(
        "list-changed",
        "contract §6.4",
        "a changed list of tools is told to the client",
        "tests/unit/tools/test_hosted_server.py::test_a_changed_list_is_told",
    ),
    _row(
        "other-workspaces",
        "contract §6.3",
        "another workspace is open to approve-all and asked for otherwise",
        _CALLS + "test_other_workspaces_are_open_to_approve_all_and_asked_for_otherwise",
    ),
    _row(
        "too-large",
        "issue 7, bad input",
        "a message over the limit hurts nobody",
        _HOSTED + "test_a_message_that_is_unknown_or_too_large_hurts_nobody",
    ),
    _row(
        "commands",
        "contract §4.1",
        "a call that needs an approval says how to give it",
        _COMMANDS + "test_a_call_that_needs_an_approval_says_how_to_give_it",
    ),
    _row(
        "page",
        "issue 7",
        "the page's examples are real",
        _PAGE + "test_every_command_of_the_page_answers_what_the_page_shows",
    ),
    _later("pre-call-hooks", "contract §6.3 layer 10", "tool.pre_call hooks may deny a call", "hooks: issue 6"),
)
