"""`compozy run`: a task, an agent, a session, an answer (issue 2 item 8; decisions D21, D30; reports P45).

Starts the daemon when none runs, picks the agent, opens a session and drives one turn. Afterwards the session is
stopped, so that no agent program is left behind; a prompt wakes it again. `--keep` leaves it running.
"""

import shlex
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import click

from compozy.cli import completions
from compozy.cli.attaching import attach_option, uploaded
from compozy.cli.commands.agent_read import with_source
from compozy.cli.commands.permissions import KINDS
from compozy.cli.commands.session_write import PERMISSION_MODES
from compozy.cli.connection import JsonObject, as_json, text_of
from compozy.cli.daemon_start import connected_or_started
from compozy.cli.failures import describe, report
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import clean, note
from compozy.cli.sessions import RUN_PERMISSIONS, read_text, runtime_text, turn_options, who_answers
from compozy.cli.trust_question import with_trust
from compozy.cli.turn_ending import DEATHS
from compozy.cli.turn_report import finish, login_remedy, report_object
from compozy.cli.turns import LEFT_RUNNING, Turn, TurnOptions, TurnResult, prompt_body
from compozy.cli.wording import count, write_duration
from compozy.cli.workspace_context import WorkspaceContext, find_or_register
from compozy.model.errors import EXIT_AGENT_DIED, CompozyError, LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.session import Session


class Choice(NamedTuple):
    """The agent for the task ("" for the workspace's default) and why."""

    agent: str
    reason: str


@command(
    "run",
    examples=(
        'compozy run "where is the retry limit configured?"',
        'compozy run "review the last change" --agent reviewer --workspace ~/project',
        'compozy run "list the public functions" --on-ask deny --timeout 5m -o json',
    ),
)
@click.argument("task")
@click.option(
    "--agent",
    shell_complete=completions.agents,
    help="Which agent (default: the one whose capabilities fit the task best).",
)
@click.option("--workspace", metavar="PATH", help="Path, id or name of the workspace (default: where you stand).")
@click.option(
    "--permissions",
    type=click.Choice(PERMISSION_MODES),
    default=RUN_PERMISSIONS,
    show_default=True,
    help="What the agent may do without asking.",
)
@click.option("--name", help="A name to recognise the session by.")
@click.option("--keep", is_flag=True, help="Leave the session running afterwards.")
@attach_option
@turn_options
@pass_invocation
def run(
    invocation: Invocation,
    /,
    task: str,
    agent: str | None,
    workspace: str | None,
    permissions: str,
    name: str | None,
    keep: bool,
    attach: tuple[str, ...],
    on_ask: str | None,
    timeout: float | None,
    require_context: bool,
) -> int:
    """Give TASK to an agent and watch it work; a TASK of `-` is read from standard input.

    Exit codes: 0 done, 1 failed or refused, 70 the agent died, 74 context lost under --require-context, 75 out of
    time or nobody answered, 77 denied by policy, 130 cancelled. Ctrl-C cancels the turn; a second Ctrl-C leaves it
    running.
    """
    task = read_text(task, "the task")
    began = time.monotonic()
    mode = who_answers(invocation, on_ask)
    with connected_or_started(invocation) as client:
        context = find_or_register(client, flag=workspace)
        choice = choose_agent(client, task, context, agent)
        session = with_trust(client, invocation, lambda: open_session(client, choice, context, permissions, name))
        _announce(invocation, choice, session, context)
        options = TurnOptions(on_ask=mode, timeout=timeout, stops_session=not keep)
        try:
            body = prompt_body(task, require_context=require_context)
            result = _drive(client, invocation, session, body, attach, options)
        except LocalError as error:
            return _refused(invocation, error)
    first = with_source({"agent_reason": choice.reason}, context)
    code = finish(
        invocation,
        result,
        report_object(result, session, first),
        remedy=_remedy(result, session, permissions, task, {"--agent": agent, "--workspace": workspace}),
    )
    if invocation.is_human:
        _footer(invocation, result, session, time.monotonic() - began)
    return code


def choose_agent(client: "Client", task: str, context: WorkspaceContext, agent: str | None) -> Choice:
    """Return the named agent, else the daemon's choice for the task, else the default."""
    if agent is not None:
        return Choice(agent, "named on the command line")
    found = client.agents.select(task, context.id)
    return Choice(found.agent, found.reason)


def open_session(
    client: "Client", choice: Choice, context: WorkspaceContext, permissions: str, name: str | None
) -> "Session":
    """Create the session for the run."""
    return client.sessions.create(workspace=context.id, agent=choice.agent, name=name or "", permissions=permissions)


def _drive(
    client: "Client",
    invocation: Invocation,
    session: "Session",
    body: JsonObject,
    attach: tuple[str, ...],
    options: TurnOptions,
) -> TurnResult:
    """Run the one turn; stop the session afterwards, however it ended, unless it was left running on purpose."""
    stop = options.stops_session
    try:
        if attach:
            body = {**body, "attachments": uploaded(client, session, attach)}
        return Turn(client, invocation, session, options).run(body)
    except LocalError as error:
        stop = stop and error.code != LEFT_RUNNING
        raise
    finally:
        if stop:
            _stop(client, session)


def _stop(client: "Client", session: "Session") -> None:
    # The answer is there already; a session that cannot be stopped now is no reason to withhold it.
    with suppress(CompozyError):
        client.sessions.stop(session)


def _refused(invocation: Invocation, error: LocalError) -> int:
    """Report a prompt that started no turn: an agent that could not be started is a dead agent (D30)."""
    failure = describe(error)
    if text_of(failure.payload, "details", "failure_kind") in DEATHS:
        failure = failure._replace(exit_code=EXIT_AGENT_DIED)
    report(failure, invocation.format)
    return failure.exit_code


def _announce(invocation: Invocation, choice: Choice, session: "Session", context: WorkspaceContext) -> None:
    runtime = runtime_text(as_json(session))
    agent = session.agent_name + (f" ({runtime})" if runtime else "")
    note(invocation, f"agent {agent}: {choice.reason or 'the default'}")
    note(invocation, f"workspace {context.workspace.root_dir}\n")


def _footer(invocation: Invocation, result: TurnResult, session: "Session", seconds: float) -> None:
    session_id = session.id
    calls = count(len(result.record.tool_calls), "tool call")
    note(invocation, f"\nsession {session_id} · {write_duration(seconds)} · {calls}")
    note(invocation, f"  what happened:  compozy session events {session_id}")
    note(invocation, f'  go on:          compozy session prompt {session_id} "…"')


def _remedy(
    result: TurnResult, session: "Session", permissions: str, task: str, flags: Mapping[str, str | None]
) -> str:
    """Return the line that would let the agent do what was denied: by us for want of a person, or by its mode."""
    denied = [one for one in result.record.permissions.values() if one.is_denied and one.decided_by != "person"]
    if result.ending.reason != "denied" or not denied:
        return login_remedy(result, session)
    if denied[0].decided_by == "on-ask":
        wider = "--on-ask allow"
    elif permissions == "deny-all":
        wider = f"--permissions {RUN_PERMISSIONS}"
    else:
        about = [f"--kind {denied[0].kind}"] if denied[0].kind in KINDS else []
        about += [f"--path {shlex.quote(place)}" for place in denied[0].places[:1]]
        return clean(" ".join(["compozy", "permissions", "explain", "--session", session.id, *about]))
    given = [f"{flag} {shlex.quote(value)}" for flag, value in flags.items() if value]
    return clean(" ".join(["compozy", "run", shlex.quote(task), *given, wider]))
