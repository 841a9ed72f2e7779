"""`compozy session input list|edit|cancel|steer`: the prompts that wait for a busy session (contract §3.5, §4.1)."""

import os
from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.connection import as_json, as_rows, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, one_line, print_rows
from compozy.cli.sessions import print_done, read_text
from compozy.cli.wording import age
from compozy.model.errors import EXIT_UNAVAILABLE, LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.session import Session

COLUMNS = (
    Column("ID", "id"),
    Column("MODE", "mode"),
    Column("WAITING", "enqueued_at", lambda row: age(row.get("enqueued_at"))),
    Column("TEXT", "text", lambda row: one_line(str(row.get("text", "")))[:120]),
)


@command("list", examples=("compozy session input list sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def input_list(invocation: Invocation, session_id: str) -> None:
    """List the prompts that wait in session SESSION_ID, in the order they will run."""
    with connected(invocation) as client:
        waiting = client.sessions.queue(client.sessions.get(session_id))
    print_rows(invocation, as_rows(waiting), COLUMNS, name="inputs", empty="no prompt waits in this session")


@command(
    "edit", examples=('compozy session input edit sess-0123456789abcdef inp-0123456789abcdef "rather the tests"',)
)
@click.argument("session_id", shell_complete=completions.sessions)
@click.argument("entry_id")
@click.argument("text")
@pass_invocation
def input_edit(invocation: Invocation, session_id: str, entry_id: str, text: str) -> None:
    """Give the waiting prompt ENTRY_ID another TEXT; it keeps its place. `-` reads it from standard input."""
    wanted = read_text(text, "the text")
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        answer = client.sessions.replace_input(session, entry_id, wanted, **_identity())
    print_done(invocation, as_json(answer), f"{entry_id} now says: {one_line(wanted)[:120]}")


@command("cancel", examples=("compozy session input cancel sess-0123456789abcdef inp-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.argument("entry_id")
@pass_invocation
def input_cancel(invocation: Invocation, session_id: str, entry_id: str) -> None:
    """Take the waiting prompt ENTRY_ID out of the queue."""
    with connected(invocation) as client:
        answer = client.sessions.withdraw(client.sessions.get(session_id), entry_id)
    print_done(invocation, as_json(answer), f"{entry_id} will not run")


@command("steer", examples=("compozy session input steer sess-0123456789abcdef inp-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.argument("entry_id")
@click.option("--text", help="Say this instead of what it says now.")
@click.option("--expected-turn-id", help="Refuse unless this turn is running (default: the one that runs now).")
@pass_invocation
def input_steer(
    invocation: Invocation, session_id: str, entry_id: str, text: str | None, expected_turn_id: str | None
) -> None:
    """Let the waiting prompt ENTRY_ID take over the running turn at its next resting point."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        wanted = text or _text_of(client, session, entry_id)
        turn = expected_turn_id or (session.activity.turn_id if session.activity else "")
        answer = client.sessions.promote_input(session, entry_id, wanted, expected_turn_id=turn, **_identity())
    print_done(invocation, as_json(answer), f"{entry_id} takes over when the running turn rests")


def _text_of(client: "Client", session: "Session", entry_id: str) -> str:
    for entry in client.sessions.queue(session):
        if entry.id == entry_id:
            return entry.text
    raise LocalError(
        f"no prompt {entry_id!r} waits in session {session.id!r}: it ran or was withdrawn",
        exit_code=EXIT_UNAVAILABLE,
        code="queue_entry_not_found",
        hint=f"compozy session input list {session.id}",
    )


def _identity() -> dict[str, str]:
    """Return an identity of its own, so that sending the call twice changes nothing twice."""
    unique = os.urandom(8).hex()
    return {"message_id": f"msg-{unique}", "idempotency_key": f"key-{unique}"}
