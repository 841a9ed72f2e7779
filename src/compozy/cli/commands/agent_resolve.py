"""`compozy agent resolve NAME`: every value a session would use, with its source and its file (issue 5 item 4)."""

from collections.abc import Mapping

import click

from compozy.cli import completions
from compozy.cli.commands.agent_read import with_source
from compozy.cli.connection import connected, objects, text_of
from compozy.cli.groups import command as cli_command
from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, plain, print_object, write_table
from compozy.cli.workspace_context import find


def _value(row: Mapping[str, object]) -> str:
    return plain(row.get("value")) or "–"


def _source(row: Mapping[str, object]) -> str:
    source = text_of(row, "source").replace("_", " ")
    return "" if source == "none" else source


def _place(row: Mapping[str, object]) -> str:
    return " · ".join(part for part in (text_of(row, "place"), text_of(row, "note")) if part)


COLUMNS = (
    Column("VALUE OF", "name"),
    Column("VALUE", "value", _value),
    Column("SOURCE", "source", _source),
    Column("FROM", "place", _place),
)


@cli_command(
    "resolve",
    examples=("compozy agent resolve general", "compozy agent resolve reviewer --workspace ~/project -o json"),
)
@click.argument("name", shell_complete=completions.agents)
@click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)
@pass_invocation
def command(invocation: Invocation, name: str, workspace: str | None) -> None:
    """Show what a session of agent NAME would use here: each value, which rule gave it, and the file that says it."""
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        answer = client.agents.resolution(name, context.id if context else "")
    found = with_source(answer, context)
    if not invocation.is_human:
        print_object(invocation, found, (), name="resolution")
        return
    rows = [[column.render(row) for column in COLUMNS] for row in objects(found.get("values"))]
    write_table(invocation, [column.title for column in COLUMNS], rows)
    if not answer.trusted:
        note(invocation, "\nit starts only after it was trusted; see what it would run with: compozy trust show")
