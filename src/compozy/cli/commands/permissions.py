"""`compozy permissions explain`: what would happen if an agent did something, and what would change it (issue 6)."""

import click

from compozy.cli import completions
from compozy.cli.connection import JsonObject, as_json, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, print_object, safe_line, write
from compozy.cli.sessions import RUN_PERMISSIONS
from compozy.cli.workspace_context import find_or_register

KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other")
PERMISSION_MODES = ("deny-all", "approve-reads", "approve-all")


def _steps(found: JsonObject) -> str:
    mode = found.get("mode")
    steps = objects(mode.get("steps")) if isinstance(mode, dict) else []
    return "; ".join(f"{text_of(s, 'source')} {text_of(s, 'effect')} {text_of(s, 'mode')}" for s in steps)


def _layers(found: JsonObject) -> str:
    return " → ".join(f"{text_of(item, 'name')}: {text_of(item, 'result')}" for item in objects(found.get("layers")))


def _otherwise(found: JsonObject) -> str:
    seconds = int(text_of(found, "answer_seconds") or 0)
    return f"after {seconds // 60} minutes: {text_of(found, 'default_decision')}" if seconds else ""


_FIELDS = (
    Column("Verdict", "verdict"),
    Column("Because", "reason"),
    Column("Unanswered", "answer_seconds", lambda row: _otherwise(dict(row))),
    Column("Mode", "mode", lambda row: f"{text_of(row, 'mode', 'mode')} (from {text_of(row, 'mode', 'source')})"),
    Column("Derived", "mode", lambda row: _steps(dict(row))),
    Column("Layers", "layers", lambda row: _layers(dict(row))),
    Column("May touch", "roots"),
    Column("Definition", "definition_path"),
)


@command(
    "explain",
    examples=(
        "compozy permissions explain general --tool fs/write_text_file --path notes.txt",
        "compozy permissions explain general --tool Bash --kind execute",
        "compozy permissions explain --session sess-0123456789abcdef --kind edit --path ../other/file",
    ),
)
@click.argument("agent", required=False, shell_complete=completions.agents)
@click.option("--session", "session_id", shell_complete=completions.sessions, help="A session as it is, instead.")
@click.option(
    "--tool",
    default="",
    help="fs/read_text_file, fs/write_text_file or terminal/create (or read, write, terminal) for what goes through "
    "the daemon; any other name is a tool of the agent's own, for which it asks.",
)
@click.option("--path", "paths", multiple=True, help="A path it would touch; repeat it.")
@click.option("--kind", type=click.Choice(KINDS), help="The kind of the tool call, for a tool of the agent's own.")
@click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)
@click.option("--permissions", type=click.Choice(PERMISSION_MODES), help="As if the session was created with this.")
@pass_invocation
def permissions_explain(
    invocation: Invocation,
    agent: str | None,
    session_id: str | None,
    tool: str,
    paths: tuple[str, ...],
    kind: str | None,
    workspace: str | None,
    permissions: str | None,
) -> None:
    """Say what would happen if AGENT did something: mode and sources, each layer, and what would change it."""
    if (agent is None) == (session_id is None):
        raise click.UsageError("give an agent or --session, one of them")
    with connected(invocation) as client:
        place = "" if session_id is not None else find_or_register(client, flag=workspace, path=None).id
        told = client.attention.explain(
            agent=agent or "",
            session_id=session_id or "",
            workspace=place,
            tool=tool,
            kind=kind or "",
            paths=paths,
            permissions=permissions or "",
        )
    found = as_json(told)
    print_object(invocation, found, _FIELDS, name="explanation")
    if invocation.is_human and told.changes:
        write("What would change it:\n")
        for change in told.changes:
            write(f"  - {safe_line(change)}\n")
    if agent is not None and permissions is None:
        note(
            invocation,
            f"\nthis is what a session does; a run opens one with {RUN_PERMISSIONS}: "
            f"add --permissions {RUN_PERMISSIONS} to see that",
        )
