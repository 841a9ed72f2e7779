"""`compozy session recap|usage|health|inspect|commands|history|wait`: looking at one session (contract §4.1).

`wait` ends with 0 when a badge is reached, 75 when the time is over, 69 when the session is gone (§4.4).
"""

from collections.abc import Mapping

import click

from compozy.cli import completions
from compozy.cli.commands.session_read import EVENT_COLUMNS
from compozy.cli.connection import JsonObject, as_json, as_rows, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, one_line, print_object, print_rows, safe_line, write
from compozy.cli.sessions import SESSION_FIELDS, Duration, print_done
from compozy.cli.wording import age, count, write_duration
from compozy.model.errors import EXIT_OK, EXIT_TIMEOUT, EXIT_UNAVAILABLE
from compozy.model.session import BADGES

# One request waits this long; longer waits go on with the same wait.
_ONE_WAIT_SECONDS = 600.0
_MESSAGE_SHOWN = 400


def message_text(message: Mapping[str, object]) -> str:
    """Return what a message says: its text, and the tools it used by name."""
    parts = objects(message.get("parts"))
    said = "".join(text_of(part, "text") for part in parts if part.get("type") == "text").strip()
    tools = [
        text_of(part, "title") or text_of(part, "toolName") for part in parts if part.get("type") == "dynamic-tool"
    ]
    used = f"[{', '.join(tools)}]" if tools else ""
    return one_line(" ".join(part for part in (said, used) if part))


@command("recap", examples=("compozy session recap sess-0123456789abcdef --limit 6",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many messages.")
@pass_invocation
def session_recap(invocation: Invocation, session_id: str, limit: int) -> None:
    """Show the newest messages and remarks of session SESSION_ID: where things stand."""
    with connected(invocation) as client:
        recap = as_json(client.sessions.recap(client.sessions.get(session_id), limit=limit))
    if not invocation.is_human:
        print_object(invocation, recap, (), name="recap")
        return
    session = recap["session"]
    assert isinstance(session, dict)
    print_object(invocation, session, SESSION_FIELDS[:6], name="session")
    for message in objects(recap.get("recent_messages")):
        who = "you" if message.get("role") == "user" else text_of(session, "agent_name")
        text = message_text(message)
        write(f"{safe_line(f'{who}: {text[:_MESSAGE_SHOWN]}')}\n")
    for marker in objects(recap.get("recent_markers")):
        note(invocation, f"note: {text_of(marker, 'summary') or text_of(marker, 'kind')}")
    waiting = int(text_of(recap, "pending_inputs") or 0)
    if waiting:
        note(invocation, f"{count(waiting, 'prompt')} wait: compozy session input list {session_id}")


_USAGE_FIELDS = (
    Column("Turns", "turn_count"),
    Column("Tokens in", "input_tokens"),
    Column("Tokens out", "output_tokens"),
    Column("Tokens", "total_tokens"),
    Column("Cost", "total_cost", lambda row: _cost(row)),
    Column("Cost is", "cost_status"),
)


def _cost(usage: Mapping[str, object]) -> str:
    cost = usage.get("total_cost")
    return f"{cost:.4f} {text_of(usage, 'cost_currency')}".strip() if isinstance(cost, int | float) else ""


@command("usage", examples=("compozy session usage sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_usage(invocation: Invocation, session_id: str) -> None:
    """Show the tokens and the cost of session SESSION_ID, as far as its agents told them."""
    with connected(invocation) as client:
        usage = as_json(client.sessions.usage(client.sessions.get(session_id)))
    print_object(invocation, usage, _USAGE_FIELDS, name="usage")


_HEALTH_FIELDS = (
    Column("Health", "health"),
    Column("State", "state"),
    Column("Last activity", "last_activity_at", lambda row: age(row.get("last_activity_at"))),
    Column("Last seen", "last_presence_at", lambda row: age(row.get("last_presence_at"))),
    Column("Not ready", "ineligibility_reason"),
    Column("Last error", "last_error"),
)


@command("health", examples=("compozy session health sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_health(invocation: Invocation, session_id: str) -> None:
    """Show how well the agent of session SESSION_ID is."""
    with connected(invocation) as client:
        health = as_json(client.sessions.health(client.sessions.get(session_id)))
    print_object(invocation, health, _HEALTH_FIELDS, name="health")


def _steps(found: Mapping[str, object]) -> str:
    permissions = found.get("permissions")
    steps = objects(permissions.get("steps")) if isinstance(permissions, Mapping) else []
    return "; ".join(f"{text_of(s, 'source')} {text_of(s, 'effect')} {text_of(s, 'mode')}" for s in steps)


_INSPECT_FIELDS = (
    Column("Session", "session_id"),
    Column("Health", "health", lambda row: text_of(row, "health", "health")),
    Column("Mode", "permissions", lambda row: text_of(row, "permissions", "mode")),
    Column("Mode from", "permissions", _steps),
    Column("May touch", "roots"),
    Column("Definition", "definition", lambda row: text_of(row, "definition", "path")),
    Column("It is", "definition", lambda row: text_of(row, "definition", "state")),
    Column("Agent's ids", "provider_session_ids"),
    Column("Waiting", "pending_inputs"),
    Column("Events", "last_sequence"),
    Column(
        "Findings",
        "diagnostics",
        lambda row: "; ".join(text_of(d, "message") for d in objects(row.get("diagnostics"))),
    ),
)


@command("inspect", examples=("compozy session inspect sess-0123456789abcdef -o json",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_inspect(invocation: Invocation, session_id: str) -> None:
    """Show what is worth knowing when something about session SESSION_ID is odd."""
    with connected(invocation) as client:
        found = as_json(client.sessions.inspect(client.sessions.get(session_id)))
    print_object(invocation, found, _INSPECT_FIELDS, name="inspection")


_COMMAND_COLUMNS = (
    Column("COMMAND", "canonical_token"),
    Column("INPUT", "input_hint"),
    Column("WHAT", "description"),
)


@command("commands", examples=("compozy session commands sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_commands(invocation: Invocation, session_id: str) -> None:
    """List the slash commands that a prompt to session SESSION_ID may begin with."""
    with connected(invocation) as client:
        found = as_json(client.sessions.commands(client.sessions.get(session_id)))
    rows = objects(found.get("commands"))
    empty = "the agent offers no commands; most tell them with their first turn"
    print_rows(invocation, rows, _COMMAND_COLUMNS, name="commands", envelope=found, empty=empty)


@command("history", examples=("compozy session history sess-0123456789abcdef --limit 50",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--limit", type=click.IntRange(1, 1000), help="How many events (default 200).")
@click.option("--turn", "turn_id", help="Only this turn.")
@pass_invocation
def session_history(invocation: Invocation, session_id: str, limit: int | None, turn_id: str | None) -> None:
    """Print the events of session SESSION_ID turn by turn."""
    with connected(invocation) as client:
        turns = client.sessions.history(client.sessions.get(session_id), turn_id=turn_id or "", limit=limit)
    rows = as_rows(turns)
    if not invocation.is_human:
        print_rows(invocation, rows, (), name="history", envelope={"history": rows})
        return
    for turn in rows:
        write(f"{text_of(turn, 'turn_id') or 'between turns'}\n")
        for event in objects(turn.get("events")):
            cells = [column.render(event) for column in EVENT_COLUMNS]
            write(f"{cells[0]:>7}  {cells[1]}  {cells[2]:<15}  {cells[3]}".rstrip() + "\n")


@command(
    "wait",
    examples=(
        "compozy session wait sess-0123456789abcdef",
        "compozy session wait sess-0123456789abcdef --until waiting-for-auth --timeout 30m",
        "compozy session wait sess-0123456789abcdef --unbounded -o json",
    ),
)
@click.argument("session_id", shell_complete=completions.sessions)
@click.option(
    "--until",
    type=click.Choice(BADGES),
    multiple=True,
    help="A badge to wait for; repeat it (default: idle, stopped, failed, or waiting for a person).",
)
@click.option("--timeout", type=Duration(), metavar="D", help="Give up after this long (default 5m).")
@click.option("--unbounded", is_flag=True, help="Never give up.")
@pass_invocation
def session_wait(
    invocation: Invocation, session_id: str, until: tuple[str, ...], timeout: float | None, unbounded: bool
) -> int:
    """Wait until session SESSION_ID has ended its turn or wants a person; exits with 75 when the time is over."""
    if unbounded and timeout is not None:
        raise click.UsageError("--timeout and --unbounded are mutually exclusive; give one of them")
    left = float("inf") if unbounded else timeout or 300.0
    waited, resume = 0, ""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        while True:
            part = min(left, _ONE_WAIT_SECONDS)
            answer = client.sessions.wait(session, seconds=part, until=until, resume_id=resume)
            waited += answer.waited_ms
            left -= part
            resume = answer.resume_id
            if answer.outcome != "timeout" or left <= 0:
                break
    result: JsonObject = {**as_json(answer), "waited_ms": waited}
    print_done(invocation, result, f"{answer.state or answer.outcome} after {write_duration(waited / 1000)}")
    if answer.state in ("waiting-for-auth", "waiting-for-input"):
        note(invocation, "see what it asks: compozy attention")
    if answer.outcome == "state-reached":
        return EXIT_OK
    return EXIT_TIMEOUT if answer.outcome == "timeout" else EXIT_UNAVAILABLE
