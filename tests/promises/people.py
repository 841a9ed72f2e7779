"""What sessions promise to the people beside them: questions, attention, modes that explain themselves, waiting."""

from tests.promises import Promise

_PEOPLE = "tests/interaction/sessions/test_people.py::"
_ATTENTION = "tests/interaction/sessions/test_attention.py::"
_EXPLAIN = "tests/interaction/sessions/test_permission_explain.py::"
_LISTS = "tests/interaction/sessions/test_lists.py::"
_QUESTIONS = "tests/unit/runtime/test_questions.py::"
_CLI = "tests/interaction/cli/test_attention.py::"
_FLEET = "tests/interaction/cli/test_fleet.py::"

_ROWS = (
    (
        "modes-through-us",
        "contract §5.5",
        "Reads, writes and commands through the daemon follow one table with the questions.",
        "tests/unit/runtime/test_policy.py::test_what_goes_through_the_daemon_follows_the_same_table",
    ),
    (
        "listed-everywhere",
        "issue 6 item 4, P43",
        "Questions of every workspace are in one list, oldest first, with end, default and the command that answers.",
        _ATTENTION + "test_questions_of_every_workspace_are_listed_oldest_first_with_their_end_and_their_default",
    ),
    (
        "child-question",
        "P43",
        "A child's question is listed with both ids and can be answered at its parent.",
        _EXPLAIN + "test_a_childs_question_is_listed_with_both_ids_and_answered_from_its_parent",
    ),
    (
        "stated-default",
        "issue 6 item 4, P43",
        "The pending record and the event say what is answered when nobody does, and when.",
        _ATTENTION + "test_the_pending_record_and_the_event_say_what_is_answered_when_nobody_does",
    ),
    (
        "timeout",
        "contract §5.5, P43, P45",
        "Nobody in time means the stated no.",
        _QUESTIONS + "test_nobody_in_time_means_the_stated_no",
    ),
    (
        "late-answer",
        "contract §5.5, P44",
        "An answer that does not fit, or comes too late, is refused.",
        _ATTENTION + "test_an_answer_that_does_not_fit_or_comes_too_late_is_refused",
    ),
    (
        "question-ids",
        "contract §5.5",
        "Ids of questions follow the contract and clash with a number.",
        _ATTENTION + "test_ids_of_questions_clash_with_a_number",
    ),
    (
        "login",
        "contract §3.5 Badge",
        "An agent that wants a login waits for a person.",
        _ATTENTION + "test_an_agent_that_wants_a_login_waits_for_a_person",
    ),
    (
        "clarify",
        "contract §3.5 clarifications",
        "A clarification is answered by a choice or in words, once.",
        _QUESTIONS + "test_a_clarification_is_answered_by_a_choice_or_in_words",
    ),
    (
        "clarify-fallback",
        "contract §2.2 tools.clarify",
        "A clarification goes on without an answer and ends with its turn.",
        _QUESTIONS + "test_a_clarification_goes_on_without_an_answer_and_ends_with_its_turn",
    ),
    (
        "elicitation",
        "acp.md, contract §3.5 clarifications",
        "An agent's form is asked field by field, and its values have their types.",
        "tests/interaction/sessions/test_clarifications.py"
        "::test_a_form_is_asked_field_by_field_and_its_values_have_their_types",
    ),
    (
        "elicitation-declined",
        "P45",
        "Where nobody can be asked, a question in words is declined at once.",
        _CLI + "test_a_question_in_words_is_declined_where_nobody_can_be_asked",
    ),
    (
        "explained-is-done",
        "issue 6 item 4",
        "What is explained for an agent is what its session does.",
        _EXPLAIN + "test_what_is_explained_for_an_agent_is_what_its_session_does",
    ),
    (
        "explained-question",
        "issue 6 item 4",
        "What is explained for a question is how it is decided, in every mode.",
        _EXPLAIN + "test_what_is_explained_for_a_question_is_how_it_is_decided",
    ),
    (
        "mode-derived",
        "P46",
        "The record shows how a session's mode was derived.",
        _PEOPLE + "test_inspection_says_how_the_mode_was_derived_and_what_became_of_the_definition",
    ),
    (
        "agents-do-not-answer",
        "D28",
        "An agent may look at what waits and not answer it.",
        _CLI + "test_an_agent_may_look_and_not_answer",
    ),
    (
        "done",
        "contract §3.5 Badge",
        "A turn that nobody watched reads done until a client shows it.",
        _PEOPLE + "test_a_turn_that_nobody_watched_reads_done_until_a_client_shows_it",
    ),
    (
        "attach",
        "contract §3.5 attach",
        "An attached session is held for one client.",
        _PEOPLE + "test_an_attached_session_is_held_for_one_client_and_seen",
    ),
    (
        "wait",
        "contract §3.5 wait",
        "A wait ends when the badge is reached.",
        _PEOPLE + "test_a_wait_ends_when_the_badge_is_reached",
    ),
    (
        "wait-resumed",
        "contract §3.5 wait",
        "A wait that ran out is taken up again and has missed nothing.",
        _PEOPLE + "test_a_wait_that_ran_out_is_taken_up_again_and_has_missed_nothing",
    ),
    (
        "wait-bound",
        "contract §3.5 wait",
        "At most 32 clients wait for one session.",
        "tests/unit/runtime/test_waits.py::test_one_wait_too_many_is_refused_and_all_end_together",
    ),
    (
        "usage",
        "contract §3.5 usage, P57",
        "Tokens of turns add up; a running total of cost is not counted twice.",
        _PEOPLE + "test_usage_adds_the_tokens_of_turns_and_keeps_the_cost_as_the_running_total_it_is",
    ),
    (
        "filters",
        "contract §3.5 list",
        "Sessions are found by badge, by attention and by what can go on.",
        _LISTS + "test_sessions_are_found_by_badge_by_attention_and_by_what_can_go_on",
    ),
    (
        "watch",
        "issue 6 item 4",
        "attention --watch prints each thing once, as it begins to wait.",
        _CLI + "test_watching_prints_each_thing_once_as_it_begins_to_wait",
    ),
    (
        "fleet-live",
        "issue 6 item 10",
        "The live fleet follows, and q leaves the terminal as it was.",
        _FLEET + "test_live_it_follows_and_q_leaves_the_terminal_as_it_was",
    ),
    (
        "fleet-ends",
        "issue 6 item 10",
        "Every end of the live fleet gives the terminal back.",
        _FLEET + "test_live_every_end_gives_the_terminal_back",
    ),
    (
        "fleet-resize",
        "issue 6 item 10",
        "The live fleet fits the terminal's size and follows when that changes.",
        _FLEET + "test_live_it_fits_the_size_and_follows_when_that_changes",
    ),
    (
        "fleet-plain",
        "issue 6 item 10",
        "Without a terminal the fleet prints a line for each change.",
        _FLEET + "test_without_a_terminal_it_prints_a_line_for_each_change",
    ),
)

PROMISES: tuple[Promise, ...] = tuple(
    Promise(id=f"people-{name}", source=source, text=text, test=test) for name, source, text, test in _ROWS
)
