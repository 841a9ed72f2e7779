"""What a run read: entries with their places and problems, and the error for what cannot be loaded (OCM §3; P28).

Knows neither files nor formats.
"""

from collections.abc import Mapping, Sequence

import msgspec

from compozy.model.diagnostic import Position, Severity
from compozy.model.errors import InvalidRequest
from compozy.model.record import Record
from compozy.ocm.problems import Problem


class Entry(Record, frozen=True, kw_only=True):
    """One manifest or native entry as read, with its place and its problems."""

    document: object
    path: str
    position: Position | None = None
    is_native: bool = False
    problems: tuple[Problem, ...] = ()

    @property
    def id(self) -> str | None:
        """The id as written, or None where there is no text."""
        found = self.document.get("id") if isinstance(self.document, Mapping) else None
        return found if isinstance(found, str) else None

    @property
    def place(self) -> str:
        """The place as messages name it."""
        return f"{self.path}:{self.position.line}" if self.position is not None else self.path

    @property
    def is_valid(self) -> bool:
        """Whether it can be used."""
        return all(problem.severity is not Severity.ERROR for problem in self.problems)


class Loaded(msgspec.Struct, kw_only=True):
    """What a run read. `problems` are those that belong to no entry; `texts` hold the files with problems."""

    files: int = 0
    entries: list[Entry] = []
    problems: list[Problem] = []
    texts: dict[str, str] = {}
    order: dict[str, int] = {}
    """The paths in the order they were read."""

    def all_problems(self) -> list[Problem]:
        """Every problem, of files and entries, in the order of the files."""
        found = [*self.problems, *(problem for entry in self.entries for problem in entry.problems)]
        last = len(self.order)
        return sorted(found, key=lambda one: (self.order.get(one.path, last), *line_of(one)))

    def fails(self, *, strict: bool = False) -> bool:
        """Whether something is wrong: errors, or warnings too when strict."""
        return any(strict or problem.severity is Severity.ERROR for problem in self.all_problems())

    @property
    def manifests(self) -> list[Entry]:
        return [entry for entry in self.entries if not entry.is_native]

    @property
    def natives(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.is_native]


class CatalogueError(InvalidRequest):
    """Manifests that cannot be loaded; `problems` lists everything that is wrong in all files."""

    default_code = "manifest_invalid"
    category = "ocm"

    def __init__(self, problems: Sequence[Problem]) -> None:
        bad = [problem for problem in problems if problem.severity is Severity.ERROR] or list(problems)
        first = bad[0]
        where = f"{first.path}:{first.position.line}" if first.position else first.path
        rest = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        said = first.message if first.message.startswith(f"{where}: ") else f"{where}: {first.message}"
        super().__init__(f"{said}{rest}; see `compozy ocm validate`", code=self.default_code)
        self.problems = tuple(problems)


def line_of(problem: Problem) -> tuple[int, int]:
    """Return the line and column of a problem, zeros where it has none."""
    return (problem.position.line, problem.position.column) if problem.position is not None else (0, 0)
