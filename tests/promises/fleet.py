"""What workspaces, discovery in the daemon, the catalog and extensions promise (issue 4 items 1, 2, 3, 6)."""

from tests.promises import Promise

_CATALOG = "tests/unit/runtime/test_agent_catalog.py"
_VIEWS = "tests/unit/runtime/test_fleet_views.py"
_SPACES = "tests/unit/runtime/test_workspaces.py"
_LIVE = "tests/interaction/fleet/test_catalog.py"
_LIVE_SPACES = "tests/interaction/fleet/test_workspaces.py"
_WHICH = "tests/interaction/fleet/test_which.py"
_KITS = "tests/unit/catalog/test_extensions.py"
_LISTS = "tests/interaction/fleet/test_settings_in_lists.py"
_LIVE_KITS = "tests/interaction/fleet/test_extensions.py"

_ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("rows", "contract §3.3", "Rows come by name with the metrics of their sessions.",
     f"{_CATALOG}::test_rows_come_in_name_order_with_what_their_sessions_did"),
    ("filters", "contract §3.3", "Filters apply before the page is cut; facets ignore them.",
     f"{_CATALOG}::test_filters_apply_before_the_page_is_cut_and_facets_ignore_them"),
    ("one-row", "contract §3.3, D9", "A name is one row, also where its nearest file is broken.",
     f"{_CATALOG}::test_a_broken_definition_is_one_row_even_where_a_lower_one_takes_over"),
    ("P59", "reports P59", "Every name comes once whatever changes while paging, 100 seeds.",
     f"{_CATALOG}::test_every_name_comes_once_whatever_changes_while_paging"),
    ("P60", "reports P60", "Equal times neither repeat nor skip a row.",
     f"{_CATALOG}::test_sessions_of_one_moment_are_neither_repeated_nor_skipped"),
    ("P61", "reports P61", "Every bad parameter is refused alike on both transports, by name.",
     f"{_LIVE}::test_every_bad_parameter_is_refused_alike_on_both_transports"),
    ("cursor", "contract §3.2", "A cursor continues its own list only.",
     f"{_CATALOG}::test_a_cursor_continues_its_own_list_only"),
    ("transports", "contract §3", "Both transports give the same page.",
     f"{_LIVE}::test_both_transports_give_the_same_page"),
    ("damaged", "issue 4 item 3", "With a damaged store the definitions still come.",
     f"{_LIVE}::test_with_a_damaged_store_the_definitions_still_come"),
    ("locked", "issue 4 item 3", "With a locked store they come soon, and the sessions return.",
     f"{_LIVE}::test_with_a_locked_store_the_definitions_come_soon_and_the_sessions_return"),
    ("P29", "reports P29", "A store that stays away is logged once.",
     f"{_CATALOG}::test_a_store_that_fails_or_hangs_takes_the_metrics_only"),
    ("active", "D26", "The agents with active sessions are named once each, on every store.",
     "tests/contract/test_store.py::test_the_agents_with_active_sessions_are_named_once_each"),
    ("P27-daemon", "reports P27", "An edit is in the daemon's next answer, also by rename and in a renamed folder.",
     f"{_LIVE}::test_an_edit_is_in_the_next_answer_also_by_rename_and_in_a_renamed_folder"),
    ("P27-large", "reports P27", "In a large fleet the row about to be shown is compared with its file.",
     f"{_VIEWS}::test_a_row_about_to_be_shown_is_compared_with_its_file"),
    ("shared-home", "reports P27", "What another workspace read first hides no change.",
     f"{_VIEWS}::test_what_another_place_read_first_does_not_hide_a_change"),
    ("P25-sources", "reports P25, D13", "The first of six sources wins in every combination, in any listing order.",
     "tests/unit/catalog/test_precedence.py::test_the_first_source_wins_in_every_combination"),
    ("P23", "reports P23", "`which` shows the winner, every hidden file and the rule that hides it.",
     f"{_WHICH}::test_which_shows_the_winner_then_every_hidden_file_with_its_rule"),
    ("why", "issue 4 item 6", "`why` names every place looked at and the nearest name.",
     f"{_WHICH}::test_why_names_every_place_and_the_nearest_name"),
    ("why-kinds", "issue 4 item 6", "`why` explains broken, reserved and otherwise named files.",
     f"{_WHICH}::test_why_explains_each_kind_of_miss"),
    ("tree", "D9, reports P24", "The table is a tree of categories, counts broken files, tells of small shadows.",
     f"{_WHICH}::test_the_table_is_a_tree_of_categories_and_says_what_shadows_what"),
    ("unavailable", "issue 4 item 3", "The table calls sessions unavailable, never zero.",
     f"{_WHICH}::test_the_table_counts_sessions_and_calls_them_unavailable_when_the_store_is_damaged"),
    ("twins", "reports P26, D7", "Two folders with one name are reported with both paths.",
     f"{_WHICH}::test_two_folders_with_one_name_are_reported_with_both_paths"),
    ("workspace-input", "contract §3.4", "Bad input about workspaces is refused alike and changes nothing.",
     f"{_LIVE_SPACES}::test_bad_input_is_refused_alike_on_both_transports_and_changes_nothing"),
    ("workspace-patch", "contract §3.4", "Null leaves a value; a clash of names is counted.",
     f"{_LIVE_SPACES}::test_null_leaves_a_value_and_a_clash_of_names_is_counted"),
    ("workspace-detail", "contract §3.4", "A detail holds agents, sessions, skills and providers; 409 with sessions.",
     f"{_LIVE_SPACES}::test_a_detail_holds_agents_sessions_skills_and_providers"),
    ("workspace-reference", "contract §3.4", "A workspace is named by id, name, path below it, or a link.",
     f"{_LIVE}::test_the_workspace_may_be_an_id_a_name_or_a_path"),
    ("workspace-gone", "contract §3.1", "A workspace whose root is gone answers 410.",
     f"{_LIVE}::test_a_workspace_whose_root_is_gone_is_said_to_be_gone"),
    ("workspace-home", "contract §1.4", "A fresh install knows the user's home, which owns itself only.",
     f"{_LIVE_SPACES}::test_a_fresh_install_knows_the_users_home_and_no_project_below_it"),
    ("workspace-ulid", "contract §1.1", "A workspace is known by the id it carries.",
     f"{_SPACES}::test_a_workspace_is_known_by_the_id_it_carries"),
    ("workspace-rollback", "contract §3.4", "One that cannot be resolved is not registered.",
     f"{_SPACES}::test_one_that_cannot_be_resolved_is_not_registered"),
    ("extension", "D13", "An extension's agents are global candidates while it is enabled.",
     f"{_LIVE_KITS}::test_its_agents_are_global_candidates_while_it_is_enabled"),
    ("extension-trust", "D15", "What an extension would run needs trust.",
     f"{_LIVE_KITS}::test_what_it_would_run_needs_trust"),
    ("extension-whole", "formats §12", "Anything wrong refuses the whole extension.",
     f"{_KITS}::test_anything_wrong_refuses_the_whole_extension"),
    ("extension-reserved", "D13", "A reserved name is refused by its own code.",
     f"{_KITS}::test_a_reserved_name_is_refused_by_its_own_code"),
    ("lists-settings", "issue 4 item 2", "Lists, catalog and detail show an agent with its workspace's settings.",
     f"{_LISTS}::test_every_list_shows_an_agent_with_the_settings_of_its_workspace"),
    ("twin-told", "D7", "The loser of two folders with one name is told with the winner, on every list.",
     f"{_LISTS}::test_the_loser_of_two_folders_with_one_name_is_told_with_the_winner_on_every_list"),
)  # fmt: skip

PROMISES: tuple[Promise, ...] = tuple(
    Promise(id=f"fleet-{name}", source=source, text=text, test=test) for name, source, text, test in _ROWS
)
