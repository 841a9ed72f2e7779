"""What a session promises about its life and its prompts: busy modes, attachments, rewind, spawn, negotiation."""

from tests.promises import Promise

_TEXT = "tests/unit/runtime/test_prompt_text.py::"
_STARTUP = "tests/interaction/sessions/test_startup.py::"
_FILES = "tests/interaction/sessions/test_attachments.py::"
_SPAWN = "tests/interaction/sessions/test_spawn.py::"
_REWIND = "tests/interaction/sessions/test_rewind.py::"
_AGREE = "tests/interaction/sessions/test_negotiation.py::"
_LIFE = "tests/interaction/sessions/test_life.py::"
_BUSY = "tests/interaction/sessions/test_busy_modes.py::"

_ROWS: tuple[tuple[str, str, str, str], ...] = (
    # ---- busy modes ----
    (
        "steer",
        "contract §3.5",
        "A message that steers takes over when the running tool has its result.",
        _BUSY + "test_a_message_that_steers_takes_over_when_the_running_tool_has_its_result",
    ),
    (
        "steer-end",
        "contract §3.5",
        "A message that steers a turn without tools goes first after it.",
        _BUSY + "test_a_message_that_steers_a_turn_without_tools_goes_first_after_it",
    ),
    (
        "fence",
        "contract §3.5, §3.1",
        "A stale turn fence is refused and leaves nothing.",
        _BUSY + "test_a_stale_fence_is_refused_and_leaves_nothing",
    ),
    (
        "steer-replay",
        "contract §3.5, P67",
        "A retry of a message that steers is answered as it stands.",
        _BUSY + "test_a_retry_of_a_message_that_steers_is_answered_as_it_stands",
    ),
    (
        "edit",
        "contract §3.5",
        "A waiting prompt gets another text and keeps its place.",
        _BUSY + "test_a_waiting_prompt_gets_another_text_and_keeps_its_place",
    ),
    (
        "edit-identity",
        "contract §3.5, P67",
        "An edit may not take the identity of another prompt.",
        _BUSY + "test_an_edit_may_not_take_the_identity_of_another_prompt",
    ),
    (
        "promote",
        "contract §3.5",
        "A waiting prompt can be promoted to steer.",
        _BUSY + "test_a_waiting_prompt_can_be_promoted_to_steer",
    ),
    (
        "queue-gone",
        "contract §3.1",
        "What no longer waits is 404 to edit, promote and withdraw.",
        _BUSY + "test_what_no_longer_waits_cannot_be_changed",
    ),
    (
        "queued-replay",
        "contract §3.5, P67",
        "A retry of a waiting or withdrawn prompt says so and runs nothing.",
        _BUSY + "test_a_retry_of_a_withdrawn_prompt_says_so_and_runs_nothing",
    ),
    (
        "queue-full",
        "contract §3.1",
        "A full queue is 413 and what was refused is not remembered as accepted.",
        _BUSY + "test_a_full_queue_is_413_and_takes_more_once_there_is_room",
    ),
    (
        "queue-dropped",
        "contract §3.5",
        "Prompts that a stop drops leave an event each.",
        _BUSY + "test_prompts_that_a_stop_drops_leave_an_event_each",
    ),
    (
        "stopped-modes",
        "contract §3.5, §5.1",
        "A stopped session takes normal prompts only.",
        _BUSY + "test_a_stopped_session_takes_normal_prompts_only",
    ),
    (
        "cancel-start",
        "contract §3.5",
        "A prompt can be cancelled while its agent starts.",
        _BUSY + "test_a_prompt_can_be_cancelled_while_its_agent_starts",
    ),
    # ---- what the agent is told ----
    (
        "frozen",
        "contract §5.7, §13.13",
        "The guidance is frozen when the session is created.",
        _STARTUP + "test_the_guidance_is_frozen_when_the_session_is_created",
    ),
    (
        "one-envelope",
        "contract §5.7",
        "No spelling of an envelope survives in any block.",
        _TEXT + "test_no_spelling_of_an_envelope_survives_in_any_block",
    ),
    (
        "block-order",
        "contract §5.7",
        "Blocks come in their order joined by a blank line.",
        _TEXT + "test_blocks_come_in_their_order_joined_by_a_blank_line",
    ),
    (
        "budgets",
        "contract §5.7",
        "A block is cut at its budget in characters and says so.",
        _TEXT + "test_a_block_is_cut_at_its_budget_in_characters_and_says_so",
    ),
    (
        "tools-rule",
        "issue 6 item 1",
        "A session with tools is told to resolve, inspect, load and call before it uses the shell.",
        _TEXT + "test_a_session_with_tools_is_told_to_resolve_inspect_load_and_call_before_the_shell",
    ),
    (
        "knowledge",
        "contract §5.7",
        "The knowledge of a workspace is told, and again only when it changed.",
        _STARTUP + "test_the_knowledge_of_a_workspace_is_told_and_again_only_when_it_changed",
    ),
    (
        "knowledge-fails",
        "contract §5.7",
        "Knowledge that cannot be read fails the turn before anything is sent.",
        _STARTUP + "test_knowledge_that_cannot_be_read_fails_the_turn_before_anything_is_sent",
    ),
    (
        "pins",
        "issue 6 item 1, P34",
        "A session keeps its digests and says what became of its definition.",
        _STARTUP + "test_a_session_keeps_its_digests_and_says_what_became_of_its_definition",
    ),
    # ---- files with a prompt ----
    (
        "files-kept",
        "contract §3.5",
        "A file is kept as it came and can be read and deleted.",
        _FILES + "test_a_file_is_kept_as_it_came_and_can_be_read_and_deleted",
    ),
    (
        "files-refused",
        "contract §3.1, §2.2",
        "Too large is 413, a type that is not allowed 415, each with its reason.",
        _FILES + "test_what_cannot_be_kept_is_refused_with_its_reason",
    ),
    (
        "files-sent",
        "contract §5.4 step 8",
        "Files reach the agent in the form it takes and stay in events and transcript.",
        _FILES + "test_files_reach_the_agent_in_the_form_it_takes_and_stay_in_events_and_transcript",
    ),
    (
        "files-unsupported",
        "contract §5.4 step 8",
        "What the agent cannot take is 422; text becomes plain text where it embeds nothing.",
        _FILES + "test_what_the_agent_cannot_take_is_refused_and_text_becomes_plain_text",
    ),
    (
        "files-again",
        "issue 6 item 3",
        "A new agent session is told of earlier files and given them again.",
        _FILES + "test_a_new_agent_session_is_told_of_earlier_files_and_given_them_again",
    ),
    (
        "files-media",
        "contract §2.2",
        "What a file is comes from its bytes.",
        "tests/unit/runtime/test_media.py::test_an_image_is_known_by_its_bytes_with_its_size_whatever_it_is_called",
    ),
    (
        "files-cli",
        "contract §4.1",
        "Files go with a prompt from the command line.",
        "tests/interaction/cli/test_session_inputs.py::test_files_go_with_a_prompt",
    ),
    (
        "inputs-cli",
        "contract §4.1",
        "Prompts that wait are listed, edited, promoted and withdrawn from the command line.",
        "tests/interaction/cli/test_session_inputs.py"
        "::test_prompts_that_wait_are_listed_edited_promoted_and_withdrawn",
    ),
    (
        "archive-cli",
        "contract §3.5, §4.1",
        "A stopped session is put away and taken back.",
        "tests/interaction/cli/test_session_inputs.py::test_a_stopped_session_is_put_away_and_taken_back",
    ),
    # ---- children ----
    (
        "child",
        "contract §9, §3.7",
        "A child knows its parent and its limits and works.",
        _SPAWN + "test_a_child_knows_its_parent_and_its_limits_and_works",
    ),
    (
        "child-mode",
        "P46",
        "The mode of a child is the stricter of parent and own, for all nine pairs, and stays so.",
        _SPAWN + "test_the_mode_of_a_child_is_the_stricter_of_parent_and_own_and_stays_so",
    ),
    (
        "child-atoms",
        "contract §9",
        "No atom of a child is wider than its parent.",
        _SPAWN + "test_no_atom_of_a_child_is_wider_than_its_parent",
    ),
    (
        "child-roots",
        "contract §9",
        "A child stays below the paths it was given.",
        _SPAWN + "test_a_child_stays_below_the_paths_it_was_given",
    ),
    (
        "child-count",
        "contract §9",
        "Children are counted and have none of their own.",
        _SPAWN + "test_children_are_counted_and_have_none_of_their_own",
    ),
    (
        "child-key",
        "contract §9",
        "The same key answers the first child.",
        _SPAWN + "test_the_same_key_answers_the_first_child",
    ),
    (
        "child-ends",
        "contract §9",
        "Children end with their parent unless told otherwise.",
        _SPAWN + "test_children_end_with_their_parent_unless_told_otherwise",
    ),
    (
        "child-ttl",
        "contract §9",
        "A child's time is limited.",
        _SPAWN + "test_a_childs_time_is_limited",
    ),
    (
        "child-identity",
        "contract §1.3",
        "Only a session that runs may ask, and only by its own name.",
        _SPAWN + "test_only_a_session_that_runs_may_ask_and_only_by_its_own_name",
    ),
    (
        "child-person",
        "contract §3.5",
        "A person may start a child too, within the same limits.",
        _SPAWN + "test_a_person_may_start_a_child_too_within_the_same_limits",
    ),
    (
        "child-tools",
        "contract §9, §6.3",
        "Whatever tool a child is given its parent can call.",
        "tests/unit/runtime/test_spawn_limits.py::test_whatever_a_child_is_given_its_parent_can_call",
    ),
    # ---- going back ----
    (
        "rewind",
        "contract §3.5",
        "A rewind archives what follows and gives the prompt back.",
        _REWIND + "test_a_rewind_archives_what_follows_and_gives_the_prompt_back",
    ),
    (
        "rewind-told",
        "contract §3.5, P56",
        "After a rewind a new agent session is told the kept part and nothing is called lost.",
        _REWIND + "test_after_a_rewind_a_new_agent_session_is_told_the_kept_part_and_nothing_is_called_lost",
    ),
    (
        "rewind-replay",
        "contract §3.5",
        "A retry of a rewind takes nothing back twice.",
        _REWIND + "test_a_retry_of_a_rewind_is_answered_and_takes_nothing_back_twice",
    ),
    (
        "rewind-fence",
        "contract §3.1",
        "A stale rewind fence, an unknown message and a busy session are refused.",
        _REWIND + "test_a_stale_fence_an_unknown_message_and_a_busy_session_are_refused",
    ),
    (
        "rewind-stopped",
        "contract §3.5",
        "A stopped session can be rewound and goes on from there after a restart.",
        _REWIND + "test_a_stopped_session_can_be_rewound_and_goes_on_from_there_after_a_restart",
    ),
    (
        "clear",
        "contract §3.5",
        "A cleared conversation begins anew with another epoch.",
        _REWIND + "test_a_cleared_conversation_begins_anew_with_another_epoch",
    ),
    (
        "rewind-stream",
        "contract §3.5 Streams",
        "Who watches is shown the conversation anew.",
        _REWIND + "test_who_watches_is_shown_the_conversation_anew",
    ),
    (
        "rewind-files",
        "contract §3.5",
        "Files taken back are not given again.",
        _REWIND + "test_files_of_the_kept_part_stay_and_those_taken_back_are_not_given_again",
    ),
    # ---- negotiation ----
    (
        "order",
        "contract §5.4",
        "Mode, model, effort and speed are agreed in this order before the prompt; options are replaced.",
        _AGREE + "test_mode_model_effort_and_speed_are_agreed_in_this_order_before_the_prompt",
    ),
    (
        "evidence",
        "contract §3.1",
        "A refusal names what was asked and what is on offer.",
        _AGREE + "test_a_refusal_names_what_was_asked_and_what_is_on_offer",
    ),
    (
        "effort-early",
        "contract §5.4 step 6",
        "An effort that no agent of the provider takes is refused before a process starts.",
        _AGREE + "test_an_effort_that_no_agent_of_the_provider_takes_is_refused_before_a_process_starts",
    ),
    (
        "speed-unsupported",
        "contract §5.4 step 7",
        "A speed the agent does not know is recorded and the turn goes on.",
        _AGREE + "test_a_speed_the_agent_does_not_know_is_recorded_and_the_turn_goes_on",
    ),
    (
        "speed-rejected",
        "contract §5.4 step 7",
        "A speed the agent refuses is an error.",
        _AGREE + "test_a_speed_the_agent_refuses_is_an_error",
    ),
    (
        "legacy-models",
        "acp.md group 13",
        "Agents with a list of models only are asked their way.",
        _AGREE + "test_agents_with_a_list_of_models_only_are_asked_their_way",
    ),
    (
        "half-way",
        "contract §5.2",
        "A live change that fails half way leaves the agent as it was.",
        _AGREE + "test_a_live_change_that_fails_half_way_leaves_the_agent_as_it_was",
    ),
    (
        "old-agent",
        "contract §5.2",
        "A provider that cannot be started leaves the old agent at work.",
        _AGREE + "test_a_provider_that_cannot_be_started_leaves_the_old_agent_at_work",
    ),
    (
        "out-of-memory",
        "P52",
        "What a session runs with survives its leaving memory.",
        _AGREE + "test_what_a_session_runs_with_survives_its_leaving_memory",
    ),
    # ---- whole sessions ----
    (
        "rename",
        "contract §3.5",
        "A session is renamed whatever it does and keeps its name.",
        _LIFE + "test_a_session_is_renamed_whatever_it_does_and_keeps_its_name",
    ),
    (
        "archive",
        "contract §3.5",
        "Only a stopped session is put away, and it takes nothing until it is back.",
        _LIFE + "test_only_a_stopped_session_is_put_away_and_it_takes_nothing_until_it_is_back",
    ),
    (
        "remove",
        "contract §3.5",
        "Removing a session in a turn ends its agent and everything of it.",
        _LIFE + "test_removing_a_session_in_a_turn_ends_its_agent_and_everything_of_it",
    ),
    (
        "wrong-workspace",
        "contract §3.5",
        "A session is found in its own workspace only.",
        _LIFE + "test_a_session_is_found_in_its_own_workspace_only",
    ),
    (
        "prompt-forms",
        "contract §3.5",
        "The two forms of a prompt must agree, and identity is required.",
        _LIFE + "test_the_two_forms_of_a_prompt_must_agree",
    ),
    (
        "one-commit",
        "contract §5.8",
        "A prompt's identity is stored with its message or not at all.",
        "tests/contract/test_store.py::test_a_prompts_identity_given_with_events_is_stored_with_them_or_not_at_all",
    ),
)

PROMISES: tuple[Promise, ...] = tuple(
    Promise(f"lifecycle.{name}", source, text, test=test) for name, source, text, test in _ROWS
)
