"""`compozy ocm validate`: the summary that users of the reference know, with places (OCM §6; issue 8 item 4)."""

import click

from compozy.cli.checking.report import as_json, shown_path
from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.command import EXIT_INVALID_MANIFEST, ocm_command, read_paths
from compozy.cli.output import clean, one_line, write, write_json
from compozy.model.diagnostic import Severity
from compozy.ocm.entries import Loaded
from compozy.ocm.problems import Problem

_LONGEST_ID = 500


@ocm_command(
    "validate",
    examples=(
        "compozy ocm validate capability.yaml",
        "compozy ocm validate capabilities/ 'teams/*/targets.yaml' --strict",
        "compozy ocm validate - --json < capability.json",
        "compozy ocm validate . -o sarif > manifests.sarif",
    ),
)
@click.argument("paths", nargs=-1)
@click.option("--strict", is_flag=True, help="Warnings fail as well.")
@click.option("--watch", "is_watching", is_flag=True, help="Run again after each change, until Ctrl-C.")
@pass_invocation
def command(invocation: Invocation, paths: tuple[str, ...], strict: bool, is_watching: bool) -> int:
    """Check Open Capability Manifests in files, folders, globs or standard input (-).

    Every problem of every file is shown with its place. Needs no daemon. Exit codes: 0 valid, 2 invalid or usage.
    """
    if is_watching:
        from compozy.cli.ocm.watching import watch  # noqa: PLC0415 - start-up cost

        return watch(paths, lambda: _run(invocation, paths, strict=strict))
    return _run(invocation, paths, strict=strict)


def _run(invocation: Invocation, paths: tuple[str, ...], *, strict: bool) -> int:
    loaded = read_paths(paths)
    _name_empty_files(loaded)
    if invocation.format not in ("human", "json"):
        from compozy.cli.ocm.reporting import report_of, show_report  # noqa: PLC0415 - start-up cost

        return show_report(invocation, report_of(loaded), tool="compozy ocm validate", strict=strict)
    fails = loaded.fails(strict=strict)
    rows = _rows(loaded)
    if invocation.is_human:
        _write_rows(loaded, rows, strict=strict)
    else:
        write_json({"valid": not fails, "manifests": [_as_json(row, strict=strict) for row in rows]})
    return EXIT_INVALID_MANIFEST if fails else 0


def _name_empty_files(loaded: Loaded) -> None:
    """A run that found no manifest at all is no success, whatever else the files hold."""
    if not loaded.manifests and not loaded.fails():
        for path in loaded.order:
            is_bare = all(entry.path != path for entry in loaded.entries)
            reason = "the list is empty" if is_bare else "native entries alone are nothing to validate"
            message = f"no manifest in this file: {reason}"
            loaded.problems.append(Problem(code="no-manifest", field="", message=message, path=path))


_Row = tuple[str, str | None, list[Problem]]


def _rows(loaded: Loaded) -> list[_Row]:
    rows: list[_Row] = [
        (entry.path, entry.id, list(entry.problems))
        for entry in loaded.entries
        if not entry.is_native or entry.problems
    ]
    for problem in loaded.problems:
        rows.append((problem.path, None, [problem]))
    return rows


def _fails(problems: list[Problem], *, strict: bool) -> bool:
    return any(strict or problem.severity is Severity.ERROR for problem in problems)


def _write_rows(loaded: Loaded, rows: list[_Row], *, strict: bool) -> None:
    lines: list[str] = []
    for path, identity, problems in rows:
        word = "INVALID" if _fails(problems, strict=strict) else "ok"
        named = f" [{identity[:_LONGEST_ID]}]" if identity is not None else ""
        lines.append(one_line(f"{word} {shown_path(path)}{named}"))
        lines.extend("  " + one_line(_line(problem)) for problem in problems)
    good = sum(1 for entry in loaded.manifests if not _fails(list(entry.problems), strict=strict))
    lines.append(f"{good}/{len(rows)} manifest(s) valid")
    write("".join(clean(line) + "\n" for line in lines))


def _line(problem: Problem) -> str:
    from compozy.cli.ocm.reporting import diagnostic_of  # noqa: PLC0415 - start-up cost

    place = f"{problem.position.line}:{problem.position.column}: " if problem.position is not None else ""
    word = "" if problem.severity is Severity.ERROR else f"{problem.severity.value}: "
    return f"{place}{word}{diagnostic_of(problem).message} [{problem.code}]"


def _as_json(row: _Row, *, strict: bool) -> dict[str, object]:
    from compozy.cli.ocm.reporting import diagnostic_of  # noqa: PLC0415 - start-up cost

    path, identity, problems = row
    record: dict[str, object] = {"path": path}
    if identity is not None:
        record["id"] = identity
    failing = [problem for problem in problems if strict or problem.severity is Severity.ERROR]
    record["errors"] = [
        f"{problem.field}: {problem.message}" if problem.field else problem.message for problem in failing
    ]
    record["diagnostics"] = [{**as_json(diagnostic_of(problem)), "field": problem.field} for problem in problems]
    return record
