"""`compozy ocm diff`: what changed between two sets of manifests, and whether it breaks callers (issue 8 item 4)."""

import click
import msgspec

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.command import EXIT_INVALID_MANIFEST, ocm_command, valid_entries
from compozy.cli.output import clean, one_line, write, write_json


@ocm_command(
    "diff", examples=("compozy ocm diff old.yaml new.yaml", "compozy ocm diff released/ capabilities/ --json")
)
@click.argument("old")
@click.argument("new")
@pass_invocation
def command(invocation: Invocation, old: str, new: str) -> int:
    """Compare manifests by id and say of each change whether it is breaking or additive.

    Exit codes: 0 nothing breaks, 2 something does, or a manifest is invalid.
    """
    from compozy.ocm.changes import compare  # noqa: PLC0415 - start-up cost
    from compozy.ocm.loading import target_of  # noqa: PLC0415 - start-up cost

    sides = []
    for path in (old, new):
        targets = [target_of(entry) for entry in valid_entries([path])]
        sides.append({target.id: target for target in targets})
    changes = compare(*sides)
    breaking = sum(1 for change in changes if change.change == "breaking")
    if invocation.is_human:
        for change in changes:
            where = f"{change.id} {change.field}".strip()
            write(clean(one_line(f"{change.change.ljust(8)}  {where}: {change.message}")) + "\n")
        write(f"{breaking} breaking, {len(changes) - breaking} additive\n")
    else:
        write_json({"breaking": breaking, "changes": msgspec.to_builtins(changes)})
    return EXIT_INVALID_MANIFEST if breaking else 0
