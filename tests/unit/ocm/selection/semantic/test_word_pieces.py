"""Word pieces are those of the model's own tokenizer: recorded from `tokenizers` 0.23 with all-MiniLM-L6-v2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.ocm.selection.semantic.word_pieces import MOST_PIECES, WordPieces

RECORDED = {
    "": [101, 102],
    "   ": [101, 102],
    "Review the last change, please!": [101, 3319, 1996, 2197, 2689, 1010, 3531, 999, 102],
    "naïve café — “quotes”": [101, 15743, 7668, 1517, 1523, 16614, 1524, 102],
    "你好世界": [101, 100, 100, 1745, 100, 102],
    "日本語テスト 한국어": [
        101,
        1864,
        1876,
        1950,
        1713,
        30233,
        30240,
        1469,
        30006,
        30021,
        29991,
        30014,
        30020,
        29999,
        30008,
        102,
    ],
    "$x^2 ~tilde zero�": [101, 1002, 1060, 1034, 1016, 1066, 18681, 3207, 5717, 102],
    "é İstanbul ß ﬁ ½": [101, 1041, 9960, 1096, 1984, 1092, 102],
    "get_weather(city='Málaga')": [101, 2131, 1035, 4633, 1006, 2103, 1027, 1005, 27382, 1005, 1007, 102],
    "\x00\x07a\u200bb": [101, 11113, 102],
    "unaffordability's": [101, 14477, 4246, 8551, 8010, 1005, 1055, 102],
}
PIECES = WordPieces()


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return PIECES


@pytest.mark.parametrize("text", RECORDED)
def test_a_text_is_read_as_the_models_tokenizer_reads_it(pieces: WordPieces, text: str) -> None:
    assert pieces.read(text) == RECORDED[text]


def test_a_long_text_is_cut_and_keeps_its_end_mark(pieces: WordPieces) -> None:
    read = pieces.read("word " * 1_000)

    assert len(read) == MOST_PIECES
    assert read[-1] == 102


def test_a_word_without_end_is_one_unknown_piece(pieces: WordPieces) -> None:
    assert pieces.read("x" * 5_000) == [101, 100, 102]


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_read_as_any_text_is(text: str) -> None:
    # One letter outside ASCII sends the text the long way.
    assert PIECES.read(text[:200])[:-1] == PIECES.read(f"{text[:200]} é")[:-2]


def test_what_lies_beyond_the_beginning_of_a_text_is_not_read() -> None:
    pieces = WordPieces()
    assert len(pieces.read(" " * 60_000 + "sail")) == 3
    assert len(pieces.read(" " * 70_000 + "sail")) == 2
