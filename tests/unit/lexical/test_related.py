"""Words that mean nearly the same find each other, for less than the word itself."""

import subprocess
import sys
from pathlib import Path

import pytest

from compozy.lexical.index import LexicalIndex, combine, read_query
from compozy.lexical.related import RelatedWords, related_words
from compozy.lexical.words import stem, tokens

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("word", "near"), [("buy", "purchase"), ("doctor", "physician"), ("car", "automobile"), ("picture", "photo")]
)
def test_words_of_like_meaning_are_near_each_other_both_ways(word: str, near: str) -> None:
    there = dict(related_words().near(stem(word)))
    back = dict(related_words().near(stem(near)))
    assert 0 < there[stem(near)] < 0.75
    assert there[stem(near)] == back[stem(word)]


def test_a_word_outside_the_table_is_near_to_nothing_and_the_rarest() -> None:
    words = related_words()
    assert words.near("qwzx") == []
    assert words.rarity("qwzx") > max(map(words.rarity, words.stems))
    assert words.rarity(stem("house")) < words.rarity(stem("invoice"))


def test_the_layout_is_read_as_it_is_described() -> None:
    lengths, places, cosines = (
        b"\x01\x00\x02\x00\x01\x00",
        b"\x01\x00\x00\x00\x02\x00\x01\x00",
        bytes((100, 100, 40, 40)),
    )
    words = RelatedWords(b"one\ntwo\nthree\n\n" + lengths + places + cosines)
    assert words.near("one") == [("two", 0.75)]
    assert dict(words.near("two")) == pytest.approx({"one": 0.75, "three": 0.15})
    assert words.near("three") == [("two", pytest.approx(0.15))]
    assert [words.place(root) for root in ("one", "three", "four")] == [0, 2, None]
    assert words.near_places("one") == [(1, 0.75)] and words.near_places("four") == []


def test_a_related_word_finds_a_document_that_shares_no_word() -> None:
    index = LexicalIndex([tokens("watch servers at night"), tokens("purchase shoes")])
    scores = index.score(read_query(tokens("buy")))
    assert set(scores.words) == {1}
    near = dict(related_words().near(stem("buy")))[stem("purchase")]
    assert index.covers(1, [stem("buy"), stem("purchase"), stem("sell")])[:2] == [near, 1.0]
    assert index.covers(0, [stem("buy")]) == [0.0]


def test_the_word_itself_beats_its_relatives() -> None:
    index = LexicalIndex([tokens("purchase shoes"), tokens("buy shoes")])
    totals = combine(index.score(read_query(tokens("buy"))))
    assert totals[1] > totals[0] > 0


def test_the_stems_of_the_table_are_those_that_the_code_makes_today() -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra `semantic`")
    command = [sys.executable, str(ROOT / "scripts/build_related_words.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_coverage_of_all_documents_is_that_of_each() -> None:
    index = LexicalIndex(
        [tokens(text) for text in ("purchase and buy shoes", "acquire boots", "watch servers", "sell a shop")]
    )
    query = read_query(tokens("buy sneakers for the shop qwzx"))
    together = index.coverage(query)
    total = sum(map(index.rarity, query.stems))
    for number in range(4):
        shares = zip(query.stems, index.covers(number, query.stems), strict=True)
        each = sum(index.rarity(root) * share for root, share in shares) / total
        assert together.get(number, 0.0) == pytest.approx(each)
    assert 0 < together[1] < together[0] < 1
