"""`compozy session archive|unarchive|resume|attach|runtime|repair`: changes beside the turns (contract §4.1)."""

from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.commands.session_prompt import EFFORTS
from compozy.cli.connection import as_json, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, print_object, print_rows
from compozy.cli.sessions import SESSION_FIELDS, Duration
from compozy.cli.workspace_context import find
from compozy.model.errors import EXIT_UNAVAILABLE, LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.session import Session


@command("archive", examples=("compozy session archive sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_archive(invocation: Invocation, session_id: str) -> None:
    """Put the stopped session SESSION_ID away: lists leave it out, its history stays."""
    with connected(invocation) as client:
        archived = client.sessions.archive(client.sessions.get(session_id))
    print_object(invocation, as_json(archived), SESSION_FIELDS, name="session")


@command("unarchive", examples=("compozy session unarchive sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_unarchive(invocation: Invocation, session_id: str) -> None:
    """Take the archived session SESSION_ID back."""
    with connected(invocation) as client:
        back = client.sessions.unarchive(client.sessions.get(session_id))
    print_object(invocation, as_json(back), SESSION_FIELDS, name="session")


_ATTACH_FIELDS = (
    *SESSION_FIELDS[:6],
    Column("Held by", "attached_to"),
    Column("Until", "attach_expires_at"),
)


@command(
    "resume",
    examples=(
        "compozy session resume --latest",
        "compozy session resume sess-0123456789abcdef --as desk --ttl 1h",
    ),
)
@click.argument("session_id", required=False, shell_complete=completions.sessions)
@click.option("--latest", is_flag=True, help="The session of this workspace that changed last and can go on.")
@click.option("--as", "holder", help="The name to hold it under (default: operator).")
@click.option("--ttl", type=Duration(), metavar="D", help="For how long (default 15m, at most a day).")
@pass_invocation
def session_resume(
    invocation: Invocation, session_id: str | None, latest: bool, holder: str | None, ttl: float | None
) -> None:
    """Hold session SESSION_ID for yourself, so that nobody else takes it up; its last turn counts as seen."""
    if (session_id is None) != latest:
        raise click.UsageError("give a session id or --latest, one of them")
    with connected(invocation) as client:
        session = client.sessions.get(session_id) if session_id is not None else _latest(client)
        held = client.sessions.attach(
            session, attached_to=holder or "", ttl_seconds=None if ttl is None else max(1, round(ttl))
        )
    answer = as_json(held)
    if invocation.is_human:
        print_object(invocation, as_json(held.session), _ATTACH_FIELDS, name="session")
        note(invocation, f"\ngo on with: compozy session recap {session.id}, compozy session prompt {session.id} …")
    else:
        print_object(invocation, answer, (), name="attached")


def _latest(client: "Client") -> "Session":
    context = find(client)
    page = client.sessions.list(context.id if context else "", sort="recent", limit=100)
    for session in page.sessions:
        if session.attachable:
            return session
    raise LocalError(
        "no session of this workspace can go on; start one",
        code="no_session",
        exit_code=EXIT_UNAVAILABLE,
        hint='compozy run "your task"',
    )


@command(
    "set",
    examples=(
        "compozy session runtime set sess-0123456789abcdef --provider claude --model claude-sonnet-5",
        "compozy session runtime set sess-0123456789abcdef --provider codex --reasoning-effort high",
    ),
)
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--provider", required=True, help="The provider of the turns to come.")
@click.option("--model", help="Its model, exactly as it is offered.")
@click.option("--reasoning-effort", type=click.Choice(EFFORTS), help="How hard to think.")
@click.option("--speed", type=click.Choice(("normal", "fast")), help="Speed tier.")
@click.option("--expected-revision", type=click.IntRange(0), help="Refuse when the choice was changed meanwhile.")
@pass_invocation
def runtime_set(
    invocation: Invocation,
    session_id: str,
    provider: str,
    model: str | None,
    reasoning_effort: str | None,
    speed: str | None,
    expected_revision: int | None,
) -> None:
    """Choose what the turns to come of session SESSION_ID run with."""
    choice = {"provider": provider, "model": model, "reasoning_effort": reasoning_effort, "speed": speed}
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        wanted = {key: value for key, value in choice.items() if value}
        changed = client.sessions.set_runtime(session, wanted, expected_revision=expected_revision)
    print_object(invocation, as_json(changed), SESSION_FIELDS, name="session")


@command("clear", examples=("compozy session runtime clear sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--expected-revision", type=click.IntRange(0), help="Refuse when the choice was changed meanwhile.")
@pass_invocation
def runtime_clear(invocation: Invocation, session_id: str, expected_revision: int | None) -> None:
    """Go back to what the agent's definition says session SESSION_ID should run with."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        revision = session.runtime.selection_revision if expected_revision is None else expected_revision
        changed = client.sessions.clear_runtime(session, expected_revision=revision)
    print_object(invocation, as_json(changed), SESSION_FIELDS, name="session")


_ISSUE_COLUMNS = (
    Column("SEVERITY", "severity"),
    Column("PROBLEM", "code"),
    Column("TURN", "turn_id"),
    Column("DETAIL", "detail"),
)


@command(
    "repair",
    examples=(
        "compozy session repair sess-0123456789abcdef --dry-run",
        "compozy session repair sess-0123456789abcdef",
    ),
)
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--dry-run", is_flag=True, help="Only say what is wrong.")
@click.option("--force", is_flag=True, help="Mend the tool calls of a running turn too.")
@pass_invocation
def session_repair(invocation: Invocation, session_id: str, dry_run: bool, force: bool) -> None:
    """Close what the history of session SESSION_ID leaves open; nothing that is stored is changed."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        done = as_json(client.sessions.repair(session, dry_run=dry_run, force=force))
    issues = objects(done.get("issues"))
    print_rows(invocation, issues, _ISSUE_COLUMNS, name="issues", envelope=done, empty="the history is whole")
    if issues:
        actions = len(objects(done.get("actions")))
        did = "appended" if text_of(done, "persisted") == "True" else "would append"
        note(invocation, f"{did} {actions} event{'s' if actions != 1 else ''}")
