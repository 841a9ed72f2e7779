"""What the checker says about a file: one problem, its exact place, and the edit that mends it (decisions D5).

Lines and columns count from 1 as an editor shows them in the *file*; columns count characters (code points).
Not to be confused with `ApiDiagnostic` of the HTTP envelope, which lives in `model/api.py`.
"""

from enum import StrEnum

from compozy.model.record import Record


class Severity(StrEnum):
    """How bad it is: an error keeps the definition from loading, a warning never does."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Position(Record, frozen=True, kw_only=True):
    """A place in a file: line and column from 1; `length` in characters, 0 when only a point is known."""

    line: int
    column: int
    length: int = 0


class TextEdit(Record, frozen=True, kw_only=True):
    """Replace the characters [start, end) of the file's decoded text by `replacement` (offsets in code points)."""

    start: int
    end: int
    replacement: str


class Repair(Record, frozen=True, kw_only=True):
    """An edit that mends the problem, with a sentence that says what it does. Edits never overlap."""

    title: str
    edits: tuple[TextEdit, ...]


class Diagnostic(Record, frozen=True, kw_only=True):
    """One problem in one file.

    `code` is from the list at the end of formats.md (or one of our own warnings), `message` opens with the
    contract's text where one exists, `cause` explains in one sentence, `suggestion` is the nearest valid key or
    value, `doc` an anchor in docs/formats.md.
    """

    code: str
    severity: Severity
    path: str
    message: str
    position: Position | None = None
    cause: str = ""
    suggestion: str = ""
    doc: str = ""
    repair: Repair | None = None
    kind: str = ""
    """The `error_kind` of an agent row's diagnostics, for example ``frontmatter.missing`` (contract §2.5)."""
