"""Writes the steps of a turn for a person: the answer on standard output, everything around it on standard error.

So `compozy run … > answer.md` keeps the answer alone. On a terminal a status line moves below; elsewhere every
line is final. It decides nothing: questions and endings are `compozy.cli.turns`' business.
"""

import sys
from typing import assert_never

from compozy.cli.output import clean, few, one_line
from compozy.cli.status_line import StatusLine
from compozy.cli.turn_record import (
    DECISIONS,
    Asked,
    Decided,
    Failed,
    Finished,
    Notice,
    Permission,
    PlanChanged,
    PlanEntry,
    Questioned,
    Step,
    Text,
    TextEnded,
    Thought,
    ToolCall,
    ToolEnded,
    ToolStarted,
)

_PLAN_MARKS = {"completed": "[x]", "in_progress": "[>]"}
_DIM, _RED, _RESET = "\x1b[2m", "\x1b[31m", "\x1b[0m"


class TurnPrinter:
    """Prints one turn as it comes."""

    def __init__(self, status: StatusLine, *, colour: bool) -> None:
        self.status = status
        self.colour = colour
        self.at_line_start = True
        self.failure = ""

    def show(self, step: Step) -> None:
        """Print what one step means to a person."""
        match step:
            case Text(text):
                self._answer(clean(text))
            case TextEnded() | Finished():
                self._end_line()
            case Thought(text):
                self.status.activity = "thinking"
            case ToolStarted(call):
                self.status.activity = clean(one_line(tool_text(call)))
            case ToolEnded(call):
                self._tool_ended(call)
            case PlanChanged(entries, changed):
                self._plan(entries, changed)
            case Asked(permission):
                self.status.activity = "waiting for permission"
            case Decided(permission):
                self.line(f"{decision_text(permission)}: {permission.subject}")
            case Questioned(_, text, command):
                self.status.activity = "waiting for an answer"
                self.line(f"the agent asks: {text}; answer with: {command}")
            case Notice(text):
                self.line(f"note: {text}")
            case Failed(text):
                # The verdict on the turn says it too, mostly.
                self.failure = text
            case _:
                assert_never(step)

    def tell_failure(self, said: str) -> None:
        """Print why the turn failed unless what is `said` about it tells that already."""
        if self.failure and self.failure not in said:
            self.line(f"the turn failed: {self.failure}", colour=_RED)
        self.failure = ""

    def line(self, text: str, *, colour: str = _DIM) -> None:
        """Print one line beside the answer."""
        self._end_line()
        self.status.hide()
        safe = clean(one_line(text))
        sys.stderr.write(f"{colour}{safe}{_RESET}\n" if self.colour else f"{safe}\n")
        sys.stderr.flush()

    def tick(self) -> None:
        """Let the status line move; called about ten times a second."""
        if self.at_line_start:
            self.status.draw()

    def close(self) -> None:
        """End the last line and take the status line away."""
        self._end_line()
        self.status.hide()

    def _answer(self, text: str) -> None:
        if text:
            self.status.hide()
            self.status.activity = "answering"
            sys.stdout.write(text)
            sys.stdout.flush()
            self.at_line_start = text.endswith("\n")

    def _end_line(self) -> None:
        if not self.at_line_start:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self.at_line_start = True

    def _tool_ended(self, call: ToolCall) -> None:
        self.status.activity = "working"
        if call.status == "failed":
            self.line(f"✗ {tool_text(call)}" + (f": {call.error}" if call.error else ""), colour=_RED)
        else:
            self.line(f"✓ {tool_text(call)}")

    def _plan(self, entries: tuple[PlanEntry, ...], changed: tuple[PlanEntry, ...]) -> None:
        is_new = len(changed) == len(entries)
        done = sum(status == "completed" for status, _ in entries)
        self.status.suffix = f" · step {min(done + 1, len(entries))} of {len(entries)}"
        if is_new:
            self.line("plan:")
        for status, text in changed:
            if is_new or status == "completed":
                self.line(f"  {_PLAN_MARKS.get(status, '[ ]')} {text}")
            elif status == "in_progress":
                self.status.activity = clean(one_line(text))


def decision_text(permission: Permission) -> str:
    """Return who decided what about a question; one that nobody decided was withdrawn."""
    if permission.decision not in DECISIONS:
        return "withdrawn"
    by = {"provider": " by policy", "operator": " by a person"}.get(permission.decided_by, "")
    return permission.decision.replace("-", " ") + by


def tool_text(call: ToolCall) -> str:
    """Return a tool call in a few words, with the places its title does not name already."""
    title = call.title or call.kind or "tool"
    places = [place for place in call.places if place.rpartition("/")[2].partition(":")[0] not in title]
    return f"{title} ({few(places)})" if places else title
