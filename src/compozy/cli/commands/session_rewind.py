"""`compozy session rewind|clear`: take a conversation back (contract §3.5, §4.1)."""

import os
from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.commands.session_write import confirm
from compozy.cli.connection import as_json, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import print_object
from compozy.cli.sessions import SESSION_FIELDS, print_done
from compozy.model.errors import EXIT_UNAVAILABLE, LocalError

if TYPE_CHECKING:
    from compozy.model.transcript import TranscriptPage


@command(
    "rewind",
    examples=(
        "compozy session rewind sess-0123456789abcdef",
        "compozy session rewind sess-0123456789abcdef --to msg-0123456789abcdef -o json",
    ),
)
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--to", "message_id", help="The prompt to go back before (default: the last one).")
@click.option("--idempotency-key", help="Identity of the request, to send it again safely.")
@pass_invocation
def session_rewind(
    invocation: Invocation, session_id: str, message_id: str | None, idempotency_key: str | None
) -> None:
    """Take session SESSION_ID back to before a prompt, as if it had not been sent. What was said is archived."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        fence: int | None = None
        generation: int | None = None
        if message_id is None:
            page = client.sessions.transcript(session, limit=20)
            # Somebody may prompt meanwhile: then another prompt is the last one.
            message_id, fence, generation = _last_prompt(session_id, page), page.max_sequence, page.generation
        answer = client.sessions.rewind(
            session,
            message_id,
            idempotency_key=idempotency_key or os.urandom(8).hex(),
            expected_generation=generation,
            expected_max_sequence=fence,
        )
    text = f"{answer.rewind.archived_event_count} events archived; the prompt was:\n\n{answer.rewind.draft_text}"
    print_done(invocation, as_json(answer), text)


def _last_prompt(session_id: str, page: "TranscriptPage") -> str:
    for entry in reversed(page.entries):
        if entry.message.role == "user":
            return entry.message.id
    raise LocalError(
        f"session {session_id!r} has no prompt to go back before; see its transcript",
        exit_code=EXIT_UNAVAILABLE,
        code="message_not_found",
        hint=f"compozy session recap {session_id}",
    )


@command("clear", examples=("compozy session clear sess-0123456789abcdef --yes",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_invocation
def session_clear(invocation: Invocation, session_id: str, yes: bool) -> None:
    """Begin the conversation of session SESSION_ID anew. What was said is archived, not deleted."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        confirm(invocation, f'Clear the conversation of session "{session_id}"?', yes)
        answer = client.sessions.clear(session)
    print_object(invocation, as_json(answer), SESSION_FIELDS, name="session")
