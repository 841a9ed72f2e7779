"""`compozy retention show|run`: how long stopped sessions are kept, and removing what is beyond it (issue 6)."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import click

from compozy.cli.commands.session_write import confirm
from compozy.cli.connection import as_json, as_rows, connected, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import Column, note, print_object, print_rows
from compozy.cli.status_line import StatusLine
from compozy.cli.wording import age, count, write_duration

if TYPE_CHECKING:
    from compozy.model.retention import RetentionReport

_REASONS = {"age": "too old", "count": "too many", "size": "store too large", "own_job": "a job of the daemon's own"}
_STATE_FIELDS = (
    Column("Kept for", "limits", lambda row: _limit(row, "max_age", write_duration)),
    Column(
        "At most", "limits", lambda row: _limit(row, "max_sessions", lambda number: count(round(number), "session"))
    ),
    Column("Store at most", "limits", lambda row: _limit(row, "max_bytes", lambda number: _mib(round(number)))),
    Column(
        "Looked at every", "interval_seconds", lambda row: write_duration(float(text_of(row, "interval_seconds")))
    ),
    Column("Stopped sessions", "stopped_sessions"),
    Column("Store", "used_bytes", lambda row: _mib(row.get("used_bytes"))),
    Column("Last run", "last", lambda row: age(text_of(row, "last", "at")) if row.get("last") else "not yet"),
)
_ROWS = (
    Column("SESSION", "id"),
    Column("LAST ACTIVE", "last_activity_at", lambda row: age(text_of(row, "last_activity_at"))),
    Column("EVENTS", "events"),
    Column("SIZE", "bytes", lambda row: _mib(row.get("bytes"))),
    Column("WHY", "reason", lambda row: _REASONS.get(text_of(row, "reason"), text_of(row, "reason"))),
)


@command("show", examples=("compozy retention show",))
@pass_invocation
def retention_show(invocation: Invocation) -> None:
    """Show the limits in force, what the store takes and when it was last looked at."""
    with connected(invocation) as client:
        state = as_json(client.daemon.retention())
    print_object(invocation, state, _STATE_FIELDS, name="retention")


@command(
    "run",
    examples=("compozy retention run --dry-run --max-age 30d", "compozy retention run --max-sessions 1000 --yes"),
)
@click.option("--max-age", metavar="AGE", help="Remove sessions that were idle for longer: 30d, 12h.")
@click.option("--max-sessions", type=click.IntRange(min=1), help="Keep only the newest so many.")
@click.option("--max-bytes", type=click.IntRange(min=1), help="Remove the oldest until the store is smaller.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed; remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_invocation
def retention_run(
    invocation: Invocation,
    max_age: str | None,
    max_sessions: int | None,
    max_bytes: int | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Remove stopped sessions beyond the limits: those given here, else those of [session.retention]."""
    refuse_agents("retention")
    with connected(invocation) as client:

        def run(*, dry: bool) -> "RetentionReport":
            return client.daemon.run_retention(
                max_age=max_age, max_sessions=max_sessions, max_bytes=max_bytes, dry_run=dry
            )

        report = run(dry=True)
        if not dry_run and report.sessions:
            found = count(report.sessions, "session")
            confirm(invocation, f"Remove {found} with {count(report.events, 'event')} for good?", yes)
            with StatusLine(
                enabled=invocation.has_live_notes, tells=invocation.is_human, activity="removing"
            ).moving():
                report = run(dry=False)
    rows, envelope = as_rows(report.removed), as_json(report)
    print_rows(invocation, rows, _ROWS, name="removed", envelope=envelope, empty="nothing is beyond the limits")
    if rows:
        done = "would be removed" if report.dry_run else "removed"
        note(invocation, f"{done}: {count(len(rows), 'session')}; {_sizes(report)}")


def _sizes(report: "RetentionReport") -> str:
    before, after = _mib(report.bytes_before), _mib(report.bytes_after)
    return f"the store takes {after}" if report.dry_run else f"the store went from {before} to {after}"


def _limit(row: Mapping[str, object], key: str, told: Callable[[float], str]) -> str:
    value = float(text_of(row, "limits", key) or 0)
    return told(value) if value else "no limit"


def _mib(value: object) -> str:
    return f"{value / 1024 / 1024:.1f} MiB" if isinstance(value, int) else ""
