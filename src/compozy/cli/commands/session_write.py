"""`compozy session new|stop|approve|prompt-cancel|remove|rename`: what changes a session.

Implements contract §3.5 and §4.1; exit code 66 when there is nothing to cancel (§4.4), decision D23 (stop twice).
"""

from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.commands.agent_read import with_source
from compozy.cli.connection import as_json, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import note, print_object
from compozy.cli.sessions import SESSION_FIELDS, SESSION_TOON, print_done
from compozy.cli.trust_question import with_trust
from compozy.cli.workspace_context import find_or_register
from compozy.model.errors import EXIT_NOTHING_IN_FLIGHT, EXIT_OK, EXIT_REFUSED, LocalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compozy.model.session import Interaction

DECISIONS = ("allow-once", "allow-always", "reject-once", "reject-always")
PERMISSION_MODES = ("deny-all", "approve-reads", "approve-all")


@command(
    "new",
    examples=(
        "compozy session new --agent general --name review",
        "compozy session new --cwd ~/project -o json",
        "compozy session new --workspace project --permissions approve-reads",
    ),
)
@click.option(
    "--agent", shell_complete=completions.agents, help="Which agent (default: the workspace's default agent)."
)
@click.option("--name", help="A name to recognise the session by.")
@click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)
@click.option("--cwd", help="Absolute path of the folder to work in; registered when it is new.")
@click.option("--parent", help="Id of the session this one belongs to.")
@click.option("--permissions", type=click.Choice(PERMISSION_MODES), help="What the agent may do without asking.")
@pass_invocation
def session_new(
    invocation: Invocation,
    agent: str | None,
    name: str | None,
    workspace: str | None,
    cwd: str | None,
    parent: str | None,
    permissions: str | None,
) -> None:
    """Create a session. No agent program starts before the first prompt."""
    if workspace is not None and cwd is not None:
        raise click.UsageError("--workspace and --cwd are mutually exclusive; give one of them")
    if cwd is not None and not cwd.startswith("/"):
        raise click.UsageError(f"--cwd {cwd!r} is not absolute; write the whole path")
    wanted = {"agent": agent or "", "name": name or "", "parent": parent or "", "permissions": permissions or ""}
    with connected(invocation) as client:
        context = find_or_register(client, flag=workspace, path=cwd)
        made = with_trust(client, invocation, lambda: client.sessions.create(workspace=context.id, **wanted))
    session = with_source(made, context)
    toon_fields = [column.field for column in SESSION_TOON]
    print_object(invocation, session, SESSION_FIELDS, name="session", toon_fields=toon_fields)
    note(invocation, f'\nsend it a task: compozy session prompt {made.id} "your task"')


@command("stop", examples=("compozy session stop sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_stop(invocation: Invocation, session_id: str) -> None:
    """Stop session SESSION_ID and end its agent program; its history stays, a prompt wakes it again."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        client.sessions.stop(session)
    print_done(invocation, {"session_id": session_id, "stopped": True}, f"stopped {session_id}")


@command(
    "approve",
    examples=(
        "compozy session approve sess-0123456789abcdef --decision allow-once",
        "compozy session approve sess-0123456789abcdef --decision reject-once --request-id perm-1",
    ),
)
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--decision", type=click.Choice(DECISIONS), required=True, help="The answer.")
@click.option("--request-id", help="Which question (default: the one that is pending).")
@click.option("--turn-id", help="The turn that asked.")
@pass_invocation
def session_approve(
    invocation: Invocation, session_id: str, decision: str, request_id: str | None, turn_id: str | None
) -> None:
    """Answer the permission question of session SESSION_ID, or of one of its children."""
    refuse_agents("answering a permission question")
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        pending = client.sessions.interactions(session, "pending", with_children=True)
        chosen = _question(session_id, pending, request_id)
        answer = client.sessions.approve(
            session,
            request_id or (chosen.provider_request_id if chosen else ""),
            turn_id or (chosen.turn_id if chosen else ""),
            decision,
        )
    print_done(invocation, as_json(answer), f"{answer.outcome}: {answer.resolved_decision or answer.decision}")


def _question(session_id: str, pending: "Sequence[Interaction]", request_id: str | None) -> "Interaction | None":
    matching = [question for question in pending if question.kind == "permission"]
    if request_id is not None:
        return next((question for question in matching if question.provider_request_id == request_id), None)
    if not matching:
        raise LocalError(
            f"session {session_id!r} has no pending permission question; look at what it asked before",
            exit_code=EXIT_REFUSED,
            code="no_pending_permission",
            hint=f"compozy session interactions {session_id}",
        )
    if len(matching) > 1:
        ids = ", ".join(question.provider_request_id for question in matching)
        raise LocalError(
            f"session {session_id!r} asks {len(matching)} questions; choose one with --request-id: {ids}",
            exit_code=EXIT_REFUSED,
            code="ambiguous_request",
            hint=f"compozy session interactions {session_id} --status pending",
        )
    return matching[0]


@command("prompt-cancel", examples=("compozy session prompt-cancel sess-0123456789abcdef",))
@click.argument("session_id", shell_complete=completions.sessions)
@pass_invocation
def session_prompt_cancel(invocation: Invocation, session_id: str) -> int:
    """Cancel the running turn of session SESSION_ID; exits with 66 when nothing runs."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        answer = client.sessions.cancel(session)
    outcome = answer.outcome
    print_done(
        invocation,
        as_json(answer),
        "nothing is running" if outcome == "nothing-in-flight" else "the turn was cancelled",
    )
    return EXIT_NOTHING_IN_FLIGHT if outcome == "nothing-in-flight" else EXIT_OK


@command("remove", examples=("compozy session remove sess-0123456789abcdef --yes",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_invocation
def session_remove(invocation: Invocation, session_id: str, yes: bool) -> None:
    """Delete session SESSION_ID with its whole history."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        confirm(invocation, f'Delete session "{session_id}"?', yes)
        client.sessions.delete(session)
    print_done(invocation, {"session_id": session_id, "removed": True}, f"removed {session_id}")


@command("rename", examples=("compozy session rename sess-0123456789abcdef review",))
@click.argument("session_id", shell_complete=completions.sessions)
@click.argument("name")
@pass_invocation
def session_rename(invocation: Invocation, session_id: str, name: str) -> None:
    """Give session SESSION_ID the name NAME."""
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        renamed = client.sessions.rename(session, name)
    print_object(invocation, as_json(renamed), SESSION_FIELDS, name="session")


def confirm(invocation: Invocation, question: str, yes: bool) -> None:
    """Ask before something is deleted; without a terminal, or for a program, `--yes` is needed.

    Raises:
        click.UsageError: nobody can be asked and `--yes` was not given.
        click.Abort: the answer was no.
    """
    if yes:
        return
    if not invocation.can_ask:
        raise click.UsageError("this deletes something and nobody can be asked here; add --yes")
    click.confirm(question, abort=True, err=True, prompt_suffix=" ")
