"""Promises of changing agents: create, update, duplicate, delete, history, capabilities (issue 4)."""

from tests.promises import Promise

_ROUTES = "tests/interaction/authoring/test_routes.py::"
_COMMANDS = "tests/interaction/authoring/test_commands.py::"
_PAGE = "tests/interaction/authoring/test_page.py::"
_WRITES = "tests/unit/catalog/authoring/test_writes.py::"
_HISTORY = "tests/unit/catalog/authoring/test_history.py::"
_CONFLICT = "tests/unit/runtime/test_edit_conflict.py::"
_DOCUMENT = "tests/unit/documents/test_capability_document.py::"
_MESSAGES = "tests/unit/daemon/test_application.py::"

_ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("create", "formats §13", "A created agent is canonical, private, and has the digest of the next read.",
     _WRITES + "test_a_new_agent_is_canonical_private_and_has_the_digest_of_the_next_read"),
    ("create-folder", "formats §13", "A folder without AGENT.md may exist; its mode and sidecars stay.",
     _WRITES + "test_a_folder_without_a_definition_may_exist_and_its_sidecars_count"),
    ("create-rollback", "formats §13", "A creation that would not load leaves nothing behind.",
     _WRITES + "test_a_broken_sidecar_rolls_the_creation_back"),
    ("links", "formats §13", "Nothing is written through a link.",
     _WRITES + "test_nothing_is_created_through_a_link"),
    ("reserved", "contract §3.3, D12", "Reserved names are 422 with their code and write nothing.",
     _ROUTES + "test_reserved_names_are_422_with_their_code_and_write_nothing"),
    ("reserved-exit", "contract §4.4", "On the command line a reserved name exits with 71.",
     _COMMANDS + "test_refusals_have_their_exit_codes"),
    ("runtime", "contract §3.3", "A provider that cannot be resolved is 400 before anything is written.",
     _ROUTES + "test_a_runtime_that_cannot_be_resolved_is_400_and_writes_nothing"),
    ("taken", "contract §3.3", "A taken name is 409, also when another folder of that place declares it.",
     _ROUTES + "test_a_taken_name_is_409_also_when_another_folder_declares_it"),
    ("one-line", "D3, reports P30", "An update changes its line; servers stay; no secret is returned.",
     _ROUTES + "test_an_update_changes_one_line_keeps_servers_and_shows_no_secret"),
    ("canonical", "D3", "What cannot be edited in place is written canonically, and the answer says so.",
     _ROUTES + "test_what_cannot_be_edited_in_place_is_written_canonically_and_says_so"),
    ("one-header", "reports P31", "A header that is not recognised is refused, never doubled.",
     _ROUTES + "test_a_header_that_is_not_recognised_is_refused_and_never_doubled"),
    ("contention", "reports P32", "16 programs make 50 changes each over the daemon; all 800 are there.",
     "tests/failure/test_authoring_contention.py::"
     "test_sixteen_programs_make_fifty_changes_each_and_none_is_lost"),
    ("killed", "reports P32", "A writer killed at 200 random points leaves old or new, and no lock.",
     "tests/failure/test_authoring_kill.py::"
     "test_a_writer_killed_at_200_random_points_leaves_old_or_new_and_no_lock"),
    ("no-op", "reports P33", "Saving without a change is 200 and keeps the digest.",
     _ROUTES + "test_saving_without_a_change_is_accepted_and_keeps_the_digest"),
    ("session-digest", "reports P34", "A session keeps the definition it began with; the next one gets the new one.",
     _ROUTES + "test_sessions_outlive_their_agent_and_keep_the_digest_they_began_with"),
    ("session-changed", "reports P34", "`session status` says that the definition changed since start.",
     _COMMANDS + "test_a_session_says_that_its_definition_changed_since_it_began"),
    ("stale", "D4", "A stale digest is 409 with the current one and a three-way hint.",
     _ROUTES + "test_a_stale_digest_is_409_with_the_current_one_and_a_three_way_hint"),
    ("hint", "issue 4 item 4", "The hint says whether two edits touch, field by field.",
     _CONFLICT + "test_one_field_changed_by_both_touches_unless_the_values_agree"),
    ("winner", "D12", "The winner is edited and deleted wherever it lies; what is in force then is named.",
     _ROUTES + "test_the_winner_is_edited_and_deleted_wherever_it_lies"),
    ("copy", "formats §13", "A copy has every file with its mode, and the comments.",
     _WRITES + "test_a_copy_has_every_file_with_its_mode_and_keeps_comments"),
    ("copy-special", "formats §13", "A link or special file in the source fails and leaves no target.",
     _WRITES + "test_a_link_or_special_file_in_the_source_fails_and_leaves_no_target"),
    ("delete-links", "formats §13", "Deleting unlinks links and never follows them.",
     _WRITES + "test_deleting_unlinks_links_and_never_follows_them"),
    ("delete-exact", "formats §13", "Only the exact path is deleted.",
     _WRITES + "test_only_the_exact_path_is_deleted"),
    ("undo", "issue 4 item 7", "Every change can be taken back, also a deletion.",
     _ROUTES + "test_every_change_can_be_taken_back_also_a_deletion"),
    ("kept-private", "issue 4 item 7", "Kept states are 0600 in 0700 folders.",
     _HISTORY + "test_everything_kept_is_private"),
    ("kept-size", "issue 4 item 7", "The oldest kept states go when they take too much.",
     _HISTORY + "test_the_oldest_states_go_when_there_are_too_many_bytes_and_the_newest_stays"),
    ("kept-age", "issue 4 item 7", "Old kept states go.", _HISTORY + "test_old_states_go"),
    ("kept-damage", "issue 4 item 7", "A damaged kept state is never restored.",
     _HISTORY + "test_a_damaged_or_changed_state_is_never_restored_and_hides_no_other"),
    ("keep-first", "issue 4 item 7", "Nothing is deleted when its state cannot be kept.",
     _WRITES + "test_nothing_is_deleted_when_its_state_cannot_be_kept"),
    ("capabilities", "D2, issue 4 item 5", "Capabilities come brief, or rich with digests.",
     _ROUTES + "test_capabilities_come_brief_for_peers_and_rich_with_digests"),
    ("pins", "D27", "A pin fits exactly or the call fails.",
     _DOCUMENT + "test_a_pin_fits_exactly_or_the_call_fails"),
    ("verify", "D27", "Whatever is changed inside an exported capability is a mismatch.",
     _DOCUMENT + "test_whatever_is_changed_inside_is_a_mismatch"),
    ("workspace", "contract §4.2", "Changes take the workspace from flag or environment only.",
     _COMMANDS + "test_create_is_global_unless_a_workspace_is_named_by_flag_or_environment"),
    ("confirm", "contract §4.4", "Deleting asks on a terminal and needs --yes elsewhere.",
     _COMMANDS + "test_deleting_asks_on_a_terminal_and_needs_yes_elsewhere"),
    ("formats", "contract §4.3", "Every command speaks human, json, jsonl and toon.",
     _COMMANDS + "test_every_command_speaks_every_format"),
    ("bad-body", "issue 4 bad input", "A bad body is 400 on both transports and changes nothing.",
     _ROUTES + "test_a_bad_body_is_400_on_both_transports_and_changes_nothing"),
    ("bad-name", "issue 4 bad input", "A name with path parts writes nothing.",
     _ROUTES + "test_a_name_that_is_no_agent_name_writes_nothing"),
    ("bad-path", "issue 4 bad input", "A route with path parts touches nothing.",
     _ROUTES + "test_a_path_that_names_no_agent_is_404_and_touches_nothing"),
    ("bad-link", "issue 4 bad input", "A folder that is a link is no agent.",
     _ROUTES + "test_a_folder_that_is_a_link_is_no_agent_and_nothing_is_written_through_it"),
    ("bad-size", "issue 4 bad input", "Five megabytes are 413.", _ROUTES + "test_five_megabytes_are_413"),
    ("twice", "D10", "A body with a member given twice is refused on every route.",
     _MESSAGES + "test_a_body_with_a_member_given_twice_is_refused"),
    ("page", "issue 4", "The page about changing agents shows what really happens.",
     _PAGE + "test_every_command_of_the_page_answers_what_the_page_shows"),
)  # fmt: skip
PROMISES: tuple[Promise, ...] = tuple(
    Promise(f"authoring.{name}", source, text, test) for name, source, text, test in _ROWS
)
