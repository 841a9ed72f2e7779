"""Applying the repairs of diagnostics to a text until nothing is left to repair (issue 3, decisions D5).

Pure text: reading and writing files, and which checks exist, are the caller's.
"""

from collections.abc import Callable, Iterable

from compozy.model.diagnostic import Diagnostic, Severity, TextEdit
from compozy.model.record import Record

Check = Callable[[str], tuple[Diagnostic, ...]]
# Each round mends what the round before laid bare; more means that two repairs undo each other.
_MAX_ROUNDS = 50
# Repairs of one round that are tried one by one where all at once lead nowhere; each costs a check.
_MAX_TRIALS = 50


class RepairOutcome(Record, frozen=True, kw_only=True):
    """The text after all repairs, what was done, and what the checks still say about it."""

    text: str
    titles: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def repair(text: str, check: Check) -> RepairOutcome:
    """Apply repairs round by round until the text is stable: errors first, then warnings.

    A repair of a warning that would bring an error is left out: a file that loads must load afterwards. Repairing
    the outcome again changes nothing: the loop ends only when no repair changes the text any more, or when a text
    comes back that was there before.
    """
    titles: list[str] = []
    seen = {text}
    diagnostics = check(text)
    for _ in range(_MAX_ROUNDS):
        repaired, done = _repair_errors(text, _errors(diagnostics), check)
        if repaired == text:
            repaired, done = _repair_warnings(text, diagnostics, check)
        if repaired in seen:
            break
        seen.add(repaired)
        text = repaired
        titles += done
        diagnostics = check(text)
    return RepairOutcome(text=text, titles=tuple(titles), diagnostics=diagnostics)


def _errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [one for one in diagnostics if one.severity is Severity.ERROR]


def _repair_errors(text: str, errors: list[Diagnostic], check: Check) -> tuple[str, list[str]]:
    """Apply the repairs of one round.

    Where all of them together leave an error without a repair, those that do so wait for the next round: of a
    misspelled field that stands there twice the repetition goes first, and then what is left gets its name.
    """
    repaired, done = apply_repairs(text, errors)
    known = _without_repair(errors)
    if len(errors) > _MAX_TRIALS or not done or _without_repair(check(repaired)) <= known:
        return repaired, done
    chosen: list[Diagnostic] = []
    for one in errors:
        tried, _ = apply_repairs(text, [*chosen, one])
        if tried != text and _without_repair(check(tried)) <= known:
            chosen.append(one)
    # What only lies bare now was there before: then nothing is gained by waiting.
    return apply_repairs(text, chosen) if chosen else (repaired, done)


def _without_repair(diagnostics: Iterable[Diagnostic]) -> int:
    return sum(one.repair is None for one in _errors(diagnostics))


def _repair_warnings(text: str, diagnostics: tuple[Diagnostic, ...], check: Check) -> tuple[str, list[str]]:
    """Apply the first repair of a warning that brings no error."""
    errors = len(_errors(diagnostics))
    for one in diagnostics:
        if one.severity is not Severity.ERROR and one.repair is not None:
            repaired, done = apply_repairs(text, [one])
            if repaired != text and len(_errors(check(repaired))) <= errors:
                return repaired, done
    return text, []


def apply_repairs(text: str, diagnostics: Iterable[Diagnostic]) -> tuple[str, list[str]]:
    """Apply each repair that touches no text an earlier one touched; return text and titles of what was done."""
    taken: list[TextEdit] = []
    titles: list[str] = []
    for diagnostic in diagnostics:
        if diagnostic.repair is None:
            continue
        edits = [edit for edit in diagnostic.repair.edits if edit not in taken]
        if edits and not any(_touch(edit, other) for edit in edits for other in taken):
            taken += edits
            titles.append(diagnostic.repair.title)
    for edit in sorted(taken, key=lambda one: (one.start, one.end), reverse=True):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
    return text, titles


def _touch(left: TextEdit, right: TextEdit) -> bool:
    if left.start == left.end or right.start == right.end:
        # Two insertions at one place, or one at the rim of a replacement, have no order of their own.
        return left.start <= right.end and right.start <= left.end
    return left.start < right.end and right.start < left.end
