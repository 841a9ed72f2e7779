"""The permission question a person reads, and how their line is understood."""

import pytest

from compozy.cli.questions import carried, choices, decision_of, question_text
from compozy.cli.turn_record import Permission

ALL = ("allow-once", "allow-always", "reject-once", "reject-always")


def test_the_question_says_who_what_where_which_answers_and_until_when() -> None:
    permission = Permission(
        "p",
        title="Write notes.md",
        kind="edit",
        places=("/repo/notes.md", "/repo/other.md"),
        changes=("/repo/notes.md: a new file of 2 lines",),
        choices=ALL,
    )
    assert question_text(permission, "general", 299.6).splitlines() == [
        "",
        "? general asks for permission (edit): Write notes.md",
        "    change   /repo/notes.md: a new file of 2 lines",
        "    where    /repo/other.md",
        "  [y] yes, once   [a] yes, always   [n] no   [d] no, never   (no answer within 5m 00s means no)",
        "  your answer [n]: ",
    ]


def test_what_cannot_be_printed_is_shown_by_its_escape() -> None:
    permission = Permission("p", title="ok\x1b[2J\u202egpj.exe", command="rm\r-rf /\nsafe")
    text = question_text(permission, "a\x07gent", 60)
    assert not any(character in text for character in "\x1b\u202e\x07\r")
    assert "    command  rm\\r-rf /\\nsafe" in text.splitlines()


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("", "reject-once"),
        ("n", "reject-once"),
        (" YES ", "allow-once"),
        ("y", "allow-once"),
        ("always", "allow-always"),
        ("d", "reject-always"),
        ("maybe", None),
    ],
)
def test_a_line_means_a_decision_and_nothing_means_no(line: str, decision: str | None) -> None:
    assert decision_of(line, ALL) == decision


def test_only_what_the_agent_offers_can_be_chosen_and_no_is_always_there() -> None:
    offered = choices(Permission("p", choices=("allow-once",)))
    assert offered == ("allow-once", "reject-once")
    assert decision_of("a", offered) is None


@pytest.mark.parametrize(
    ("offered", "wish", "sent"),
    [
        (ALL, "reject-once", "reject-once"),
        (("allow-once", "reject-always"), "reject-once", "reject-always"),
        (("allow-always", "reject-once"), "allow-once", "allow-always"),
        (("allow-once",), "reject-once", ""),
        ((), "allow-once", "allow-once"),
    ],
)
def test_an_answer_the_agent_does_not_offer_becomes_its_nearest_kin(
    offered: tuple[str, ...], wish: str, sent: str
) -> None:
    assert carried(Permission("p", choices=offered), wish) == sent
