"""Going on after a repair: the text as it would be, so that one run finds every problem (decisions D5).

A repair that leaves the text as it was is taken back. Knows no format.
"""

from compozy.documents.problems import Problem
from compozy.documents.source import MendedSource, SourceText


def mend(source: SourceText, problems: list[Problem]) -> MendedSource | None:
    """The text with the problems' ready edits made; None when there are none that change it."""
    edits: list[tuple[int, int, str]] = []
    for problem in problems:
        if problem.fix is None or problem.fix.kind != "edits":
            continue
        own = problem.fix.edits
        if all(source.normal[start:end] == replacement for start, end, replacement in own):
            problem.fix = None
            continue
        edits.extend(own)
    return MendedSource(source, edits) if edits else None
