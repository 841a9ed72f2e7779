"""Going on after a repair: the text as it would be, so that one run finds every problem (decisions D5).

A repair that brings the reading no further is taken back. Knows no format.
"""

import msgspec

from compozy.documents.limits import MAX_PROBLEMS
from compozy.documents.problems import Problem, to_diagnostics
from compozy.documents.source import MendedSource, SourceText
from compozy.model.diagnostic import Diagnostic

# A repair may lay bare another fault of the same line once; twice without getting further is going in circles.
_PATIENCE = 2


class Attempts:
    """The repairs made so far while reading one text; they must bring the reading further."""

    def __init__(self) -> None:
        self._reached = -1
        self._stuck = 0
        self._solid = 0

    def next(
        self, source: SourceText, problems: list[Problem], diagnostics: list[Diagnostic], path: str
    ) -> MendedSource | None:
        """Report problems of the syntax and return the text with their repairs, or None to stop."""
        for problem in problems:
            _drop_idle(source, problem)
        span = problems[0].span
        at = source.to_file(span[0]) if span is not None else 0
        if at > self._reached:
            self._stuck, self._solid = 0, len(diagnostics)
        else:
            self._stuck += 1
            if self._stuck >= _PATIENCE:
                diagnostics[self._solid + 1 :] = []
                diagnostics[self._solid] = msgspec.structs.replace(diagnostics[self._solid], repair=None)
                return None
        diagnostics += to_diagnostics(problems, path, source, lambda: None)
        edits = [edit for problem in problems if problem.fix is not None for edit in problem.fix.edits]
        if not edits or len(diagnostics) > MAX_PROBLEMS:
            return None
        self._reached = max(self._reached, source.to_file(max(end for _, end, _ in edits)))
        return MendedSource(source, edits)


def _drop_idle(source: SourceText, problem: Problem) -> None:
    """Take back a repair that leaves the text as it is."""
    fix = problem.fix
    if fix is not None and all(source.normal[start:end] == text for start, end, text in fix.edits):
        problem.fix = None
