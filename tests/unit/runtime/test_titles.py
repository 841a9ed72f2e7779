"""What an agent answers becomes a title of one short line."""

import pytest

from compozy.runtime.sessions.titles import MAX_TITLE, clean_title


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Harbour dues", "Harbour dues"),
        ('\n\n  "Harbour dues explained."\nAnything else', "Harbour dues explained"),
        ("Title: **Harbour dues**", "Harbour dues"),
        ("# Harbour\tdues", "Harbour dues"),
        ("Har\x1b[31mbour\u202e dues", "Har[31mbour dues"),
        ("", ""),
        ("...", ""),
    ],
)
def test_a_title_is_one_plain_line(answer: str, title: str) -> None:
    assert clean_title(answer) == title


def test_a_long_title_is_cut() -> None:
    assert len(clean_title("word " * 100)) <= MAX_TITLE
