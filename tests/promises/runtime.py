"""What sessions, workspaces, agents and permissions promise."""

from tests.promises import Promise

_PROMPTS = "tests/interaction/sessions/test_prompts.py::"
_PERMISSIONS = "tests/interaction/sessions/test_permissions.py::"
_BAD = "tests/interaction/sessions/test_bad_agents.py::"
_RESTART = "tests/interaction/sessions/test_restart.py::"
_LADDER = "tests/interaction/sessions/test_ladder.py::"
_RECOVERY = "tests/interaction/sessions/test_recovery.py::"
_LISTS = "tests/interaction/sessions/test_lists.py::"
_UNIT = "tests/unit/runtime/"


def _row(name: str, source: str, text: str, test: str) -> Promise:
    return Promise(id=f"runtime-{name}", source=source, text=text, test=test)


def _later(name: str, source: str, text: str, why: str) -> Promise:
    return Promise(id=f"runtime-{name}", source=source, text=text, deferred=why)


PROMISES: tuple[Promise, ...] = (
    _row(
        "create-unbound",
        "contract §3.5",
        "creating a session starts no process",
        _PROMPTS + "test_a_new_session_is_active_and_unbound_and_starts_no_process",
    ),
    _row(
        "store-before-show",
        "contract §5.8",
        "a stream shows exactly what the store holds",
        _PROMPTS + "test_what_a_stream_shows_is_what_the_store_holds",
    ),
    _row(
        "prompt-frames",
        "contract §3.5 Prompt",
        "a prompt streams AI-SDK frames and ends with [DONE]",
        _PROMPTS + "test_a_prompt_streams_frames_and_ends_with_done",
    ),
    _row(
        "startup-prompt",
        "contract §5.7",
        "the first prompt of an agent session carries the frozen guidance",
        _PROMPTS + "test_the_first_prompt_carries_the_guidance_and_the_second_does_not",
    ),
    _row(
        "prompt-replay",
        "contract §3.5, P67",
        "a retry runs nothing twice",
        _PROMPTS + "test_a_retry_with_the_same_identity_runs_nothing_twice",
    ),
    _row(
        "prompt-conflict",
        "contract §3.5, P67",
        "the same key with other text is 409",
        _PROMPTS + "test_the_same_key_with_other_text_is_a_conflict",
    ),
    _row(
        "client-gone",
        "contract §3.5",
        "a prompt goes on without its client",
        _PROMPTS + "test_a_prompt_goes_on_when_its_client_goes_away",
    ),
    _row(
        "cancel-recorded",
        "P54",
        "a cancelled turn is recorded as cancelled, late updates belong to it",
        _PROMPTS + "test_a_cancelled_turn_is_recorded_as_cancelled_with_what_the_agent_said",
    ),
    _row(
        "cancel-grace",
        "contract §2.2 timeout_cancel_grace",
        "an agent that ignores a cancel loses its process, not its session",
        _PROMPTS + "test_an_agent_that_ignores_a_cancel_loses_its_process_and_the_session_goes_on",
    ),
    _row(
        "dangling-tools",
        "contract §5.9",
        "tool calls without a result are closed at the turn's end",
        _PROMPTS + "test_dangling_tool_calls_are_closed_when_the_turn_ends",
    ),
    _row(
        "stop-idempotent",
        "D23",
        "stopping twice is fine and leaves no process",
        _PROMPTS + "test_stopping_ends_the_process_and_stopping_again_is_fine",
    ),
    _row(
        "context-lost",
        "P56",
        "a fresh agent session never pretends to be the old one",
        _PROMPTS + "test_a_prompt_restarts_a_stopped_session_and_says_that_the_agent_forgot",
    ),
    _row(
        "load-refused",
        "P55, P56",
        "an agent that cannot load its session continues in a new one, and that is said",
        _PROMPTS + "test_an_agent_that_cannot_load_its_session_continues_in_a_new_one_and_that_is_said",
    ),
    _row(
        "root-gone",
        "contract §3.1",
        "a workspace that vanished is 410 and history stays readable",
        _BAD + "test_a_workspace_that_vanished_is_named_and_its_history_stays_readable",
    ),
    _row(
        "store-fails",
        "house rules",
        "a store that fails in a turn leaves nobody waiting",
        "tests/failure/test_session_store.py"
        "::test_followers_of_a_turn_that_cannot_be_stored_are_let_go_and_the_session_works_again",
    ),
    _row(
        "no-replayed-history",
        "P57",
        "what an agent replays is not stored again",
        _PROMPTS + "test_a_restarted_agent_that_can_load_gets_its_session_back_without_repeating_history",
    ),
    _row(
        "queue",
        "contract §3.5 Prompt",
        "a second prompt waits for the first",
        _PROMPTS + "test_two_prompts_at_once_run_one_after_the_other",
    ),
    _row(
        "queue-durable",
        "P53",
        "waiting prompts survive the daemon and keep their order",
        _RESTART + "test_prompts_that_waited_run_after_a_restart_in_their_order",
    ),
    _row(
        "same-order",
        "issue 2",
        "two subscribers see every event in the same order",
        _PROMPTS + "test_two_subscribers_see_every_event_in_the_same_order",
    ),
    _row(
        "slow-subscriber",
        "issue 2",
        "a subscriber that stops reading holds nobody up",
        _PROMPTS + "test_a_subscriber_that_stops_reading_holds_nobody_up",
    ),
    _row(
        "raw-resume",
        "contract §3.5 Streams",
        "a raw stream resumes after an event id",
        _PROMPTS + "test_a_raw_stream_resumes_after_an_event_id",
    ),
    _row(
        "transcript-stream",
        "contract §3.5 Streams",
        "snapshot, deltas, session_stopped",
        _PROMPTS + "test_a_transcript_stream_snapshots_then_follows_and_ends_with_the_session",
    ),
    _row(
        "modes",
        "contract §5.5",
        "the three modes answer as the table says",
        _UNIT + "test_policy.py::test_the_modes_answer_as_the_contract_says",
    ),
    _row(
        "asked-and-allowed",
        "contract §5.5",
        "a person's answer allows exactly that write",
        _PERMISSIONS + "test_approve_reads_asks_a_person_and_the_answer_allows_exactly_that_write",
    ),
    _row(
        "containment",
        "contract §5.5",
        "nothing outside the roots is read or allowed, through any link",
        _PERMISSIONS + "test_nothing_outside_the_roots_is_read_or_allowed",
    ),
    _row(
        "cancelled-question",
        "P44",
        "cancel answers what is pending; a late answer is 409",
        _PERMISSIONS + "test_cancel_answers_what_is_pending_and_a_late_answer_is_refused",
    ),
    _row(
        "missing-program",
        "issue 2, bad input",
        "a missing program is named and the session stays",
        _BAD + "test_a_missing_program_is_named_and_the_session_stays",
    ),
    _row(
        "exits-at-once",
        "issue 2, bad input",
        "an agent that exits at once is reported with its code and last words",
        _BAD + "test_an_agent_that_exits_at_once_is_reported_with_code_and_last_words",
    ),
    _row(
        "junk",
        "P51",
        "junk on stdout is kept as a note and the protocol goes on",
        _BAD + "test_an_agent_that_prints_junk_still_works_and_the_junk_is_kept",
    ),
    _row(
        "model-exact",
        "D17",
        "a chosen model that is not offered is refused with the choices",
        _BAD + "test_a_model_the_agent_does_not_offer_is_refused",
    ),
    _row(
        "dies-in-turn",
        "contract §5.9",
        "an agent that dies in a turn ends the session with its failure",
        _BAD + "test_an_agent_that_dies_in_a_turn_ends_the_session_with_its_failure",
    ),
    _row(
        "dies-idle",
        "contract §5.9, D20",
        "an agent that dies idle leaves read-only history",
        _BAD + "test_an_agent_that_dies_while_idle_leaves_read_only_history",
    ),
    _row(
        "redaction",
        "contract §5.8, P39",
        "secrets in updates never reach the store",
        _BAD + "test_secrets_in_updates_are_redacted_before_they_are_stored",
    ),
    _row(
        "unknown-updates",
        "acp.md fault 10",
        "unknown updates are kept whole",
        _BAD + "test_unknown_updates_are_kept_whole",
    ),
    _row(
        "trust",
        "D15",
        "a workspace agent that brings a command needs trust",
        _BAD + "test_a_workspace_agent_with_a_command_needs_trust",
    ),
    _row(
        "trust-cap",
        "D15",
        "a workspace agent never widens the home's mode",
        _UNIT + "test_resolution.py::test_a_workspace_never_exceeds_the_home",
    ),
    _row(
        "required-tools",
        "D18",
        "a required tool surface that cannot be given fails at creation",
        _BAD + "test_an_agent_that_asks_for_tools_that_do_not_exist_is_refused_at_creation",
    ),
    _row(
        "sigkill",
        "issue 2, done when; P48",
        "a killed daemon loses nothing it has shown and leaves no agent",
        _RESTART + "test_a_killed_daemon_loses_nothing_it_has_shown_and_leaves_no_agent",
    ),
    _row(
        "interrupted",
        "D20, P58",
        "a turn the daemon left is interrupted and its session resumable",
        _RESTART + "test_a_turn_that_the_daemon_left_is_interrupted_and_its_session_resumable",
    ),
    _row(
        "orphaned-question",
        "contract §5.9",
        "an open question is orphaned and can still be answered",
        _RESTART + "test_a_question_that_was_open_is_orphaned_and_can_still_be_answered",
    ),
    _row(
        "shutdown",
        "contract §1.4",
        "an orderly stop ends every session with reason shutdown",
        _RESTART + "test_an_orderly_stop_ends_sessions_with_reason_shutdown",
    ),
    _row(
        "agent-rows",
        "contract §3.3, D2, D8, D9",
        "agents come with capabilities, runtime, diagnostics and sources",
        _LISTS + "test_agents_come_with_capabilities_runtime_and_the_places_looked_at",
    ),
    _row(
        "select",
        "issue 2, item 8",
        "a task finds its agent, or the default with a reason",
        _LISTS + "test_a_task_finds_its_agent",
    ),
    _row(
        "digest-kept",
        "P34",
        "a session keeps the digest of its definition",
        _LISTS + "test_a_session_keeps_its_definition_digest_when_the_file_changes",
    ),
    _row(
        "workspace-owner",
        "contract §3.4",
        "the nearest enclosing root owns a path",
        _UNIT + "test_workspaces.py::test_the_nearest_enclosing_root_owns_a_path",
    ),
    _row(
        "session-pages",
        "contract §3.2",
        "sessions are listed by page without repeats",
        _LISTS + "test_sessions_are_listed_by_page_and_filter",
    ),
    _row(
        "interrupt",
        "contract §3.5 Prompt",
        "a prompt may interrupt the running turn it names",
        _PROMPTS + "test_a_waiting_prompt_can_be_withdrawn_and_one_may_interrupt",
    ),
    _row(
        "choose-model",
        "contract §5.2 step 3",
        "a prompt may choose the model; what cannot be met changes nothing",
        _PROMPTS + "test_a_choice_that_cannot_be_met_changes_nothing",
    ),
    _row(
        "choose-provider",
        "contract §5.2 step 3",
        "another provider is another process that is told the transcript",
        _PROMPTS + "test_another_provider_is_another_process_that_is_told_the_transcript",
    ),
    _row(
        "mcp-servers",
        "D19, P38",
        "session/new and session/load carry the servers of the definition",
        _PROMPTS + "test_an_agent_gets_the_servers_of_its_definition_where_no_tools_are_hosted",
    ),
    _row(
        "mcp-secret",
        "D19, P36",
        "a missing secret of a server stops the start",
        _PROMPTS + "test_a_servers_missing_secret_stops_the_start_and_is_named",
    ),
    _row(
        "hang-at-start",
        "issue 2, bad input",
        "an agent that hangs while it starts is ended by a stop",
        _BAD + "test_an_agent_that_hangs_while_it_starts_is_ended_by_a_stop",
    ),
    _row(
        "silence",
        "contract §2.2 supervision, acp.md fault 2",
        "an agent that falls silent is warned of, cancelled, and its session stops with reason timeout",
        "tests/interaction/sessions/test_supervision.py"
        "::test_a_silent_agent_is_cancelled_and_its_session_stops_with_reason_timeout",
    ),
    _row(
        "stalled",
        "contract §3.5 Badge, acp.md fault 2",
        "a stalled agent is reported as hung until it shows a sign of life",
        "tests/interaction/sessions/test_supervision.py"
        "::test_a_stalled_agent_is_reported_as_hung_until_it_shows_a_sign_of_life",
    ),
    _row(
        "deadline",
        "contract §2.2 prompt_deadline",
        "a turn past its deadline is cancelled and the session goes on",
        "tests/interaction/sessions/test_supervision.py"
        "::test_a_turn_past_its_deadline_is_cancelled_and_the_session_goes_on",
    ),
    _row(
        "catalog-stream",
        "contract §3.5 Streams",
        "the list of sessions can be watched",
        "tests/interaction/sessions/test_streams.py::test_the_list_of_sessions_can_be_watched",
    ),
    _row(
        "reused-tool-ids",
        "acp.md fault 4",
        "an id used again in a later turn is another call",
        _UNIT + "test_mapping.py::test_an_id_used_again_in_a_later_turn_is_another_call",
    ),
    _row(
        "childs-question",
        "P43",
        "a child's question is listed with the ids of child and parent and answered from anywhere",
        "tests/interaction/sessions/test_child_questions.py"
        "::test_a_childs_question_is_listed_with_both_ids_and_answered_from_anywhere",
    ),
    _row(
        "store-under-load",
        "P62",
        "eight streams, lists and a backup lose no event and meet no lock",
        "tests/failure/test_store_under_load.py"
        "::test_eight_streams_lists_and_a_backup_lose_no_event_and_meet_no_lock",
    ),
    _row(
        "crash-bundle",
        "contract §1.1, §5.1, P39",
        "an agent that dies leaves a private, redacted, bounded bundle",
        "tests/interaction/sessions/test_crash_bundles.py"
        "::test_a_death_in_a_turn_leaves_exit_code_last_words_and_last_events",
    ),
    _row(
        "ladder",
        "P55, P56",
        "an agent's session is resumed, else loaded, else replaced by a new one that says so",
        _LADDER + "test_a_new_session_says_in_the_transcript_which_rungs_did_not_hold",
    ),
    _row(
        "require-context",
        "P56, D30",
        "--require-context fails with 74 and says nothing to an agent that does not remember",
        _LADDER + "test_require_context_refuses_and_says_nothing_to_the_agent",
    ),
    _row(
        "require-context-exit",
        "D30",
        "the exit code is 74 when the context is lost under --require-context",
        _LADDER + "test_the_exit_code_is_74_when_the_context_is_lost",
    ),
    _row(
        "history-without-program",
        "P55",
        "history stays readable and the failure is typed when the agent's program is gone",
        _LADDER + "test_history_stays_readable_and_the_failure_is_typed_when_the_program_is_gone",
    ),
    _row(
        "recovery",
        "contract §5.9",
        "an agent that dies in a turn is started again and the same turn goes on",
        _RECOVERY + "test_a_turn_goes_on_in_a_new_process_that_loads_its_session",
    ),
    _row(
        "recovery-told",
        "contract §5.9, P56",
        "a restarted agent that cannot load is told what was said and done; open tool calls are closed",
        _RECOVERY + "test_an_agent_that_cannot_load_is_told_what_was_said_and_done",
    ),
    _row(
        "recovery-exhausted",
        "contract §5.9",
        "after the last attempt the turn fails and the session stops, resumable",
        _RECOVERY + "test_after_the_last_attempt_the_turn_fails_and_the_session_stops_resumable",
    ),
    _row(
        "recovery-cancel",
        "contract §5.9",
        "a cancel ends a turn that waits for its agent at once",
        _RECOVERY + "test_while_it_waits_the_session_says_so_and_a_cancel_ends_the_turn_at_once",
    ),
    _row(
        "recovery-daemon-killed",
        "D20",
        "a daemon killed during the wait leaves an interrupted turn",
        _RECOVERY + "test_a_daemon_killed_during_the_wait_leaves_an_interrupted_turn",
    ),
    _later("fork", "contract §3.5", "forking a session into a working tree", "issue 9: working trees"),
    _later("hosted-mcp", "contract §5.6", "tools of the daemon for the agent", "issue 7: hosted tools"),
    Promise(
        "sessions-delete-final",
        "contract 3.5",
        "a prompt that meets a delete neither brings the session back nor leaves an agent",
        "tests/interaction/sessions/test_races.py::"
        "test_a_prompt_that_meets_a_delete_neither_brings_the_session_back_nor_leaves_an_agent",
    ),
    Promise(
        "containment-races",
        "contract 5.5",
        "a folder exchanged for a link while an agent reads or writes leads nowhere outside",
        "tests/failure/test_hostile_workspaces.py::test_a_folder_exchanged_for_a_link_never_leads_a_read_outside",
    ),
)
