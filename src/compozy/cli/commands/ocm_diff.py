"""`compozy ocm diff`: what changed between two sets of manifests, and whether it breaks callers (issue 8 item 4)."""

from typing import TYPE_CHECKING

import click

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.answering import answer
from compozy.cli.ocm.command import (
    EXIT_INVALID_MANIFEST,
    is_strict,
    ocm_command,
    read_valid,
    say_passed_over,
    wants_findings,
)
from compozy.cli.output import clean, one_line, write
from compozy.model.diagnostic import Severity
from compozy.ocm.entries import Entry
from compozy.ocm.problems import Problem
from compozy.ocm.sources import STDIN

if TYPE_CHECKING:
    from compozy.ocm.changes import Change


@ocm_command(
    "diff", examples=("compozy ocm diff old.yaml new.yaml", "compozy ocm diff released/ capabilities/ --json")
)
@click.argument("old")
@click.argument("new")
@pass_invocation
def command(invocation: Invocation, old: str, new: str) -> int:
    """Compare manifests by id and say of each change whether it is breaking or additive.

    Native entries promise their callers nothing: they are not compared, and that is said.
    Exit codes: 0 nothing breaks, 2 something does, or a manifest is invalid; under --strict any change is 2.
    """
    from compozy.ocm.changes import compare  # noqa: PLC0415 - start-up cost
    from compozy.ocm.loading import target_of  # noqa: PLC0415 - start-up cost

    if old == new == STDIN:
        raise click.UsageError("standard input can be one side of the comparison only")
    sides = [read_valid([path]) for path in (old, new)]
    entries = [{str(entry.id): entry for entry in side.manifests} for side in sides]
    changes = compare(*({name: target_of(entry) for name, entry in side.items()} for side in entries))
    breaking = sum(1 for change in changes if change.change == "breaking")
    if wants_findings(invocation):
        from compozy.cli.ocm.reporting import report_problems  # noqa: PLC0415 - start-up cost

        return report_problems(
            invocation,
            [
                *(_finding(change, *entries) for change in changes),
                *map(_passed_over, sides[0].natives + sides[1].natives),
            ],
            tool="ocm diff",
            strict=is_strict(),
        )
    if invocation.is_human:
        for change in changes:
            where = f"{change.id} {change.field}".strip()
            write(clean(one_line(f"{change.change.ljust(8)}  {where}: {change.message}")) + "\n")
        write(f"{breaking} breaking, {len(changes) - breaking} additive\n")
        for path, side in zip((old, new), sides, strict=True):
            say_passed_over(invocation, path, side.natives)
    else:
        passed_over = {name: len(side.natives) for name, side in zip(("old", "new"), sides, strict=True)}
        answer(invocation, {"breaking": breaking, "changes": changes, "native_entries_passed_over": passed_over})
    return EXIT_INVALID_MANIFEST if breaking or (is_strict() and changes) else 0


def _finding(change: "Change", old: dict[str, Entry], new: dict[str, Entry]) -> Problem:
    # What is gone has its place in the old files only.
    entry = new.get(change.id) or old[change.id]
    return Problem(
        code=f"change-{change.change}",
        field=change.field,
        message=f"{change.id}: {change.message}",
        severity=Severity.ERROR if change.change == "breaking" else Severity.WARNING,
        path=entry.path,
        position=entry.position,
    )


def _passed_over(entry: Entry) -> Problem:
    return Problem(
        code="native-entry",
        field="",
        message=f"{entry.id}: a native entry, not compared; `compozy ocm convert` makes a manifest of it",
        severity=Severity.INFO,
        path=entry.path,
        position=entry.position,
    )
