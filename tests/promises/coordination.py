"""What sessions that write to each other may rely on, and what an MCP client outside is offered."""

from tests.promises import Promise

_MESSAGES = "tests/interaction/tools/test_coordination.py::"
_SERVE = "tests/interaction/tools/test_mcp_serve.py::"
_KERNEL = "tests/interaction/sessions/test_agent_kernel.py::"


def _row(name: str, source: str, text: str, test: str) -> Promise:
    return Promise(id=f"coordination-{name}", source=source, text=text, test=test)


PROMISES: tuple[Promise, ...] = (
    _row(
        "told-once",
        "issue 7 item 5",
        "a message starts no turn and is told once, when the receiver's next turn begins, with an event that says so",
        _MESSAGES + "test_a_message_is_told_once_when_the_next_turn_of_its_receiver_begins",
    ),
    _row(
        "restart",
        "issue 7 item 5",
        "a message that waits survives a killed daemon",
        _MESSAGES + "test_a_message_that_waits_survives_a_killed_daemon_and_is_told_after_it",
    ),
    _row(
        "capability",
        "decisions D27",
        "peers carry the brief list; a capability travels whole with its digest, pins are kept",
        _MESSAGES + "test_peers_carry_the_brief_list_and_a_capability_is_sent_by_its_id",
    ),
    _row(
        "digest",
        "decisions D27",
        "a capability whose digest does not fit is refused before it is stored or used",
        _MESSAGES + "test_a_capability_whose_digest_does_not_fit_is_neither_stored_nor_told",
    ),
    _row(
        "workspaces",
        "contract §6.2",
        "sessions of other workspaces are unknown",
        _MESSAGES + "test_sessions_of_other_workspaces_and_made_up_ones_are_unknown",
    ),
    _row(
        "family",
        "contract §9, decisions D28",
        "a limited child writes to its family and to nobody else",
        _MESSAGES + "test_a_limited_child_writes_to_its_family_and_to_nobody_else",
    ),
    _row(
        "mcp-serve",
        "issue 7 item 1",
        "any MCP client finds an agent, gives it work and reads the answer, over stdio and streamable HTTP",
        _SERVE + "test_a_client_outside_finds_an_agent_gives_it_work_and_reads_the_answer",
    ),
    _row(
        "mcp-serve-offer",
        "issue 7 item 1, decisions D28",
        "exactly what is stated is offered to clients outside, and nothing that only people decide",
        _SERVE + "test_exactly_what_is_stated_is_offered_and_nothing_that_only_people_decide",
    ),
    _row(
        "mcp-serve-guard",
        "decisions D16",
        "a foreign Host or Origin is refused before anything is read",
        _SERVE + "test_a_foreign_host_or_origin_is_refused_before_anything_is_read",
    ),
    _row(
        "mcp-serve-page",
        "issue 7",
        "the page's program runs and its list is the program's",
        _SERVE + "test_the_page_offers_what_the_program_offers_and_its_program_runs",
    ),
    _row(
        "kernel-me",
        "contract §2.6, §3.7",
        "an agent learns who it is, what it can do (catalog and skills) and how much of it",
        _KERNEL + "test_an_agent_learns_who_it_is_what_it_can_do_and_how_much",
    ),
    _row(
        "kernel-context",
        "contract §3.7",
        "an agent's surroundings name its peers and the messages that wait",
        _KERNEL + "test_its_surroundings_name_its_peers_and_the_messages_that_wait",
    ),
    _row(
        "kernel-notify",
        "contract §3.7",
        "a notice to the person is stored, then shown; too many have to wait",
        _KERNEL + "test_a_notice_is_stored_and_shown_to_who_watches_and_too_many_have_to_wait",
    ),
    _row(
        "kernel-identity",
        "contract §1.3",
        "nobody speaks for a session that is not theirs: missing, made up, another agent's, stopped",
        _KERNEL + "test_nobody_speaks_for_a_session_that_is_not_theirs",
    ),
    _row(
        "bounds",
        "issue 7 item 5",
        "sizes and inboxes are bounded, and the sender is told",
        _MESSAGES + "test_an_inbox_is_bounded_and_a_sender_is_told",
    ),
)
