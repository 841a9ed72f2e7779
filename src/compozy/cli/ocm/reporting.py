"""Findings on manifests in the formats of the checker (decisions D30). Imported when there is something to show."""

import os
from collections.abc import Mapping, Sequence

import click
import msgspec

from compozy.catalog.checking.run import CheckReport
from compozy.cli.checking.formats import write_for_programs
from compozy.cli.checking.report import as_json, summary
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.command import EXIT_INVALID_MANIFEST, mark_reported
from compozy.cli.output import write, write_json
from compozy.model.diagnostic import Diagnostic
from compozy.ocm.entries import Loaded
from compozy.ocm.problems import CODES, Problem
from compozy.ocm.sources import STDIN, STDIN_NAME


def diagnostic_of(problem: Problem) -> Diagnostic:
    """Return a problem as the checker shows problems."""
    is_named = problem.message.startswith(problem.field) or repr(problem.field) in problem.message
    field = "" if is_named else f"{problem.field}: "
    return Diagnostic(
        code=problem.code,
        severity=problem.severity,
        path=problem.path,
        message=f"{field}{problem.message}",
        position=problem.position,
        cause=CODES[problem.code],
        suggestion=problem.suggestion,
        doc=f"docs/ocm.md#code-{problem.code.replace('.', '')}",
        kind="ocm",
    )


def report_of(loaded: Loaded) -> CheckReport:
    """Return a run as the checker's report."""
    found = tuple(diagnostic_of(problem) for problem in loaded.all_problems())
    return CheckReport(files=loaded.files, diagnostics=found, texts=loaded.texts)


def report_problems(
    invocation: Invocation,
    problems: Sequence[Problem],
    *,
    tool: str,
    strict: bool = False,
    texts: Mapping[str, str] | None = None,
) -> int:
    """Print problems of a command that is no checker, and return the exit code."""
    # A finding needs a file to stand beside: what has no place of its own stands beside what was named first.
    problems = [one if one.path else msgspec.structs.replace(one, path=_first_path()) for one in problems]
    found = tuple(map(diagnostic_of, problems))
    files = len({problem.path for problem in problems if problem.path})
    report = CheckReport(files=files, diagnostics=found, texts=dict(texts or {}))
    return show_report(invocation, report, tool=f"compozy {tool}", strict=strict)


def _first_path() -> str:
    given = click.get_current_context().params
    for name in ("paths", "folder", "old", "outcomes", "path"):
        value = given.get(name)
        first = value[0] if isinstance(value, tuple) and value else value
        if isinstance(first, str | os.PathLike) and os.fspath(first) not in ("", STDIN):
            return os.fspath(first)
    return STDIN_NAME


def show_report(invocation: Invocation, report: CheckReport, *, tool: str, strict: bool) -> int:
    """Print a report in the chosen format and return the exit code."""
    mark_reported()
    if invocation.format == "json":
        write_json({"summary": summary(report), "diagnostics": [as_json(one) for one in report.diagnostics]})
    elif not write_for_programs(invocation.format, report, tool=tool):
        from compozy.cli.checking.human import render  # noqa: PLC0415 - start-up cost

        write(render(report, colour=invocation.has_colour, strict=strict))
    return EXIT_INVALID_MANIFEST if report.fails(strict=strict) else 0
