"""`compozy daemon start|stop|processes`, `status`, `drain`, `undrain`: the background daemon (contract §1.4)."""

from collections.abc import Mapping

import click

from compozy.cli.connection import JsonObject, as_json, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, print_object, print_rows
from compozy.cli.status_line import StatusLine
from compozy.cli.wording import age

LEVELS = ("debug", "info", "warn", "error")


@command(
    "start",
    examples=("compozy daemon start", "compozy daemon start --foreground --log-level debug"),
)
@click.option("--foreground", is_flag=True, help="Stay here until Ctrl-C instead of going to the background.")
@click.option("--log-level", type=click.Choice(LEVELS), help="How much to write to logs/compozy.log.")
@pass_invocation
def daemon_start(invocation: Invocation, foreground: bool, log_level: str | None) -> None:
    """Start the daemon of this home and wait until it answers."""
    from compozy.daemon import control  # noqa: PLC0415 - start-up cost

    if foreground:
        control.run_foreground(invocation.home, log_level=log_level or "")
        return
    with StatusLine(
        enabled=invocation.has_live_notes, tells=invocation.is_human, activity="starting the daemon"
    ).moving():
        record = control.start_detached(invocation.home, log_level=log_level or "")
    started: JsonObject = {
        "pid": record.pid,
        "port": record.port,
        "socket": record.socket,
        "version": record.version,
        "log": str(invocation.home.log_file),
    }
    fields = (
        Column("Started daemon", "pid"),
        Column("Port", "port"),
        Column("Socket", "socket"),
        Column("Log", "log"),
    )
    print_object(invocation, started, fields, name="daemon")


@command("stop", examples=("compozy daemon stop",))
@pass_invocation
def daemon_stop(invocation: Invocation) -> None:
    """Stop the daemon of this home; sessions are stopped and can be woken by a prompt later."""
    from compozy.daemon import control  # noqa: PLC0415 - start-up cost

    with StatusLine(
        enabled=invocation.has_live_notes, tells=invocation.is_human, activity="stopping the daemon"
    ).moving():
        pid = control.stop(invocation.home)
    print_object(invocation, {"stopped": True, "pid": pid}, (Column("Stopped daemon", "pid"),), name="daemon")


PROCESS_COLUMNS = (
    Column("PID", "pid"),
    Column("Started", "started_at", lambda row: age(row.get("started_at"))),
    Column("Session", "session_id"),
    Column("Agent", "agent_name"),
    Column("Group", "group"),
    Column("Memory", "rss_bytes", lambda row: f"{int(text_of(row, 'rss_bytes') or 0) / 1024 / 1024:.1f} MiB"),
    Column("Program", "name", lambda row: text_of(row, "name") + ("" if row.get("is_leader") else " (its child)")),
)


@command("processes", examples=("compozy daemon processes", "compozy daemon processes -o json"))
@pass_invocation
def daemon_processes(invocation: Invocation) -> None:
    """List the processes of agents, with the session each belongs to; stopping a session ends all of its own."""
    with connected(invocation) as client:
        found = as_json(client.daemon.processes())
    print_rows(
        invocation,
        objects(found.get("processes")),
        PROCESS_COLUMNS,
        name="processes",
        envelope=found,
        empty="no agent runs",
    )


def _address(status: Mapping[str, object]) -> str:
    port = text_of(status, "daemon", "http_port")
    return f"http://{text_of(status, 'daemon', 'http_host')}:{port}" if port not in ("", "0") else "off"


STATUS_FIELDS = (
    Column(
        "Daemon", "daemon", lambda row: f"{text_of(row, 'daemon', 'status')} (pid {text_of(row, 'daemon', 'pid')})"
    ),
    Column("Version", "version", lambda row: text_of(row, "daemon", "version")),
    Column("Started", "started", lambda row: age(text_of(row, "daemon", "started_at"))),
    Column("Socket", "socket", lambda row: text_of(row, "daemon", "socket")),
    Column("HTTP", "http", _address),
    Column("Home", "home", lambda row: text_of(row, "config", "home_dir")),
    Column(
        "Config", "config", lambda row: text_of(row, "config", "validation_error") or text_of(row, "config", "status")
    ),
    Column(
        "Sessions",
        "sessions",
        lambda row: (
            f"{text_of(row, 'daemon', 'active_sessions')} active of {text_of(row, 'daemon', 'total_sessions')}"
        ),
    ),
)


@command("status", examples=("compozy status", "compozy status -o json"))
@pass_invocation
def status(invocation: Invocation) -> None:
    """Show the running daemon: where it listens, since when, and what it runs."""
    with connected(invocation) as client:
        found = as_json(client.daemon.status())
    print_object(invocation, found, STATUS_FIELDS, name="status")


DRAIN_FIELDS = (
    Column("State", "state"),
    Column("New work", "admission_closed", lambda row: "refused" if row.get("admission_closed") else "accepted"),
    Column("Running sessions", "active_session_executions"),
    Column("Safe to stop", "safe_to_stop"),
)


@command("drain", examples=("compozy drain",))
@pass_invocation
def drain(invocation: Invocation) -> None:
    """Accept no new work; what runs goes on."""
    with connected(invocation) as client:
        print_object(invocation, as_json(client.daemon.drain()), DRAIN_FIELDS, name="drain")


@command("undrain", examples=("compozy undrain",))
@pass_invocation
def undrain(invocation: Invocation) -> None:
    """Accept new work again."""
    with connected(invocation) as client:
        print_object(invocation, as_json(client.daemon.undrain()), DRAIN_FIELDS, name="drain")
