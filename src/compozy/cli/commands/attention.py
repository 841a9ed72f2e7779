"""`compozy attention`: everything that waits for a person, over all sessions, and answering it (reports P43).

The list says until when, what is answered otherwise, and the command that answers. Agents may look, not answer.
"""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.connection import JsonObject, as_json, as_rows, connected, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import Column, note, print_rows, safe_line, write, write_json_line
from compozy.cli.sessions import print_done
from compozy.cli.watching import changes
from compozy.cli.wording import age, seconds_until, write_duration
from compozy.cli.workspace_context import find
from compozy.model.errors import EXIT_REFUSED, LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.attention import AttentionItem, AttentionList

DECISIONS = ("allow-once", "allow-always", "reject-once", "reject-always")
_TICK_SECONDS = 0.25


def left_text(item: Mapping[str, object]) -> str:
    """Return how much time is left, and what happens then."""
    left = seconds_until(text_of(item, "expires_at"))
    if left is None:
        return ""
    return f"{write_duration(left)}, then {text_of(item, 'default_decision') or 'no answer'}"


def _asks(item: Mapping[str, object]) -> str:
    place = text_of(item, "resource")
    return f"{text_of(item, 'question')} ({place})" if place else text_of(item, "question")


COLUMNS = (
    Column("ID", "id"),
    Column("KIND", "kind"),
    Column("SESSION", "session_id", lambda row: text_of(row, "session_name") or text_of(row, "session_id")),
    Column("AGENT", "agent_name"),
    Column("ASKS", "question", _asks),
    Column("SINCE", "asked_at", lambda row: age(row.get("asked_at"))),
    Column("LEFT", "expires_at", left_text),
    Column("ANSWER WITH", "command"),
)
TOON_COLUMNS = tuple(
    Column(field, field)
    for field in ("id", "kind", "session_id", "agent_name", "question", "asked_at", "expires_at", "command")
)


@command(
    "list",
    examples=(
        "compozy attention list",
        "compozy attention list --watch",
        "compozy attention list --workspace project -o json",
    ),
)
@click.option(
    "--workspace", shell_complete=completions.workspaces, help="Only this workspace (default: all of them)."
)
@click.option("--session", "root", shell_complete=completions.sessions, help="Only this session and its children.")
@click.option("--watch", "-w", is_flag=True, help="Stay, and print each thing as it begins to wait.")
@pass_invocation
def attention_list(invocation: Invocation, workspace: str | None, root: str | None, watch: bool) -> None:
    """List everything that waits for a person, oldest first, with its end and the command that answers it.

    `compozy attention` alone is short for this.
    """
    with connected(invocation) as client:
        context = find(client, flag=workspace) if workspace is not None else None
        place = context.id if context else ""
        if watch:
            _watch(invocation, client, place, root or "")
            return
        found = client.attention.list(place, root=root or "")
    print_rows(
        invocation,
        as_rows(found.items),
        COLUMNS,
        name="attention",
        toon_columns=TOON_COLUMNS,
        envelope=as_json(found),
        empty="nobody waits for you",
    )
    if found.total > len(found.items):
        note(invocation, f"\n{found.total - len(found.items)} more wait")


def _watch(invocation: Invocation, client: "Client", workspace: str, root: str) -> None:
    shown: set[str] = set()

    def look() -> None:
        nonlocal shown
        found = client.attention.list(workspace, root=root)
        for item in found.items:
            if item.id not in shown:
                _print_one(invocation, item)
        shown = {item.id for item in found.items}

    for _ in changes(client, look, tick=_TICK_SECONDS):
        pass


def _print_one(invocation: Invocation, item: "AttentionItem") -> None:
    row = as_json(item)
    if not invocation.is_human:
        write_json_line(row)
        return
    left = f"  ({left_text(row)})" if item.expires_at else ""
    line = f"{item.agent_name} · {item.session_id}: {_asks(row)}{left} · {item.command}"
    write(f"{safe_line(line)}\n")
    sys.stdout.flush()


@command(
    "answer",
    examples=(
        "compozy attention answer int-0123456789abcdef --decision allow-once",
        "compozy attention answer sess-0123456789abcdef --decision reject-once",
        "compozy attention answer int-0123456789abcdef --choice 0",
        'compozy attention answer int-0123456789abcdef --text "the blue one"',
    ),
)
@click.argument("attention_id", metavar="ID", shell_complete=completions.attention)
@click.option("--decision", type=click.Choice(DECISIONS), help="The answer to a permission request.")
@click.option("--choice", type=click.IntRange(0), help="The number of the chosen answer to a question, from 0.")
@click.option("--text", help="The answer to a question in words.")
@click.option("--decline", is_flag=True, help="No answer: let the agent go on without one.")
@pass_invocation
def attention_answer(
    invocation: Invocation,
    attention_id: str,
    decision: str | None,
    choice: int | None,
    text: str | None,
    decline: bool,
) -> None:
    """Answer what waits under ID: an id of the list, its first letters, or the session when it asks one thing."""
    refuse_agents("answering what waits for a person")
    given = [value for value in (decision, choice, text, decline or None) if value is not None]
    if len(given) != 1:
        raise click.UsageError("give --decision, --choice, --text or --decline, one of them")
    with connected(invocation) as client:
        item = _chosen(client.attention.list(), attention_id)
        answer = client.attention.answer(
            item or attention_id, decision=decision or "", choice_index=choice, text=text or "", decline=decline
        )
    said = answer.decision or answer.text or "no answer"
    done: JsonObject = as_json(answer)
    print_done(invocation, done, f"{answer.outcome}: {said}")


def _chosen(found: "AttentionList", wanted: str) -> str:
    """Return the id that a person means, "" when nothing that waits fits (the daemon then says why)."""
    fits = [item for item in found.items if item.id == wanted]
    fits = fits or [item for item in found.items if wanted in (item.session_id, item.request_id)]
    fits = fits or [item for item in found.items if item.id.startswith(wanted)]
    if len(fits) > 1:
        ids = ", ".join(item.id for item in fits)
        raise LocalError(
            f"{wanted!r} fits {len(fits)} things that wait; choose one: {ids}",
            exit_code=EXIT_REFUSED,
            code="ambiguous_attention",
            hint="compozy attention",
        )
    return fits[0].id if fits else ""
