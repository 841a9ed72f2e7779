"""`compozy agent check`: every problem of authored files with its place, and the repairs (issue 3 item 4)."""

from pathlib import Path

import click

from compozy.cli.checking.command import CheckCommand, check_options, run_check
from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation


@click.command("check", cls=CheckCommand)
@check_options
@pass_invocation
def command(invocation: Invocation, paths: tuple[Path, ...], fix: bool, diff: bool, strict: bool) -> int:
    """Check agent files, agent folders and workspaces, and repair them.

    PATH is a file, an agent folder, a workspace or a home; without one, everything visible from here is checked.
    Needs no daemon. Exit codes: 0 clean, 1 problems, 2 usage.
    """
    return run_check(invocation, paths, fix=fix, diff=diff, strict=strict)


command.examples = (
    "compozy agent check",
    "compozy agent check --fix .compozy/agents/reviewer",
    "compozy agent check --diff . | patch -p1",
    "compozy agent check --strict -o github .",
)
