"""`compozy roles list|show`: who does the daemon's own jobs, and where that comes from (contract §4.1, §9)."""

from collections.abc import Mapping

import click

from compozy.cli import completions
from compozy.cli.commands.agent_read import with_source
from compozy.cli.connection import JsonObject, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, print_object, print_rows, write, write_fields
from compozy.cli.workspace_context import find

_WORKSPACE = click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)


def _agent(role: Mapping[str, object]) -> str:
    if role.get("agent"):
        return text_of(role, "agent")
    return "(the invoking agent)" if role.get("resolution_mode") == "inherit" else ""


def _state(role: Mapping[str, object]) -> str:
    if not role.get("enabled"):
        return "off"
    return "problem" if role.get("diagnostics") else "on"


COLUMNS = (
    Column("ROLE", "role"),
    Column("STATE", "state", _state),
    Column("AGENT", "agent", _agent),
    Column("PROVIDER", "provider"),
    Column("MODEL", "model"),
)


@command("list", examples=("compozy roles list", "compozy roles list --workspace ~/project -o json"))
@_WORKSPACE
@pass_invocation
def roles_list(invocation: Invocation, workspace: str | None) -> None:
    """List the daemon's own jobs and who does them here."""
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        found = client.roles.list(context.id if context else "")
    rows = [with_source(row, context) for row in found]
    print_rows(invocation, rows, COLUMNS, name="roles")


@command("show", examples=("compozy roles show auto_title", "compozy roles show coordinator -o json"))
@click.argument("role")
@_WORKSPACE
@pass_invocation
def roles_show(invocation: Invocation, role: str, workspace: str | None) -> None:
    """Show ROLE: who does it, with what, and where each value comes from."""
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        found = with_source(client.roles.get(role, context.id if context else ""), context)
    if invocation.is_human:
        _print(found)
    else:
        print_object(invocation, found, (), name="role")


def _print(role: JsonObject) -> None:
    pairs = [("Role", text_of(role, "role")), ("State", _state(role))]
    values = (("Agent", "agent"), ("Provider", "provider"), ("Model", "model"), ("Effort", "reasoning_effort"))
    for title, key in values:
        value = _agent(role) if key == "agent" else text_of(role, key)
        source = text_of(role, "provenance", key).replace("_", " ")
        pairs.append((title, f"{value} (from {source})" if value and source else value))
    pairs.append(("Timeout", text_of(role, "timeout")))
    chain = [f"{text_of(row, 'provider')} · {text_of(row, 'model')}" for row in objects(role.get("fallback_chain"))]
    pairs.append(("Fallbacks", ", ".join(chain)))
    write_fields([(title, clean(value)) for title, value in pairs])
    for row in objects(role.get("diagnostics")):
        write(f"\n{clean(text_of(row, 'message'))}\n")
