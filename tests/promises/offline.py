"""What the embedded agent promises, and what the tests against real agents promise."""

from tests.promises import Promise

_UNIT = "tests/unit/offline_agent"
_ISSUE = "issue 2 item 7"

PROMISES: tuple[Promise, ...] = (
    Promise(
        id="offline-says-no-model",
        source=_ISSUE,
        text="The embedded agent says in its first words and in agentInfo that it uses no language model.",
        test=f"{_UNIT}/test_turns.py::test_the_first_words_say_that_no_language_model_is_used",
    ),
    Promise(
        id="offline-finds-needle",
        source=_ISSUE,
        text="A line planted in a generated tree is the first finding, with its file and line.",
        test=f"{_UNIT}/test_finding.py::test_a_planted_needle_is_the_first_finding_with_its_line",
    ),
    Promise(
        id="offline-answer-follows-tree",
        source=_ISSUE,
        text="The answer changes when the tree changes.",
        test=f"{_UNIT}/test_finding.py::test_the_answer_changes_with_the_tree",
    ),
    Promise(
        id="offline-reads-through-client",
        source=_ISSUE,
        text="Every file is read through the client's own method.",
        test=f"{_UNIT}/test_turns.py::test_every_file_is_read_through_the_client",
    ),
    Promise(
        id="offline-terminal-after-asking",
        source=_ISSUE,
        text="In mode full-access it lists files in the client's terminal, after asking, and returns it.",
        test=f"{_UNIT}/test_turns.py::test_full_access_lists_with_a_program_after_asking",
    ),
    Promise(
        id="offline-works-without-terminal",
        source=_ISSUE,
        text="Where the terminal or the permission for it is refused, it still does its job.",
        test=f"{_UNIT}/test_turns.py::test_without_the_terminal_it_still_does_its_job",
    ),
    Promise(
        id="offline-writes-after-asking",
        source=_ISSUE,
        text="It writes a findings file only when asked to, and after permission.",
        test=f"{_UNIT}/test_turns.py::test_findings_are_written_after_asking_and_hold_the_place",
    ),
    Promise(
        id="offline-denied-write-leaves-nothing",
        source=_ISSUE,
        text="A denied write leaves nothing behind, is said, and the turn ends in order.",
        test=f"{_UNIT}/test_turns.py::test_a_denied_write_leaves_nothing_and_is_said",
    ),
    Promise(
        id="offline-cancel",
        source="acp.md, fault 3",
        text="A cancel while reading or asking ends the turn as cancelled, with every call finished.",
        test=f"{_UNIT}/test_turns.py::test_a_cancel_while_reading_ends_the_turn_and_its_calls",
    ),
    Promise(
        id="offline-odd-files",
        source=_ISSUE,
        text="Binary, unreadable, huge and linked files are counted and passed over; links are never followed.",
        test=f"{_UNIT}/test_turns.py::test_files_that_are_no_text_or_cannot_be_read_are_counted_and_the_rest_is_used",
    ),
    Promise(
        id="offline-no-match",
        source=_ISSUE,
        text="A task without a match, and an empty workspace, are said to be so.",
        test=f"{_UNIT}/test_turns.py::test_a_task_without_a_match_says_so",
    ),
    Promise(
        id="offline-junk",
        source="acp.md, fault 7",
        text="Junk on the pipe is answered with an error and survived; it leaves when the client goes.",
        test=f"{_UNIT}/test_turns.py::test_junk_on_the_pipe_is_answered_and_survived",
    ),
    Promise(
        id="e2e-protocol-turn",
        source="issue 2, Real components",
        text="Named real agents finish a turn with text, permission and file effect, and leave no process.",
        test="tests/e2e/test_over_the_protocol.py::test_a_turn_streams_text_asks_and_has_its_effect",
    ),
    Promise(
        id="e2e-protocol-denied",
        source="issue 2, Real components",
        text="With real agents a denied permission has no effect.",
        test="tests/e2e/test_over_the_protocol.py::test_a_denied_permission_has_no_effect",
    ),
    Promise(
        id="e2e-protocol-cancel",
        source="issue 2, Real components",
        text="With real agents a cancel ends a streaming turn.",
        test="tests/e2e/test_over_the_protocol.py::test_a_cancel_ends_a_streaming_turn",
    ),
    Promise(
        id="e2e-connection-no-leftover",
        source="issue 2 item 5",
        text="Our connection, closed in the middle of a real agent's shell command, leaves no process.",
        test="tests/e2e/test_over_our_connection.py::test_closing_in_the_middle_of_a_shell_command_leaves_no_process",
    ),
    Promise(
        id="e2e-connection-pending-permission",
        source="acp.md, fault 4",
        text="A cancel while a real agent waits for a permission ends the turn.",
        test="tests/e2e/test_over_our_connection.py::test_a_cancel_while_a_permission_is_pending_ends_the_turn",
    ),
    Promise(
        id="e2e-daemon-run",
        source="issue 2, Real components",
        text="compozy run with a real agent streams, has its effect, is stored, and stops the agent's processes.",
        test="tests/e2e/test_through_the_daemon.py::test_a_run_streams_text_has_its_effect_and_is_stored",
    ),
    Promise(
        id="e2e-daemon-killed",
        source="issue 2, Done when",
        text="A daemon killed in a real agent's turn keeps what it showed, and the next one ends the agent.",
        test="tests/e2e/test_through_the_daemon.py::test_a_daemon_killed_in_a_turn_loses_nothing_and_the_next_ends_the_agent",
    ),
    Promise(
        id="demo",
        source="issue 2 item 2",
        text="make demo does the main job without terminal, account or network, twice, and leaves no process.",
        test="tests/interaction/test_demo.py::test_the_demo_does_the_main_job_twice_and_leaves_no_process",
    ),
)
