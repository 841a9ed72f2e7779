"""What durability, backups, retention, streams and memory promise (issue 6, items 5 and 9)."""

from tests.promises import Promise

_DURABLE = "tests/interaction/sessions/test_durable.py::"
_BACKUP = "tests/interaction/cli/test_backup.py::"
_BACKUPS = "tests/unit/runtime/test_backups.py::"
_SEGMENTS = "tests/unit/runtime/test_segments.py::"
_RETENTION = "tests/interaction/sessions/test_retention.py::"
_STREAMS = "tests/failure/test_stream_subscribers.py::"
_FULL = "tests/failure/test_disk_full.py::"
_BUSY = "tests/failure/test_busy_store.py::"
_SPLIT = "tests/unit/config/test_redaction_stream.py::"

PROMISES: tuple[Promise, ...] = (
    Promise(
        "durable.split_secret",
        "contract §5.8, issue 6 durability",
        "A secret that an agent sends in several updates is masked for every reader and on the disk.",
        test=_DURABLE + "test_a_secret_split_over_updates_is_masked_for_every_reader_and_on_the_disk",
    ),
    Promise(
        "durable.restore_alone",
        "issue 6 durability",
        "Two restores of one home never meet: the second is refused while the first works or waits for an answer.",
        test=_BACKUP + "test_two_restores_of_one_home_never_meet",
    ),
    Promise(
        "durable.backup_outside",
        "issue 6 durability",
        "No file of the home is ever the target of a backup, by whatever way it is named.",
        test=_BACKUPS + "test_no_file_of_the_home_is_ever_the_target_of_a_backup",
    ),
    Promise(
        "durable.start_without_room",
        "issue 6 bad input",
        "A daemon that finds no room for its home ends in a sentence with a next step.",
        test=_FULL + "test_a_start_without_room_ends_in_a_sentence_with_a_next_step",
    ),
    Promise(
        "durable.pipes",
        "issues 4 and 5 bad input",
        "A pipe in place of a workspace's file makes no request and no start wait for a writer.",
        test="tests/failure/test_pipes_in_workspaces.py::"
        "test_a_pipe_in_place_of_a_file_of_a_workspace_makes_nobody_wait",
    ),
    Promise(
        "durable.split_text",
        "contract §5.8",
        "Text cut anywhere shows no secret and loses nothing else.",
        test=_SPLIT + "test_a_text_cut_anywhere_shows_no_secret_and_loses_nothing_else",
    ),
    Promise(
        "durable.split_bounded",
        "issue 6 memory",
        "A secret without end is masked to its end, and holding text back takes bounded memory.",
        test=_SPLIT + "test_a_secret_without_end_is_masked_to_its_end_in_bounded_memory",
    ),
    Promise(
        "durable.without_provider",
        "issue 6 durability",
        "Transcript and events stay readable with the agent and its provider uninstalled.",
        test=_DURABLE + "test_a_session_is_readable_when_its_agent_and_its_provider_are_gone",
    ),
    Promise(
        "durable.backup",
        "issue 6 durability",
        "A backup taken while running brings back sessions, settings and agents.",
        test=_BACKUP + "test_a_backup_taken_while_running_brings_back_sessions_settings_and_agents",
    ),
    Promise(
        "durable.backup_damaged_store",
        "issue 6 durability",
        "A store that keeps the daemon from starting is replaced by a backup.",
        test=_BACKUP + "test_a_damaged_store_is_replaced_by_a_backup",
    ),
    Promise(
        "durable.restore_asks",
        "issue 6 durability",
        "A restore says what it replaces and asks; no changes nothing.",
        test=_BACKUP + "test_a_restore_asks_on_a_terminal_and_no_changes_nothing",
    ),
    Promise(
        "durable.restore_atomic",
        "issue 6 durability",
        "A restore that was interrupted anywhere is finished by the next start: the old state or the new one.",
        test=_BACKUPS + "test_a_swap_that_was_interrupted_anywhere_is_finished_by_the_next_start",
    ),
    Promise(
        "durable.restore_refuses",
        "decisions D22, issue 6 durability",
        "A backup that is not whole, foreign or newer is refused and nothing changes.",
        test=_BACKUPS + "test_a_backup_of_a_newer_or_a_foreign_store_is_refused",
    ),
    Promise(
        "durable.folded_transcript",
        "issue 6 speed",
        "A transcript is the same page by page whether its turns were folded before or are folded now.",
        test=_SEGMENTS + "test_every_page_is_the_same_with_and_without_folded_turns",
    ),
    Promise(
        "durable.folded_rewind",
        "issue 6 speed",
        "What is archived vanishes from the folded transcript at once.",
        test=_SEGMENTS + "test_archiving_an_event_takes_its_segment_away_and_one_folded_before_is_not_kept",
    ),
    Promise(
        "durable.fixtures",
        "issue 6 durability",
        "Every layout of the store has a frozen file that today's code opens.",
        test="tests/failure/test_store_upgrade.py::test_every_layout_has_a_frozen_file",
    ),
    Promise(
        "durable.retention",
        "contract §2.2, issue 6 durability",
        "Stopped sessions beyond age, number or size go, the longest idle first.",
        test=_RETENTION + "test_age_size_and_number_decide",
    ),
    Promise(
        "durable.retention_shrinks",
        "P63, issue 6 durability",
        "What retention removes goes with its files, and the store's file shrinks.",
        test=_RETENTION + "test_what_is_too_many_goes_with_its_files_and_the_store_shrinks",
    ),
    Promise(
        "durable.retention_unasked",
        "issue 6 durability",
        "Without limits no session of a person is removed.",
        test=_RETENTION + "test_without_limits_only_the_daemons_own_old_sessions_go",
    ),
    Promise(
        "durable.retention_home",
        "decisions D15",
        "A workspace has no say in retention.",
        test=_RETENTION + "test_the_settings_of_the_home_count_and_those_of_a_workspace_do_not",
    ),
    Promise(
        "streams.many",
        "issue 6 streams, P63",
        "Two hundred subscribers, half of them vanishing, see every event in order and leave no descriptor behind.",
        test=_STREAMS + "test_two_hundred_subscribers_see_everything_and_leave_nothing_behind",
    ),
    Promise(
        "streams.stopped",
        "issue 6 streams, acp.md fault 9",
        "A subscriber that stands still slows nobody, costs bounded memory and misses nothing.",
        test=_STREAMS + "test_a_stopped_subscriber_slows_nobody_costs_little_and_misses_nothing",
    ),
    Promise(
        "streams.far_behind",
        "contract §3.5 Streams",
        "A watcher of the transcript who falls far behind takes a snapshot and is right again.",
        test=_STREAMS + "test_a_watcher_who_falls_far_behind_takes_a_snapshot_and_is_right_again",
    ),
    Promise(
        "streams.gap",
        "contract §3.5 Streams",
        "A stream that broke off is taken up after its last event.",
        test=_STREAMS + "test_a_stream_that_broke_off_is_taken_up_after_the_gap",
    ),
    Promise(
        "streams.stale_position",
        "issue 6 bad input",
        "A position that the session never had is refused.",
        test=_STREAMS + "test_a_position_that_the_session_never_had_is_refused",
    ),
    Promise(
        "streams.fences",
        "contract §3.5 Streams",
        "A stale or missing fence of a transcript gives a snapshot that says why.",
        test="tests/interaction/sessions/test_streams.py::test_any_doubt_about_the_fence_gives_a_snapshot",
    ),
    Promise(
        "streams.catalog_behind",
        "contract §3.5 Streams",
        "Who missed changes of the list is sent away to read it again.",
        test="tests/unit/runtime/test_catalog_feed.py::"
        "test_a_follower_who_missed_changes_is_sent_away_to_read_the_list",
    ),
    Promise(
        "durable.full_disk_turn",
        "issue 6 bad input, acp.md fault 18",
        "On a full disk the turn fails in words, nothing stored or shown is lost, and service resumes by itself.",
        test=_FULL + "test_a_turn_on_a_full_disk_fails_clearly_nothing_is_lost_and_service_resumes",
    ),
    Promise(
        "durable.full_disk_killed",
        "issue 6 bad input",
        "What was shown while the disk filled up is there after the daemon was killed.",
        test=_FULL + "test_what_was_shown_on_a_full_disk_survives_a_killed_daemon",
    ),
    Promise(
        "durable.lost_updates",
        "issue 6 durability",
        "A turn of which an update could not be stored is never recorded as done.",
        test="tests/failure/acp/test_turns.py::"
        "test_a_turn_of_which_something_is_lost_has_not_ended_well_although_its_answer_is_there",
    ),
    Promise(
        "durable.busy",
        "P62",
        "Eight sessions stream while lists are read, backups made and retention looks: nothing is lost or locked.",
        test=_BUSY + "test_eight_streams_lists_backups_and_retention_at_once_lose_nothing_and_nobody_hears_of_locks",
    ),
    Promise(
        "durable.cycles",
        "P63",
        "Sessions that come and go leave no descriptor, and the store's log stays short.",
        test=_BUSY + "test_hundreds_of_sessions_that_come_and_go_leave_no_descriptor_and_a_short_log",
    ),
    Promise(
        "durable.out_of_memory",
        "P52",
        "A session that left memory comes back with the same model, permissions, folder and servers.",
        test=_DURABLE + "test_a_session_that_left_memory_comes_back_with_the_same_model_mode_and_servers",
    ),
    Promise(
        "durable.backup_leftovers",
        "issue 6 durability",
        "What a killed backup left is removed by the next, and nothing else is.",
        test="tests/unit/runtime/test_backups.py::"
        "test_what_a_killed_backup_left_is_removed_by_the_next_and_nothing_else_is",
    ),
    Promise(
        "durable.backup_read_only",
        "issue 6 bad input",
        "A home that cannot be written is backed up, or the message says how.",
        test="tests/unit/runtime/test_backups.py::"
        "test_a_home_that_cannot_be_written_is_backed_up_or_the_message_says_how",
    ),
)
