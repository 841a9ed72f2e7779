"""What the command line promises (contract §4; decisions D8, D9, D23, D30; reports P03, P19, P21, P45)."""

from tests.promises import Promise

_UNIT = "tests/unit/cli/"
_RUN = "tests/interaction/cli/test_run.py::"
_TERMINAL = "tests/interaction/cli/test_terminal.py::"
_AGENTS = "tests/interaction/cli/test_agents.py::"
_SESSIONS = "tests/interaction/cli/test_sessions.py::"
_DAEMON = "tests/interaction/cli/test_daemon_commands.py::"
_BAD = "tests/interaction/test_bad_input.py::"

PROMISES: tuple[Promise, ...] = (
    Promise(
        id="cli-readme-true",
        source="issue 4 done when",
        text="the daily commands of the README print what it shows",
        test="tests/golden/test_readme.py::test_the_daily_commands_print_what_the_readme_shows",
    ),
    Promise(
        "cli.lazy",
        "design §2",
        "Help imports no command, no server and no rich",
        _UNIT + "test_app.py::test_help_names_every_top_level_command_without_importing_one",
    ),
    Promise(
        "cli.help",
        "issue 2 item 8",
        "Every command explains itself and shows an example",
        _UNIT + "test_app.py::test_every_command_of_the_table_loads_has_help_and_examples",
    ),
    Promise(
        "cli.typo",
        "issue 2 item 8",
        "A mistyped command is answered with the nearest one",
        _UNIT + "test_app.py::test_a_mistyped_command_names_the_nearest_one",
    ),
    Promise(
        "cli.reference",
        "design §4",
        "docs/cli.md is generated from the program",
        _UNIT + "test_cli_reference.py::test_the_cli_reference_is_the_one_the_program_generates",
    ),
    Promise(
        "cli.flags-anywhere",
        "contract §4",
        "-o and --json may stand before or after the command",
        _UNIT + "test_app.py::test_output_flags_may_stand_before_or_after_the_command_and_the_last_one_wins",
    ),
    Promise(
        "cli.windows",
        "issue 2 item 1",
        "Windows is refused with a hint at WSL",
        _UNIT + "test_app.py::test_windows_is_refused_with_a_hint_at_wsl",
    ),
    Promise(
        "cli.broken-pipe",
        "issue 2 item 8",
        "A reader that goes away ends the call quietly",
        _UNIT + "test_app.py::test_a_reader_that_goes_away_ends_the_call_quietly",
    ),
    Promise(
        "cli.completion",
        "issue 2 item 8",
        "Completion scripts for bash, zsh and fish",
        _UNIT + "test_app.py::test_completion_prints_a_script_for_each_shell",
    ),
    Promise(
        "cli.json",
        "contract §4.3",
        "json prints bare lists and objects",
        _UNIT + "test_output.py::test_json_is_the_bare_list_or_the_envelope",
    ),
    Promise(
        "cli.jsonl",
        "contract §4.3",
        "jsonl prints one object a line",
        _UNIT + "test_output.py::test_jsonl_is_one_object_a_line",
    ),
    Promise(
        "cli.toon",
        "contract §4.3",
        "toon names the fields once",
        _UNIT + "test_output.py::test_toon_names_the_fields_once",
    ),
    Promise(
        "cli.resolution-source",
        "contract §4.2",
        "Structured answers say first how the workspace was found",
        _AGENTS + "test_every_way_to_name_the_workspace_says_so",
    ),
    Promise(
        "cli.session-identity",
        "contract §4.2",
        "A call from inside a session uses that session's workspace, and a wrong identity is refused with 65",
        _SESSIONS + "test_an_agents_own_calls_use_its_sessions_workspace",
    ),
    Promise(
        "cli.errors",
        "contract §4.3",
        "Errors go to standard error in the format of the call",
        _UNIT + "test_failures.py::test_programs_get_the_payload_of_the_api",
    ),
    Promise(
        "cli.exit-codes",
        "contract §4.4",
        "Every API status has its exit code",
        _UNIT + "test_failures.py::test_an_api_status_has_its_exit_code",
    ),
    Promise(
        "cli.exit-diagnostic",
        "contract §4.4",
        "A diagnostic's severity wins over the status",
        _UNIT + "test_failures.py::test_a_diagnostic_wins_over_the_status",
    ),
    Promise(
        "cli.run-endings",
        "decisions D30",
        "Every way a turn ends has one reason and one exit code",
        _UNIT + "test_turn_ending.py::test_a_denial_by_policy_is_no_success_but_a_persons_no_is_theirs",
    ),
    Promise(
        "cli.run-fresh",
        "issue 2 item 8",
        "run starts the daemon, picks an agent and answers",
        _RUN + "test_a_task_is_answered_on_a_home_where_nothing_runs_yet",
    ),
    Promise(
        "cli.run-json",
        "issue 2 item 8",
        "run -o json prints one object with the whole story",
        _RUN + "test_json_is_one_object_with_the_whole_story",
    ),
    Promise(
        "cli.run-denied",
        "reports P45",
        "Without a terminal a question is denied, with 77 and a reason",
        _RUN + "test_without_a_terminal_a_question_is_denied_and_the_exit_code_says_so",
    ),
    Promise(
        "cli.remedy",
        "reports P19",
        "The printed remedy of a denial works as printed",
        _RUN + "test_the_remedy_of_a_denial_works_as_printed",
    ),
    Promise(
        "cli.remedies-exist",
        "reports P19",
        "No message proposes a command or an option that does not exist",
        _UNIT + "test_examples.py::test_every_command_that_a_message_suggests_is_understood",
    ),
    Promise(
        "cli.docs",
        "design §4",
        "Every command line of the documents is understood",
        _UNIT + "test_examples.py::test_the_commands_of_a_document_are_understood",
    ),
    Promise(
        "cli.any-frames",
        "design §4",
        "Whatever an agent puts into its updates, a run follows it to the end",
        "tests/property/cli/test_turn_frames.py::test_any_frames_can_be_followed_printed_and_judged",
    ),
    Promise(
        "cli.run-died", "decisions D30", "A dead agent is 70", _RUN + "test_a_dead_agent_is_70_and_says_how_it_died"
    ),
    Promise(
        "cli.run-timeout",
        "decisions D30",
        "A timeout cancels the turn and is 75",
        _RUN + "test_a_timeout_cancels_the_turn_and_is_75",
    ),
    Promise(
        "cli.run-daemon-killed",
        "issue 2, done when",
        "A killed daemon loses nothing that was shown",
        _RUN + "test_a_daemon_that_is_killed_during_the_turn_loses_nothing_that_was_shown",
    ),
    Promise(
        "cli.ask",
        "issue 2 item 8",
        "A question is asked in the terminal and its answer counts",
        _TERMINAL + "test_a_question_is_asked_and_yes_lets_the_agent_go_on",
    ),
    Promise(
        "cli.ask-default",
        "issue 2 item 8",
        "An empty line denies",
        _TERMINAL + "test_an_empty_line_means_no_and_a_persons_no_is_no_failure",
    ),
    Promise(
        "cli.ask-typeahead",
        "issue 2 item 8",
        "Keys pressed before a question never answer it",
        _TERMINAL + "test_keys_pressed_before_the_question_do_not_answer_it",
    ),
    Promise(
        "cli.ask-safe",
        "SECURITY",
        "A question shows what cannot be printed by its escape",
        _UNIT + "test_questions.py::test_what_cannot_be_printed_is_shown_by_its_escape",
    ),
    Promise(
        "cli.ctrl-c",
        "decisions D30",
        "Ctrl-C cancels the turn and exits with 130",
        _TERMINAL + "test_ctrl_c_cancels_the_turn_and_is_130",
    ),
    Promise(
        "cli.ctrl-c-twice",
        "issue 2 item 8",
        "A second Ctrl-C leaves at once and says how to come back",
        _TERMINAL + "test_a_second_ctrl_c_leaves_at_once_and_the_turn_goes_on",
    ),
    Promise(
        "cli.no-color",
        "issue 2 item 8",
        "NO_COLOR is honoured",
        _TERMINAL + "test_no_color_is_honoured",
    ),
    Promise(
        "cli.list-invalid",
        "decisions D9, reports P03",
        "The list hides and counts what does not load, and names it with --all",
        _AGENTS + "test_the_list_shows_what_is_in_force_and_counts_what_does_not_load",
    ),
    Promise(
        "cli.list-unreadable",
        "decisions D8, reports P21",
        "A folder that cannot be read is named and never an empty list",
        _AGENTS + "test_a_folder_that_cannot_be_read_is_no_empty_list",
    ),
    Promise(
        "cli.follow",
        "contract §3.5",
        "Following a session shows each event once",
        _SESSIONS + "test_following_shows_what_was_and_what_comes_each_once",
    ),
    Promise(
        "cli.cancel-nothing",
        "contract §4.4",
        "Cancelling nothing is 66",
        _SESSIONS + "test_cancelling_nothing_is_66",
    ),
    Promise(
        "cli.stop-twice",
        "decisions D23",
        "Stopping a stopped session is fine",
        _SESSIONS + "test_stopping_twice_is_fine",
    ),
    Promise(
        "cli.delete-confirmed",
        "contract §4.4",
        "Deleting needs a yes, or --yes where nobody can be asked",
        _SESSIONS + "test_rename_and_remove",
    ),
    Promise(
        "cli.doctor",
        "contract §3.6",
        "The doctor works with and without a daemon",
        _DAEMON + "test_doctor_works_with_and_without_a_daemon",
    ),
    Promise("cli.bundle", "issue 2 item 3", "A bundle holds no secret", _DAEMON + "test_the_bundle_holds_no_secret"),
    Promise(
        "cli.install",
        "contract §1.5",
        "install never overwrites an agent",
        _DAEMON + "test_install_writes_the_defaults_and_keeps_the_agent_that_is_there",
    ),
    Promise(
        "cli.bad-no-agent", "issue 2, bad input", "No agent found: one sentence, 65", _BAD + "test_no_agent_found"
    ),
    Promise(
        "cli.bad-program",
        "issue 2, bad input",
        "A provider's missing program: one sentence, 71",
        _BAD + "test_the_providers_program_is_missing",
    ),
    Promise(
        "cli.bad-workspace",
        "issue 2, bad input",
        "A missing workspace path: one sentence, 1",
        _BAD + "test_the_workspace_path_is_missing",
    ),
    Promise(
        "cli.bad-agent-file",
        "issue 2, bad input",
        "A malformed AGENT.md stops nothing else",
        _BAD + "test_a_malformed_agent_file_stops_nothing_else",
    ),
    Promise(
        "cli.bad-exit",
        "issue 2, bad input",
        "An agent that exits at once: one sentence, 70",
        _BAD + "test_an_agent_that_exits_at_once",
    ),
    Promise(
        "cli.bad-junk",
        "issue 2, bad input",
        "An agent that prints nothing but junk: one sentence, 70",
        _BAD + "test_an_agent_that_prints_nothing_but_junk",
    ),
    Promise(
        "cli.bad-no-daemon",
        "issue 2, bad input",
        "No daemon: one sentence, 69, and the remedy mends it",
        _BAD + "test_the_daemon_is_not_running",
    ),
    Promise(
        "cli.bad-second", "issue 2, bad input", "A second daemon is refused with 1", _BAD + "test_a_second_daemon"
    ),
    Promise(
        "cli.bad-home",
        "issue 2, bad input",
        "An unreadable home is named in one sentence",
        _BAD + "test_a_home_that_cannot_be_read",
    ),
    Promise(
        "cli.bad-db",
        "decisions D22",
        "A compozy.db of another program is left alone",
        _BAD + "test_a_compozy_db_of_another_program_is_left_alone",
    ),
    Promise(
        "cli.bad-host",
        "decisions D16",
        "A wrong Host header is 403 with the envelope",
        _BAD + "test_a_wrong_host_header_is_403_with_the_envelope",
    ),
    Promise(
        "cli.later-groups",
        "contract §4.1",
        "provider, tool, toolsets, hooks, skill, whoami, spawn, me",
        deferred="later issues bring the routes these commands call",
    ),
    Promise(
        "cli.require-context",
        "decisions D30",
        "run --require-context ends with 74 when the agent lost its context",
        deferred="a later issue: a run starts a fresh session, so there is no context to lose yet",
    ),
)
