"""What choosing a capability or an agent promises (issue 8 items 7 and 8; decisions O4, D27, D29)."""

from tests.promises import Promise

_ENGINE = "tests/unit/ocm/selection/test_engine.py::"
_WISHES = "tests/unit/runtime/test_selection_wishes.py::"
_CLI = "tests/interaction/cli/test_select.py::"

PROMISES: tuple[Promise, ...] = (
    Promise(
        "selection.constraints",
        "issue 8 item 7; O4",
        "Hard constraints decide before any score, and the refusal names its rule",
        _ENGINE + "test_a_hard_constraint_beats_every_score_and_says_which_rule_it_was",
    ),
    Promise(
        "selection.exact",
        "issue 8 item 7",
        "A catalogue's verdicts are those of the policy, one by one",
        _ENGINE + "test_the_verdicts_are_those_of_the_policy_one_by_one",
    ),
    Promise(
        "selection.other_words",
        "issue 8 item 7",
        "A task in other words than the catalogue's is understood without a model, and the reason names the words",
        _ENGINE + "test_a_task_in_other_words_is_understood_and_the_reason_names_them",
    ),
    Promise(
        "selection.values",
        "issue 8 item 7",
        "A value in the task finds the tool that asks for it, and the reason says so",
        _ENGINE + "test_a_value_in_the_task_finds_the_tool_that_asks_for_it_and_the_reason_says_so",
    ),
    Promise(
        "selection.small-catalogues",
        "issue 8 item 7",
        "Tasks go to the right one of tools alike as often as they did",
        "tests/unit/ocm/selection/test_small_catalogues.py"
        "::test_tasks_go_to_the_right_one_of_tools_alike_as_often_as_they_did",
    ),
    Promise(
        "selection.none",
        "issue 8 item 7",
        "None fits is an answer",
        _ENGINE + "test_none_fits_is_an_answer_and_names_the_nearest",
    ),
    Promise(
        "selection.deterministic",
        "issue 8 item 7",
        "The same catalogue and request give the same answer in any order",
        _ENGINE + "test_order_does_not_matter_and_ties_go_by_id",
    ),
    Promise(
        "selection.prior",
        "issue 8 item 7",
        "A prior settles a tie and never beats the words",
        _ENGINE + "test_a_prior_settles_a_tie_and_never_beats_the_words",
    ),
    Promise(
        "selection.many-at-once",
        "issue 8 item 8",
        "Two hundred calls while definitions change each get a right answer",
        "tests/failure/test_hostile_selection.py"
        "::test_two_hundred_calls_while_definitions_change_each_get_a_right_answer",
    ),
    Promise(
        "selection.killed",
        "issue 8 item 8",
        "A kill in between costs the calls under way and nothing else",
        "tests/failure/test_hostile_selection.py::test_a_kill_in_between_costs_the_calls_under_way_and_nothing_else",
    ),
    Promise(
        "selection.required", "D29", "All required ids must match", _WISHES + "test_every_required_id_must_match"
    ),
    Promise(
        "selection.preferred",
        "D29",
        "Preferred ids rank",
        _WISHES + "test_preferred_ids_rank_before_words_among_those_that_fit",
    ),
    Promise(
        "selection.pins",
        "D27",
        "A pin that does not match fails",
        _WISHES + "test_a_pin_must_match_the_version_or_the_digest",
    ),
    Promise(
        "selection.skills",
        "D29",
        "Enabled skill names count like capability ids",
        _WISHES + "test_enabled_skills_count_like_capabilities_and_disabled_ones_do_not",
    ),
    Promise(
        "selection.test-file",
        "issue 8 item 8",
        "A regression file of tasks runs by select --test",
        _CLI + "test_a_file_of_tasks_is_a_test_that_fails_by_the_task",
    ),
    Promise(
        "selection.plans",
        "issue 8 item 7",
        "Plan slots stay empty unless something fits",
        "tests/unit/ocm/selection/test_plans.py::test_a_helper_that_fits_is_taken_and_one_that_does_not_is_left_out",
    ),
    Promise(
        "selection.learn",
        "issue 8 item 7",
        "Outcomes become priors with sample size and decay",
        "tests/unit/ocm/selection/test_learning.py::test_old_outcomes_count_half_after_thirty_days_and_few_say_little",
    ),
    Promise(
        "selection.examples",
        "issue 8 item 7",
        "The most representative tasks become examples in the manifests, which keep everything else",
        "tests/interaction/ocm/test_ocm_examples.py::test_they_are_written_into_the_manifests_and_nothing_else_changes",
    ),
    Promise(
        "selection.examples-documented",
        "issue 8 item 7",
        "The documented choice of examples is what the command prints",
        "tests/golden/test_docs_selection.py::test_the_examples_of_the_page_are_chosen_as_it_shows",
    ),
    Promise(
        "selection.train",
        "issue 8 item 7",
        "A trained model is bound to its catalogue",
        "tests/unit/ocm/selection/test_learning.py::test_a_trained_model_is_bound_to_its_catalogue_and_decides",
    ),
    Promise(
        "selection.train-meaning",
        "issue 8 item 7",
        "A model trained with an embedder needs the same one afterwards",
        "tests/unit/ocm/selection/test_trained.py"
        "::test_a_model_with_meaning_is_refused_without_its_embedder_or_with_another",
    ),
    Promise(
        "selection.eval",
        "issue 8 item 4",
        "Leave-one-out accuracy of a catalogue's own examples with a confusion table",
        "tests/unit/ocm/selection/test_evaluation.py::test_only_the_example_in_question_is_missing",
    ),
    Promise(
        "selection.eval-bounded",
        "issue 8 item 4",
        "A catalogue whose evaluation would take very long is judged in part, and how much is left out is told",
        "tests/unit/ocm/selection/test_evaluation.py"
        "::test_what_takes_too_long_is_judged_at_even_distances_and_the_rest_is_counted",
    ),
    Promise(
        "selection.semantic",
        "issue 8 item 7",
        "A small embedding model beside the words finds what shares no word with the task (extra `semantic`)",
        "tests/unit/ocm/selection/semantic/test_matching.py"
        "::test_a_task_that_shares_no_word_finds_the_capability_that_is_meant",
    ),
    Promise(
        "selection.semantic-cache",
        "issue 8 item 7; design.md §2",
        "Vectors are kept by digest: a text is embedded once over all runs",
        "tests/unit/ocm/selection/semantic/test_matching.py::test_a_text_is_embedded_once_over_all_runs",
    ),
    Promise(
        "selection.semantic-same",
        "issue 8 item 7",
        "A text has the same vector whatever is embedded beside it",
        "tests/unit/ocm/selection/semantic/test_minilm.py"
        "::test_a_text_has_the_same_vector_whatever_is_embedded_beside_it",
    ),
    Promise(
        "selection.semantic-doubt",
        "issue 8 item 7",
        "By meaning, a catalogue of one is not taken for whatever is asked",
        "tests/unit/ocm/selection/semantic/test_likelihood.py"
        "::test_even_a_catalogue_of_one_is_not_taken_for_everything",
    ),
    Promise(
        "selection.semantic-missing",
        "issue 8 item 7",
        "Without the extra a sentence names the command that installs it",
        "tests/unit/ocm/selection/test_extras.py::test_without_the_extra_a_sentence_says_what_to_install",
    ),
)
