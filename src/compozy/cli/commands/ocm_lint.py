"""`compozy ocm lint`: what is valid and still unwise, beside what is invalid (issue 8 item 4)."""

import click
import msgspec

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.command import ocm_command, read_paths
from compozy.cli.ocm.reporting import report_of, show_report


@ocm_command(
    "lint",
    examples=(
        "compozy ocm lint capabilities/",
        "compozy ocm lint targets.yaml --strict",
        "compozy ocm lint . -o github",
    ),
)
@click.argument("paths", nargs=-1)
@click.option("--strict", is_flag=True, help="Advice fails as well.")
@click.option("--watch", "is_watching", is_flag=True, help="Run again after each change, until Ctrl-C.")
@pass_invocation
def command(invocation: Invocation, paths: tuple[str, ...], strict: bool, is_watching: bool) -> int:
    """Check manifests and give advice: examples, vague or near-duplicate descriptions, prices, regions.

    Needs no daemon. Exit codes: 0 valid, 2 invalid or usage; advice counts under --strict only.
    """
    if is_watching:
        from compozy.cli.ocm.watching import watch  # noqa: PLC0415 - start-up cost

        return watch(paths, lambda: _run(invocation, paths, strict=strict))
    return _run(invocation, paths, strict=strict)


def _run(invocation: Invocation, paths: tuple[str, ...], *, strict: bool) -> int:
    from compozy.ocm.lint import advise, near_duplicates  # noqa: PLC0415 - start-up cost

    loaded = read_paths(paths, advise)
    for index, problem in list(near_duplicates(loaded.entries)):
        entry = loaded.entries[index]
        placed = msgspec.structs.replace(problem, path=entry.path, position=entry.position)
        loaded.entries[index] = msgspec.structs.replace(entry, problems=(*entry.problems, placed))
    return show_report(invocation, report_of(loaded), tool="compozy ocm lint", strict=strict)
