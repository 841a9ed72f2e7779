"""`compozy tool approvals list|set|revoke`: answers about tools that are remembered (contract §4.1, §6.3)."""

from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.connection import as_json, as_rows, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import Column, note, print_object, print_rows
from compozy.cli.workspace_context import find

if TYPE_CHECKING:
    from compozy.client.typed import Client

COLUMNS = (
    Column("GRANT", "id"),
    Column("TOOL", "tool_id"),
    Column("ANSWER", "decision"),
    Column("AGENT", "agent_name", lambda row: str(row.get("agent_name") or "(all)")),
    Column("INPUT", "input_digest", lambda row: "one exact input" if row.get("input_digest") else "any"),
    Column("LAST USED", "last_used_at"),
)
_WORKSPACE = click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)


def _place(client: "Client", workspace: str | None) -> str:
    context = find(client, flag=workspace)
    if context is None:
        raise click.UsageError("answers belong to a workspace: name one with --workspace")
    return context.id


@command(
    "list", examples=("compozy tool approvals list", "compozy tool approvals list --workspace ~/project -o json")
)
@_WORKSPACE
@pass_invocation
def approvals_list(invocation: Invocation, workspace: str | None) -> None:
    """List the remembered answers of a workspace."""
    with connected(invocation) as client:
        rows = as_rows(client.tools.grants(_place(client, workspace)))
    print_rows(invocation, rows, COLUMNS, name="grants")


@command(
    "set",
    examples=(
        "compozy tool approvals set compozy__agent_create reject",
        "compozy tool approvals set compozy__session_stop allow --agent lead",
    ),
)
@click.argument("tool")
@click.argument("answer", type=click.Choice(["allow", "reject"]))
@click.option("--agent", default="", shell_complete=completions.agents, help="For this agent only.")
@_WORKSPACE
@pass_invocation
def approvals_set(invocation: Invocation, tool: str, answer: str, agent: str, workspace: str | None) -> None:
    """Remember that TOOL is allowed without asking, or rejected."""
    refuse_agents("tool approvals")
    with connected(invocation) as client:
        grant = client.tools.set_grant(_place(client, workspace), tool, answer, agent)
    print_object(invocation, as_json(grant), COLUMNS, name="grant")


@command("revoke", examples=("compozy tool approvals revoke grant-0123456789abcdef",))
@click.argument("grant")
@_WORKSPACE
@pass_invocation
def approvals_revoke(invocation: Invocation, grant: str, workspace: str | None) -> None:
    """Forget a remembered answer."""
    refuse_agents("tool approvals")
    with connected(invocation) as client:
        client.tools.revoke_grant(_place(client, workspace), grant)
    note(invocation, f"forgot {grant}")
