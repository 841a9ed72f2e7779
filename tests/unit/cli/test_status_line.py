"""What is shown while something takes long: a moving line, a line now and then, or nothing for a program."""

import re
import time

import pytest

from compozy.cli.status_line import StatusLine
from compozy.cli.turns import about_the_start

BOUND = 30.0


def shown_until(capsys: pytest.CaptureFixture[str], line: StatusLine, wanted: str) -> str:
    shown, deadline = "", time.monotonic() + BOUND
    with line.moving():
        while wanted not in shown and time.monotonic() < deadline:
            shown += capsys.readouterr().err
            time.sleep(0.01)
    return shown + capsys.readouterr().err


def test_where_no_line_can_move_a_long_wait_is_told_in_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    line = StatusLine(enabled=False, tells=True, activity="starting scout", tell_after=(0.01,))
    line.explain = lambda: "; it is fetched"
    told = shown_until(capsys, line, "\nstill")
    assert re.match(r"(still starting scout · \d+s; it is fetched\n){2}", told), told
    assert "\r" not in told and "\x1b" not in told


def test_a_short_wait_and_a_program_hear_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with StatusLine(enabled=False, tells=True).moving():
        pass
    with StatusLine(enabled=False, tell_after=(0.0,)).moving():
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("provider", "told"), [("claude", True), ("offline", False), ("mine", False)])
def test_only_a_program_that_a_package_runner_brings_may_have_to_be_fetched(provider: str, told: bool) -> None:
    assert ("fetched the first time" in about_the_start(provider)) is told
