"""Words, stems and character groups: what a task and a document have in common."""

from operator import itemgetter

import pytest

from compozy.lexical.index import LexicalIndex, _descending, combine, read_query
from compozy.lexical.words import MOST_CHARACTERS, beginning, grams, split_name, stem, tokens


@pytest.mark.parametrize(
    "forms", [("run", "running", "runs"), ("retry", "retries"), ("migration", "migrate"), ("invoice", "invoices")]
)
def test_the_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_identifiers_are_split_where_the_case_changes() -> None:
    assert tokens(split_name("getHTTPStatus_code")) == ["http", "status", "code"]


def test_words_of_other_scripts_count_and_filler_does_not() -> None:
    assert tokens("Please find the Größe of Ｔｏｋｙｏ 東京") == ["grösse".replace("ss", "ss"), "tokyo", "東京"]


def test_character_groups_stay_inside_a_word() -> None:
    assert grams("abc") == (" ab", "abc", "bc ", " abc", "abc ")
    assert grams("a") == (" a ",)


def test_an_empty_index_and_an_empty_query_score_nothing() -> None:
    assert combine(LexicalIndex([]).score(read_query(["word"]))) == {}
    assert combine(LexicalIndex([["word"]]).score(read_query([]))) == {}


def test_a_common_word_in_a_large_catalogue_does_not_hide_a_rare_one() -> None:
    documents = [["common", "filling"] for _ in range(4_000)]
    documents[1234] = ["common", "unicorn"]
    totals = combine(LexicalIndex(documents).score(read_query(["common", "unicorn"])))
    assert max(totals, key=lambda place: totals[place]) == 1234


def test_what_is_taken_step_by_step_comes_in_the_order_of_a_whole_sort() -> None:
    found = {place: (place * 37 % 100) ** 3 / 1e6 for place in range(500)}
    assert len(set(found.values())) == 100, "there are equal ones, and most are small beside the greatest"
    assert list(_descending(found)) == sorted(found.items(), key=itemgetter(1), reverse=True)
    assert list(_descending({})) == []


def test_a_text_is_read_as_far_as_the_bound_and_a_word_across_it_is_left_out() -> None:
    begun = "ship " * (MOST_CHARACTERS // 5)
    for cut in ("harbour", "x", "x harbour", "größe"):
        read = beginning(begun + cut)
        assert read.split() == ["ship"] * (MOST_CHARACTERS // 5) + (["x"] if cut[0] == "x" else [])
        assert len(read) <= MOST_CHARACTERS
        assert set(tokens(begun + cut)) == set(read.split())
    assert beginning(begun + "x") == begun + "x"
    assert len(beginning("x" * MOST_CHARACTERS * 2)) == MOST_CHARACTERS


def test_a_run_of_letters_without_a_break_is_read_in_short_pieces() -> None:
    found = tokens("x" * 1_000)
    assert "".join(found) == "x" * 1_000
    assert max(map(len, found)) == 64
