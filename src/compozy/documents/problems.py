"""Problems found in one text, and how they become diagnostics with a place and a repair (decisions D5).

A check says *what* is wrong and *where in the value tree*; the reader of the format, asked only when there is
something to report, says where that lies in the text. Knows no field and no rule.
"""

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

from compozy.documents import codes
from compozy.documents.limits import MAX_PROBLEMS
from compozy.documents.source import SourceText
from compozy.model.diagnostic import Diagnostic, Position, Repair, Severity, TextEdit
from compozy.model.errors import InvalidRequest

Path = tuple[str | int, ...]
Span = tuple[int, int]
Part = Literal["key", "value"]


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """How to mend a problem, said in terms of the value tree; the format's reader turns it into text edits.

    `kind`: rename_key (text), set_value (text, quoted as needed), set_literal (text as it is), set_list (items),
    drop (the entry), edits (ready, in `normal`).
    """

    title: str
    kind: Literal["rename_key", "set_value", "set_literal", "set_list", "drop", "edits"]
    text: str = ""
    items: tuple[str, ...] = ()
    edits: tuple[tuple[int, int, str], ...] = ()


class Problem(msgspec.Struct, kw_only=True):
    """One finding. `span` (offsets in the normalised text) wins over `path` when both are given."""

    code: str
    message: str
    path: Path = ()
    part: Part = "value"
    span: Span | None = None
    suggestion: str = ""
    cause: str = ""
    fix: Fix | None = None
    file: str = ""
    """Another file than the one checked, when the problem lies in a sidecar."""


class Locator(Protocol):
    """What a format's reader knows about places: spans in the normalised text of the whole file."""

    def key_span(self, path: Path) -> Span | None:
        """The key of the entry at `path`."""
        ...

    def value_span(self, path: Path) -> Span | None:
        """The value at `path`."""
        ...

    def edits(self, path: Path, fix: Fix) -> tuple[tuple[int, int, str], ...]:
        """The text edits of a fix, or none when it cannot be done in place."""
        ...


class DefinitionError(InvalidRequest):
    """A definition that cannot be loaded; `diagnostics` lists everything that is wrong, in check order."""

    default_code = "definition_invalid"
    category = "definition"

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        first = next(d for d in diagnostics if d.severity is Severity.ERROR)
        super().__init__(first.message, code=first.code, details={"path": first.path})
        self.diagnostics = diagnostics
        self.first = first


def has_errors(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> bool:
    """Whether one of them keeps the definition from loading."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


def first_error(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> Diagnostic | None:
    """The first problem in check order, whose message the API shows."""
    return next((d for d in diagnostics if d.severity is Severity.ERROR), None)


def diagnostic(
    code: str,
    message: str,
    path: str,
    *,
    position: Position | None = None,
    suggestion: str = "",
    cause: str = "",
    repair: Repair | None = None,
) -> Diagnostic:
    """Build a diagnostic: severity, kind, standing cause and documentation anchor come from the list of codes."""
    entry = codes.entry(code)
    return Diagnostic(
        code=code,
        severity=entry.severity,
        path=path,
        message=message,
        position=position,
        cause=cause or entry.cause,
        suggestion=suggestion,
        doc=codes.anchor(code),
        repair=repair,
        kind=entry.kind,
    )


def to_diagnostics(
    problems: list[Problem], path: str, source: SourceText, locate: Callable[[], Locator | None]
) -> tuple[Diagnostic, ...]:
    """Place problems in the file. `locate` is asked once, and only when there is a problem."""
    if not problems:
        return ()
    locator = locate()
    placed = [_place(problem, path, source, locator) for problem in problems[:MAX_PROBLEMS]]
    if len(problems) > MAX_PROBLEMS:
        message = f"more than {MAX_PROBLEMS} problems in this file; the others are not listed"
        placed.append(diagnostic("too-many-problems", message, path))
    return tuple(placed)


def _place(problem: Problem, path: str, source: SourceText, locator: Locator | None) -> Diagnostic:
    span = problem.span
    if span is None and locator is not None:
        span = _find(locator, problem)
    repair = None
    if problem.fix is not None:
        repair = _repair(problem.fix, problem.path, source, locator)
    position = None
    if span is not None:
        position = source.position(source.to_file(span[0]), source.to_file(span[1]))
    return diagnostic(
        problem.code,
        problem.message,
        problem.file or path,
        position=position,
        suggestion=problem.suggestion,
        cause=problem.cause,
        repair=repair,
    )


def _find(locator: Locator, problem: Problem) -> Span | None:
    """The span of the problem's place, else of the nearest enclosing one (a missing field has no place)."""
    span = locator.key_span(problem.path) if problem.part == "key" else locator.value_span(problem.path)
    path = problem.path
    while span is None and path:
        path = path[:-1]
        enclosing = (locator.key_span(path) if path else None) or locator.value_span(path)
        if enclosing is not None:
            span = enclosing if path else (enclosing[0], enclosing[0])
    return span


def _repair(fix: Fix, path: Path, source: SourceText, locator: Locator | None) -> Repair | None:
    edits = fix.edits
    if fix.kind != "edits":
        edits = locator.edits(path, fix) if locator is not None else ()
    if not edits:
        return None
    return Repair(
        title=fix.title,
        edits=tuple(
            TextEdit(start=source.to_file(start), end=source.to_file(end), replacement=replacement)
            for start, end, replacement in edits
        ),
    )
