"""What a person sees of a turn: the answer on standard output, the rest beside it."""

import pytest

from compozy.cli.status_line import StatusLine
from compozy.cli.turn_printer import TurnPrinter
from compozy.cli.turn_record import (
    Decided,
    Failed,
    Notice,
    Permission,
    PlanChanged,
    Step,
    Text,
    TextEnded,
    ToolCall,
    ToolEnded,
)


def printed(capsys: pytest.CaptureFixture[str], *steps: Step, colour: bool = False) -> tuple[str, str]:
    printer = TurnPrinter(StatusLine(enabled=False), colour=colour)
    for step in steps:
        printer.show(step)
    printer.close()
    shown = capsys.readouterr()
    return shown.out, shown.err


def test_the_answer_is_written_as_it_comes_and_ends_with_a_line_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, Text("a"), Text("b\nc"), TextEnded(), Text("d\n"), TextEnded()) == ("ab\nc\nd\n", "")


def test_everything_around_the_answer_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = printed(
        capsys,
        Text("answer"),
        ToolEnded(ToolCall("1", title="Read a", status="completed")),
        ToolEnded(ToolCall("2", title="Run b", status="failed", error="exit 1")),
        Decided(Permission("p", kind="edit", places=("/r/x",), decision="reject-once", decided_by="provider")),
        Notice("slow"),
    )
    assert out == "answer\n"
    assert err.splitlines() == [
        "✓ Read a",
        "✗ Run b: exit 1",
        "reject once by policy: edit /r/x",
        "note: slow",
    ]


def test_a_failure_is_told_once_by_the_verdict_or_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    printer = TurnPrinter(StatusLine(enabled=False), colour=False)
    printer.show(Failed("gone"))
    printer.tell_failure("the agent program ended or broke: gone")
    assert capsys.readouterr().err == ""
    printer.show(Failed("gone"))
    printer.tell_failure("the turn was cancelled")
    printer.tell_failure("the turn was cancelled")
    assert capsys.readouterr().err == "the turn failed: gone\n"


def test_a_plan_is_shown_once_and_then_what_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    first = (("pending", "look"), ("pending", "answer"))
    done = (("completed", "look"), ("in_progress", "answer"))
    _, err = printed(capsys, PlanChanged(first, first), PlanChanged((*done, ("pending", "x")), done))
    assert err.splitlines() == ["plan:", "  [ ] look", "  [ ] answer", "  [x] look"]


def test_what_an_agent_says_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;title\x07\x1b[2Jtext\u202e"
    out, err = printed(capsys, Text(evil), ToolEnded(ToolCall("1", title=evil, status="completed")), Notice(evil))
    assert not any(character in out + err for character in "\x1b\x07\u202e")


def test_colours_only_where_they_are_welcome(capsys: pytest.CaptureFixture[str]) -> None:
    broken = ToolEnded(ToolCall("1", title="Run it", status="failed"))
    assert "\x1b[31m" in printed(capsys, broken, colour=True)[1]
    assert "\x1b" not in printed(capsys, broken)[1]
