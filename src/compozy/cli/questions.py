"""Asking a person in the terminal whether an agent may do something: the question, its answers, its expiry.

The default is no: an empty line, the end of input and the clock all deny. What was typed before the question
appeared never answers it. Implements issue 2 item 8; the wait of the daemon is contract §5.5.
"""

import os
import select
import sys
import termios
import time
from collections.abc import Sequence

from compozy.cli.turn_record import Permission
from compozy.cli.wording import write_duration

# The daemon answers for the person after this long, unless the interaction says otherwise (contract §5.5).
DEFAULT_WAIT_SECONDS = 300.0
# A question must fit on a screen together with its answers.
_MOST_LINES = 12
_KEYS = {"allow-once": "y", "allow-always": "a", "reject-once": "n", "reject-always": "d"}
_WORDS = {"allow-once": "yes, once", "allow-always": "yes, always", "reject-once": "no", "reject-always": "no, never"}
_SPELLINGS = {"yes": "y", "allow": "y", "always": "a", "no": "n", "deny": "n", "never": "d"}


class Question:
    """One question on the terminal; `poll` returns a decision as soon as there is one."""

    def __init__(self, permission: Permission, *, agent: str, wait_seconds: float | None = None) -> None:
        self.permission = permission
        self.agent = agent
        self.wait_seconds = DEFAULT_WAIT_SECONDS if wait_seconds is None else wait_seconds
        self.deadline = time.monotonic() + self.wait_seconds
        self._typed = b""

    def show(self) -> None:
        """Write the question; forget what was typed before it."""
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        sys.stderr.write(question_text(self.permission, self.agent, self.wait_seconds))
        sys.stderr.flush()

    def poll(self) -> str | None:
        """Return the decision when the person has answered, without waiting."""
        if not select.select([sys.stdin], [], [], 0)[0]:
            return None
        data = os.read(sys.stdin.fileno(), 4096)
        self._typed += data
        if data and b"\n" not in self._typed:
            return None
        line, _, self._typed = self._typed.partition(b"\n")
        decision = decision_of(line.decode(errors="replace"), choices(self.permission))
        if decision is None:
            sys.stderr.write(answer_line(choices(self.permission), "please answer with one of these"))
            sys.stderr.flush()
        return decision


def choices(permission: Permission) -> tuple[str, ...]:
    """Return the decisions to offer, yes before no; the agent's own where it names any."""
    offered = permission.choices or ("allow-once", "reject-once")
    return tuple(decision for decision in _KEYS if decision in offered or decision == "reject-once")


def carried(permission: Permission, decision: str) -> str:
    """Return the decision to send: the wished one, else its nearest kin on offer, "" when the agent offers none."""
    verb = decision.partition("-")[0]
    offered = permission.choices or (decision,)
    wished = (decision, f"{verb}-once", f"{verb}-always")
    return next((candidate for candidate in wished if candidate in offered), "")


def question_text(permission: Permission, agent: str, wait_seconds: float) -> str:
    """Return the whole question: who asks, what for, where, which answers there are, and until when."""
    kind = f" ({permission.kind})" if permission.kind else ""
    lines = [f"? {agent} asks for permission{kind}: {permission.title or permission.subject}"]
    if permission.command:
        lines.append(f"    command  {permission.command}")
    named = " ".join(permission.changes)
    places = [place for place in permission.places if place.partition(":")[0] not in named]
    lines += _listed("change", permission.changes) + _listed("where", places)
    expiry = f"no answer within {write_duration(wait_seconds)} means no"
    return "".join(f"\n{exact(line)}" for line in lines) + "\n" + answer_line(choices(permission), expiry)


def _listed(title: str, items: Sequence[str]) -> list[str]:
    lines = [f"    {title:<8} {item}" for item in items[:_MOST_LINES]]
    rest = len(items) - _MOST_LINES
    return [*lines, f"    {title:<8} and {rest} more"] if rest > 0 else lines


def exact(text: str) -> str:
    """Show every character that is not printable by its escape: a question must not look like another one."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def answer_line(offered: tuple[str, ...], remark: str) -> str:
    """Return the lines that name the answers and wait for one."""
    keys = "   ".join(f"[{_KEYS[decision]}] {_WORDS[decision]}" for decision in offered)
    return f"  {keys}   ({remark})\n  your answer [n]: "


def decision_of(line: str, offered: tuple[str, ...]) -> str | None:
    """Return the decision a typed line means: nothing is no, anything that is not offered is None."""
    word = line.strip().lower()
    key = _SPELLINGS.get(word, word)
    if not key:
        return "reject-once"
    return next((decision for decision in offered if _KEYS[decision] == key), None)
