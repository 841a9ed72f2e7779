"""Values are known by their form, and hint at the words by which tools ask for them."""

import pytest

from compozy.lexical.index import HINT, LexicalIndex, combine, read_query
from compozy.lexical.values import KINDS, hints, kinds_in
from compozy.lexical.words import stem, tokens

EXAMPLES = {
    "a web address": ("see https://x.example/a?b=c", "is shop.example.com down", "open www.x.test"),
    "an e-mail address": ("tell ada.l@mail.example", "cc: o'neill@x.test"),
    "a date": (
        "on 2026-11-30",
        "by 30/11",
        "am 3.5. bitte",
        "march 3",
        "on 3 May",
        "the 21st",
        "next week",
        "friday",
    ),
    "a time of day": ("at 18:30", "5pm", "6 o'clock", "around noon"),
    "a span of time": ("in 5 minutes", "a 3-day trip", "two weeks off", "an hour"),
    "an amount of money": ("send 20 bucks", "£4.50", "250 eur", "12 €"),
    "a currency": ("what is 5 USD worth", "in euros"),
    "a share": ("20% off", "up by 3 percent"),
    "a file": ("open report.pdf", "in ~/notes/todo", "run ./scripts/go.sh", "/var/log/messages"),
    "an image": ("crop face.PNG",),
    "a recording": ("transcribe call.mp3",),
    "a film": ("cut intro.mp4", "from youtube"),
    "a table": ("plot sales.csv",),
    "a network address": ("ping 10.0.0.1",),
    "an identifier": ("order #1182", "close OPS-12", "case AB12345", "member 4002918"),
    "a hash": ("revert deadbeef1",),
    "a temperature": ("set it to 21°C", "70 F", "in Celsius", "minus 3 degrees"),
    "a distance": ("a 5km run", "within 3.5 miles", "2 m tall"),
    "a weight": ("80 kg", "3 ounces of it"),
    "a size": ("200 x 300", "under 5 MB", "a large one"),
    "a phone number": ("+49 170 1234567", "555-0134"),
    "coordinates": ("at 52.5200, 13.4050",),
    "a postal code": ("near 90210", "in 90210-1234"),
    "a street": ("at 42 St James Street", "7 Elm Ct and 9 Oak Ave"),
    "a language": ("say it in Greek", "translate into french"),
    "a stock symbol": ("buy $TSLA",),
    "a colour": ("paint it #ff8800",),
    "a calculation": ("what is 3 + 4", "12*7"),
    "a version": ("upgrade to v1.12.3",),
    "a quotation": ('play "Dancing Queen"', "rename it to 'Mum 70'", "post “we are back”"),
    "an account": ("who is @ada",),
    "a number of people": ("a table for four people", "2 tickets"),
}


@pytest.mark.parametrize("name", [kind.name for kind in KINDS])
def test_a_kind_is_known_by_its_form(name: str) -> None:
    for text in EXAMPLES[name]:
        assert name in [kind.name for kind in kinds_in(text)], text


@pytest.mark.parametrize(
    ("text", "not_a"),
    [
        ("3.5 km away", "a date"),
        ("May I go", "a date"),
        ("don't say what isn't so", "a quotation"),
        ("10.0.0.1", "a version"),
        ("ticket #700991", "a colour"),
        ("e.g. this", "a web address"),
        ("room 12", "an identifier"),
        ("it was added", "a hash"),
        ("1234567 things", "a hash"),
        ("costs 90210.50", "a postal code"),
        ("who@home", "an account"),
    ],
)
def test_what_only_looks_alike_is_not_taken_for_one(text: str, not_a: str) -> None:
    assert not_a not in [kind.name for kind in kinds_in(text)]


def test_plain_words_hint_at_nothing_and_only_the_beginning_of_a_text_is_read() -> None:
    assert hints("please tell me what is going on here") == ()
    assert "email" in hints("x" * 3_900 + " ada@mail.example") and hints("x" * 4_000 + " ada@mail.example") == ()


def test_a_value_finds_who_asks_for_it_and_a_word_that_is_said_is_no_hint() -> None:
    index = LexicalIndex([tokens("recipient email"), tokens("watch servers")])
    query = read_query(tokens("ada@mail.example"), hints("ada@mail.example"))
    assert stem("recipient") in query.hints and stem("mail") not in query.hints
    totals = combine(index.score(query))
    assert totals[0] > totals.get(1, 0.0)
    assert index.coverage(query)[0] > 0


def test_a_hint_counts_a_fraction_of_the_word() -> None:
    index = LexicalIndex([["recipient", "x"], ["other", "y"]])
    said = index.score(read_query(["recipient"])).words
    hinted = index.score(read_query(["zzz"], ["recipient"])).words
    assert hinted == {0: pytest.approx(said[0] * HINT)}


def test_a_hint_that_nobody_asks_for_takes_nothing_away() -> None:
    index = LexicalIndex([tokens("watch servers"), tokens("sell shoes")])
    plain = index.coverage(read_query(tokens("watch servers")))
    assert index.coverage(read_query(tokens("watch servers"), [stem("recipient")])) == plain


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ada＠example.org", "an e-mail address"),
        ("走１０ｋｍ", "a distance"),
        ("2026-11-30に会う", "a date"),
        ("明日18:30に", "a time of day"),
        ("지금5kg사", "a weight"),
        ("ส่ง20usdให้", "an amount of money"),
        ("set it to 21℃", "a temperature"),
    ],
)
def test_values_are_known_in_other_widths_and_inside_of_scripts_without_blanks(text: str, name: str) -> None:
    assert name in [kind.name for kind in kinds_in(text)]


def test_a_character_that_stands_for_many_makes_no_longer_text() -> None:
    assert hints("\ufdfa" * 4_000 + " ada@mail.example") == ()
