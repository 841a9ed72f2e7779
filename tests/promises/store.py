"""What the store promises."""

from tests.promises import Promise

_CONTRACT = "tests/contract/test_store.py::"
_CRASH = "tests/failure/test_store_crash.py::"
_FILE = "tests/failure/test_store_file.py::"

PROMISES: tuple[Promise, ...] = (
    Promise(
        "store.sequences",
        "contract §5.8",
        "Events of a session are numbered from 1 without gaps, whoever writes at the same time.",
        test=_CONTRACT + "test_many_writers_at_once_leave_no_gap_and_keep_their_own_order",
    ),
    Promise(
        "store.sigkill",
        "issue 2 done-when",
        "A killed process loses no acknowledged event, and a batch is there whole or not at all.",
        test=_CRASH + "test_a_killed_writer_leaves_every_acknowledged_event_whole_batches_and_no_gap",
    ),
    Promise(
        "store.shown",
        "issue 2 done-when",
        "A daemon killed in the middle of a flood has stored, the same and without a gap, all it had shown.",
        test="tests/failure/test_daemon_kill.py::"
        "test_what_any_subscriber_was_shown_before_sigkill_is_stored_the_same_without_a_gap",
    ),
    Promise(
        "store.full_disk",
        "issue 6 bad input",
        "On a full disk the append fails in words, nothing stored is lost, and writing resumes when there is room.",
        test=_CRASH + "test_a_full_disk_fails_the_append_keeps_what_was_stored_and_goes_on_when_there_is_room",
    ),
    Promise(
        "store.foreign",
        "decisions D22",
        "A compozy.db of another program is recognised, named and not touched, nor is anything made beside it.",
        test=_FILE + "test_a_database_of_another_program_is_named_and_left_untouched",
    ),
    Promise(
        "store.newer",
        "decisions D22",
        "A store of a newer release is recognised and not touched.",
        test=_FILE + "test_a_store_of_a_newer_release_is_named_and_left_untouched",
    ),
    Promise(
        "store.damaged",
        "issue 2 bad input",
        "Damage is reported by what it touches; the rest stays readable.",
        test=_FILE + "test_damage_among_the_events_is_reported_by_the_read_and_other_sessions_stay_readable",
    ),
    Promise(
        "store.locked",
        "design §2",
        "A lock of another process fails a write in words; reads go on and writes resume.",
        test=_FILE + "test_a_locked_file_fails_the_write_reads_go_on_and_writes_resume",
    ),
    Promise(
        "store.private",
        "contract §1.1",
        "The file is readable by its owner only.",
        test=_FILE + "test_the_file_is_private_whole_and_alone_in_its_folder",
    ),
    Promise(
        "store.migrations",
        "issue 6 durability",
        "A missing layout step is run once and whole; a failing one leaves the file as it was.",
        test=_FILE + "test_a_missing_layout_step_is_run_and_a_failing_one_changes_nothing",
    ),
    Promise(
        "store.upgrade",
        "issue 6 durability",
        "A store of every earlier layout opens with all its facts.",
        test="tests/failure/test_store_upgrade.py::test_an_old_store_opens_with_all_its_facts_and_takes_new_ones",
    ),
    Promise(
        "store.shrinks",
        "issue 6 durability",
        "Removing a session gives its space back to the disk.",
        test=_FILE + "test_events_of_a_removed_session_are_swept_and_the_file_shrinks",
    ),
    Promise(
        "store.pages",
        "contract §3.2, §3.5",
        "Pages show every session of the filter exactly once, with the total of the filter.",
        test=_CONTRACT + "test_pages_show_every_session_exactly_once",
    ),
    Promise(
        "store.metrics",
        "decisions D26",
        "An agent's metrics follow every change of its sessions.",
        test=_CONTRACT + "test_an_agents_metrics_follow_every_change_of_its_sessions",
    ),
)
