"""`compozy skill check`: the checker of `compozy agent check` for skills only (issue 3 item 4)."""

from pathlib import Path

import click

from compozy.catalog.checking.targets import Kind
from compozy.cli.checking.command import CheckCommand, check_options, run_check
from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation


@click.command("check", cls=CheckCommand)
@check_options
@pass_invocation
def command(invocation: Invocation, paths: tuple[Path, ...], fix: bool, diff: bool, strict: bool) -> int:
    """Check SKILL.md files, skill folders, or all skills visible from here, and repair them.

    Needs no daemon. Exit codes: 0 clean, 1 problems, 2 usage.
    """
    return run_check(invocation, paths, fix=fix, diff=diff, strict=strict, only=Kind.SKILL)


command.examples = ("compozy skill check", "compozy skill check --fix skills/reconcile/SKILL.md")
