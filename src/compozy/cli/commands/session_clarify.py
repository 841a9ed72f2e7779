"""`compozy session clarify`: the questions of one session that want an answer in words (contract §4.1)."""

import click

from compozy.cli import completions
from compozy.cli.connection import as_json, as_rows, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import Column, print_rows
from compozy.cli.sessions import print_done

_CLARIFY_COLUMNS = (
    Column("REQUEST", "request_id"),
    Column("QUESTION", "question"),
    Column("CHOICES", "choices"),
    Column("UNTIL", "deadline"),
)


@command("pending", examples=("compozy session clarify pending sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def clarify_pending(invocation: Invocation, session_id: str) -> None:
    """List the questions of session SESSION_ID that wait for an answer in words."""
    with connected(invocation) as client:
        rows = as_rows(client.sessions.clarifications(client.sessions.get(session_id)))
    print_rows(
        invocation,
        rows,
        _CLARIFY_COLUMNS,
        name="clarifications",
        envelope={"clarifications": rows},
        empty="no question waits",
    )


@command(
    "answer",
    examples=(
        "compozy session clarify answer sess-0123456789abcdef REQUEST --choice 0",
        'compozy session clarify answer sess-0123456789abcdef REQUEST --text "the second one"',
    ),
)
@click.argument("session_id", shell_complete=completions.sessions)
@click.argument("request_id")
@click.option("--choice", type=click.IntRange(0), help="The number of the chosen answer, from 0.")
@click.option("--text", help="The answer in words.")
@click.option("--decline", is_flag=True, help="No answer: let the agent go on without one.")
@pass_invocation
def clarify_answer(
    invocation: Invocation, session_id: str, request_id: str, choice: int | None, text: str | None, decline: bool
) -> None:
    """Answer question REQUEST_ID of session SESSION_ID."""
    refuse_agents("answering a question to a person")
    if [choice is not None, text is not None, decline].count(True) != 1:
        raise click.UsageError("give --choice, --text or --decline, one of them")
    with connected(invocation) as client:
        answer = client.sessions.answer_clarification(
            client.sessions.get(session_id), request_id, choice_index=choice, text=text or "", decline=decline
        )
    print_done(invocation, as_json(answer), f"answered: {answer.text or 'no answer'}")
