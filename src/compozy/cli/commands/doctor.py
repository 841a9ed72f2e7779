"""`compozy doctor`: what is wrong with this home and its daemon, and the command that mends it (contract §3.6, §4.4).

Asks the running daemon; without one it checks what can be checked from here and says so. Exits with 71 when a finding
is an error, with 70 when one is a warning.
"""

import click

from compozy.cli.connection import JsonObject, as_json, as_object, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, note, one_line, print_object, print_rows, write
from compozy.cli.wording import count
from compozy.model.errors import EXIT_DIAGNOSTIC_ERROR, EXIT_DIAGNOSTIC_WARN, EXIT_OK

_EXITS = {"warn": EXIT_DIAGNOSTIC_WARN, "error": EXIT_DIAGNOSTIC_ERROR, "critical": EXIT_DIAGNOSTIC_ERROR}
COLUMNS = (
    Column("SEVERITY", "severity"),
    Column("FINDING", "id"),
    Column("MESSAGE", "message"),
    Column("TRY", "suggested_command"),
)


@command(
    "doctor",
    examples=("compozy doctor", "compozy doctor --only provider,config --quiet", "compozy doctor --bundle"),
)
@click.option("--only", metavar="NAMES", help="Only these categories or findings, separated by commas.")
@click.option("--exclude", metavar="NAMES", help="Without these categories or findings.")
@click.option("--quiet", is_flag=True, help="Leave out what is fine.")
@click.option("--bundle", is_flag=True, help="Write a file for a problem report, with secrets taken out.")
@pass_invocation
def doctor(invocation: Invocation, only: str | None, exclude: str | None, quiet: bool, bundle: bool) -> int:
    """Check this home and its daemon, and say how to mend what is wrong."""
    report, status = _report(invocation, only or "", exclude or "", quiet)
    if bundle:
        from compozy.config.bundle import write_bundle  # noqa: PLC0415 - start-up cost

        path = str(write_bundle(invocation.home, report=report, status=status))
        print_object(invocation, {"bundle": path}, (Column("Bundle", "bundle"),), name="bundle")
        return EXIT_OK
    items = objects(report.get("items"))
    if invocation.is_human:
        _print(items, report)
        if only and not items and not quiet:
            note(
                invocation, f"no check is called {only!r}; `compozy doctor -o json` shows the category and id of each"
            )
    else:
        print_rows(invocation, items, COLUMNS, name="findings", envelope=report)
    return _EXITS.get(text_of(report, "status"), EXIT_OK)


def _report(invocation: Invocation, only: str, exclude: str, quiet: bool) -> tuple[JsonObject, JsonObject | None]:
    """Return the report, and the daemon's status when one runs."""
    from compozy.client import DaemonUnreachable  # noqa: PLC0415 - start-up cost

    try:
        with connected(invocation) as client:
            report = client.daemon.doctor(only=only, exclude=exclude, quiet=quiet)
            return as_json(report), as_json(client.daemon.status())
    except DaemonUnreachable as error:
        return _without_daemon(invocation, error.message, only, exclude, quiet), None


def _without_daemon(invocation: Invocation, reason: str, only: str, exclude: str, quiet: bool) -> JsonObject:
    from compozy.config.doctor import check_home  # noqa: PLC0415 - start-up cost
    from compozy.config.doctor_alone import findings_without_daemon  # noqa: PLC0415 - start-up cost
    from compozy.config.findings import finding, report  # noqa: PLC0415 - start-up cost

    hint = "compozy daemon start"
    missing = finding("daemon", "not_running", "info", reason, command=hint, freshness="offline")
    items = [*check_home(invocation.home), *findings_without_daemon(invocation.home), missing]
    made = report(items, 0, only=only, exclude=exclude, quiet=quiet)
    return as_json(made)


def _print(items: list[JsonObject], report: JsonObject) -> None:
    for item in items:
        write(f"{text_of(item, 'severity').ljust(8)}  {clean(one_line(text_of(item, 'message')))}\n")
        if text_of(item, "suggested_command"):
            write(f"{' ' * 8}  try: {clean(text_of(item, 'suggested_command'))}\n")
    counts = report.get("summary")
    by_severity = as_object(counts).get("counts_by_severity") if counts else {}
    summed = ", ".join(f"{number} {severity}" for severity, number in as_object(by_severity).items())
    total = int(text_of(report, "summary", "total") or 0)
    write(f"\n{count(total, 'check')}" + (f": {summed}\n" if summed else "\n"))
