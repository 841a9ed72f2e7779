"""The shape shared by `agent check` and `skill check`: options, output formats, exit codes (issue 3 item 4, D30)."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from compozy.catalog.checking.run import (
    CheckReport,
    RepairedFile,
    check,
    check_everything_visible,
    check_targets,
    find_targets,
    repair_targets,
    visible_targets,
)
from compozy.catalog.checking.targets import Kind, NothingToCheck
from compozy.cli.checking.formats import write_for_programs
from compozy.cli.checking.report import as_json, shown_path, summary
from compozy.cli.groups import Command
from compozy.cli.invocation import FORMATS, Invocation
from compozy.cli.output import clean, write, write_json

CHECK_FORMATS = (*FORMATS, "sarif", "github")


def _set_format(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value:
        ctx.ensure_object(Invocation).use_format("json" if value is True else str(value))


class CheckCommand(Command):
    """A command whose `-o` also knows the formats of code scanning and pull requests."""

    is_short = True

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = click.Command.get_params(self, ctx)
        output = [
            click.Option(
                ["-o", "--output"],
                type=click.Choice(CHECK_FORMATS),
                expose_value=False,
                callback=_set_format,
                help="How to print the findings (default: human).",
            ),
            click.Option(["--json"], is_flag=True, expose_value=False, callback=_set_format, help="Same as -o json."),
        ]
        return [*params[:-1], *output, *params[-1:]]


def check_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the argument and the options of a checking command."""
    decorators = (
        click.argument("paths", nargs=-1, type=click.Path(path_type=Path)),
        click.option("--fix", is_flag=True, help="Write every repair; all other bytes stay."),
        click.option("--diff", is_flag=True, help="Print what --fix would change as a patch; change nothing."),
        click.option("--strict", is_flag=True, help="Warnings fail as well."),
    )
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


def run_check(
    invocation: Invocation, paths: Sequence[Path], *, fix: bool, diff: bool, strict: bool, only: Kind | None = None
) -> int:
    """Check, repair when asked, print, and return the exit code: 0 clean, 1 problems (2, usage, is raised).

    Raises:
        click.UsageError: a path does not exist or holds nothing to check; --fix and --diff together.
    """
    if fix and diff:
        raise click.UsageError("--fix writes and --diff only shows; give one of them")
    home = invocation.home.root
    try:
        targets = find_targets(paths) if paths else visible_targets(Path.cwd(), home)
    except NothingToCheck as error:
        raise click.UsageError(error.message) from error
    if only is not None:
        targets = [target for target in targets if target.kind is only]
        if paths and not targets:
            raise click.UsageError(f"there is no {only.value} at the given path; name one, or a folder of them")
    changes: tuple[RepairedFile, ...] = ()
    if fix or diff:
        changes = repair_targets(targets, write=fix)
    if only is not None:
        report = check_targets(targets)
    else:
        report = check(paths) if paths else check_everything_visible(Path.cwd(), home)
    if fix:
        report.repaired = tuple((change.path, title) for change in changes for title in change.titles)
    show(invocation, report, changes if diff else (), strict=strict, only_diff=diff)
    return 1 if report.fails(strict=strict) else 0


def show(
    invocation: Invocation, report: CheckReport, changes: Sequence[RepairedFile], *, strict: bool, only_diff: bool
) -> None:
    """Print a report in the chosen format."""
    if write_for_programs(invocation.format, report):
        return
    if invocation.format == "json":
        write_json(_json(report, changes, only_diff=only_diff))
    else:
        _show_human(invocation, report, changes, strict=strict, only_diff=only_diff)


def _json(report: CheckReport, changes: Sequence[RepairedFile], *, only_diff: bool) -> dict[str, object]:
    record: dict[str, object] = {
        "summary": summary(report),
        "diagnostics": [as_json(one) for one in report.diagnostics],
        "repaired": [{"path": path, "title": title} for path, title in report.repaired],
    }
    if only_diff:
        record["changes"] = [{"path": change.path, "diff": unified(change)} for change in changes]
    return record


def _show_human(
    invocation: Invocation, report: CheckReport, changes: Sequence[RepairedFile], *, strict: bool, only_diff: bool
) -> None:
    from compozy.cli.checking.human import Painter, line_of, render, summary_line  # noqa: PLC0415 - start-up cost

    colour = invocation.has_colour
    if only_diff:
        for change in changes:
            text = unified(change)
            # A patch must stay exact for the program that reads it; a terminal must not be driven by a file.
            write(clean(text) if invocation.is_terminal else text)
        sys.stdout.flush()
        sys.stderr.write(summary_line(report, Painter(False), strict=strict) + "\n")
        return
    for path, title in report.repaired:
        write(f"repaired {line_of(shown_path(path))}: {line_of(title)}\n")
    write(render(report, colour=colour, strict=strict))


def unified(change: RepairedFile) -> str:
    """Return a unified diff that `patch -p1` accepts from the current folder."""
    import difflib  # noqa: PLC0415 - start-up cost

    name = shown_path(change.path).lstrip("/")
    rows = difflib.unified_diff(_lines(change.before), _lines(change.after), f"a/{name}", f"b/{name}")
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


def _lines(text: str) -> list[str]:
    """Split at LF only, as `patch` does; the other line breaks of Unicode are text."""
    rows = [row + "\n" for row in text.split("\n")]
    rows[-1] = rows[-1][:-1]
    return rows if rows[-1] else rows[:-1]
