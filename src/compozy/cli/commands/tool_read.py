"""`compozy tool list|search|info|explain`, `toolsets list|info`: what agents may call, and why (contract §6)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.connection import JsonObject, as_json, as_object, as_rows, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, print_object, print_rows, write, write_fields, write_json, write_table
from compozy.cli.workspace_context import find

if TYPE_CHECKING:
    from compozy.client.typed import Client


def whose(function: click.decorators.FC) -> click.decorators.FC:
    """Add the options that say through whose eyes tools are looked at."""
    function = click.option("--session", default="", help="A session: what its agent may call.")(function)
    function = click.option(
        "--agent", default="", shell_complete=completions.agents, help="An agent: what a session of it could call."
    )(function)
    return click.option(
        "--workspace",
        shell_complete=completions.workspaces,
        help="Id, name or path of a workspace (default: the one you stand in).",
    )(function)


def place_of(client: "Client", workspace: str | None, session: str) -> str:
    """Return the workspace that is meant; a session has its own."""
    if session:
        return ""
    context = find(client, flag=workspace)
    return context.id if context else ""


def _callable(view: Mapping[str, object]) -> str:
    decision = as_object(view.get("decision"))
    if not decision.get("callable"):
        return "no"
    return "after asking" if decision.get("approval_required") else "yes"


def _why(view: Mapping[str, object]) -> str:
    decision = as_object(view.get("decision"))
    codes = decision.get("reason_codes")
    return ", ".join(str(code) for code in codes) if isinstance(codes, list) else ""


COLUMNS = (
    Column("TOOL", "descriptor", lambda row: text_of(row, "descriptor", "tool_id")),
    Column("RISK", "descriptor", lambda row: text_of(row, "descriptor", "risk")),
    Column("CALLABLE", "decision", _callable),
    Column("WHY", "decision", _why),
    Column("WHAT", "descriptor", lambda row: text_of(row, "descriptor", "display_title")),
)


@command(
    "list",
    examples=("compozy tool list", "compozy tool list --agent reviewer -o json", "compozy tool list --all"),
)
@whose
@click.option("--all", "show_all", is_flag=True, help="Show those that cannot be called too.")
@pass_invocation
def tool_list(invocation: Invocation, workspace: str | None, agent: str, session: str, show_all: bool) -> None:
    """List the tools that can be called."""
    with connected(invocation) as client:
        found = client.tools.list(
            workspace=place_of(client, workspace, session), session_id=session, agent_name=agent
        )
    rows = [row for row in as_rows(found) if show_all or as_object(row.get("decision")).get("callable")]
    print_rows(invocation, rows, COLUMNS, name="tools")


@command("search", examples=('compozy tool search "send a message to another agent"',))
@click.argument("query")
@whose
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many at most.")
@pass_invocation
def tool_search(
    invocation: Invocation, query: str, workspace: str | None, agent: str, session: str, limit: int
) -> None:
    """Find tools by QUERY, also those that cannot be called, with the reason."""
    with connected(invocation) as client:
        place = place_of(client, workspace, session)
        found = client.tools.search(query, limit=limit, workspace_id=place, session_id=session, agent_name=agent)
    print_rows(invocation, as_rows(found), COLUMNS, name="tools")


def _one(invocation: Invocation, tool: str, workspace: str | None, agent: str, session: str) -> JsonObject:
    with connected(invocation) as client:
        place = place_of(client, workspace, session)
        return as_json(client.tools.get(tool, workspace=place, session_id=session, agent_name=agent))


@command(
    "info", examples=("compozy tool info compozy__session_list", "compozy tool info compozy__tool_search -o json")
)
@click.argument("tool")
@whose
@pass_invocation
def tool_info(invocation: Invocation, tool: str, workspace: str | None, agent: str, session: str) -> None:
    """Show TOOL: what it does, what it takes, where it comes from."""
    found = _one(invocation, tool, workspace, agent, session)
    if not invocation.is_human:
        print_object(invocation, found, (), name="tool")
        return
    descriptor = as_object(found.get("descriptor"))
    groups = descriptor.get("toolsets")
    pairs = [
        ("Tool", text_of(descriptor, "tool_id")),
        ("Title", text_of(descriptor, "display_title")),
        ("What", text_of(descriptor, "description")),
        ("Risk", text_of(descriptor, "risk")),
        ("Source", f"{text_of(descriptor, 'source', 'kind')} {text_of(descriptor, 'source', 'owner')}"),
        ("Toolsets", ", ".join(str(group) for group in groups) if isinstance(groups, list) else ""),
        ("Callable", f"{_callable(found)} {_why(found)}".strip()),
    ]
    write_fields([(title, clean(value)) for title, value in pairs])
    write("\nInput\n")
    write_json(descriptor.get("input_schema"))


@command(
    "explain",
    examples=("compozy tool explain compozy__session_stop --agent reviewer", "compozy tool explain mcp__files__read"),
)
@click.argument("tool")
@whose
@pass_invocation
def tool_explain(invocation: Invocation, tool: str, workspace: str | None, agent: str, session: str) -> None:
    """Say why TOOL may be called or not: what each layer of the policy said, in its order."""
    found = _one(invocation, tool, workspace, agent, session)
    if not invocation.is_human:
        print_object(invocation, found, (), name="tool")
        return
    layers = objects(as_object(found.get("decision")).get("layers"))
    rows = [
        [str(number), text_of(layer, "layer"), text_of(layer, "result"), clean(text_of(layer, "detail"))]
        for number, layer in enumerate(layers, start=1)
    ]
    write_table(invocation, ("STEP", "LAYER", "SAYS", "BECAUSE"), rows)
    write(f"\n{tool}: callable: {_callable(found)} {_why(found)}".rstrip() + "\n")


_SET_COLUMNS = (
    Column("TOOLSET", "id"),
    Column("STATUS", "status"),
    Column("TOOLS", "expanded_tools", lambda row: str(len(_ids(row)))),
)


def _ids(row: Mapping[str, object]) -> list[str]:
    found = row.get("expanded_tools")
    return [str(item) for item in found] if isinstance(found, list) else []


@command("list", examples=("compozy toolsets list", "compozy toolsets list -o json"))
@whose
@pass_invocation
def toolsets_list(invocation: Invocation, workspace: str | None, agent: str, session: str) -> None:
    """List the groups of tools that an AGENT.md can name under `toolsets`."""
    with connected(invocation) as client:
        found = client.tools.toolsets(workspace=place_of(client, workspace, session), agent_name=agent)
    print_rows(invocation, as_rows(found), _SET_COLUMNS, name="toolsets")


@command("info", examples=("compozy toolsets info compozy__sessions",))
@click.argument("toolset")
@whose
@pass_invocation
def toolsets_info(invocation: Invocation, toolset: str, workspace: str | None, agent: str, session: str) -> None:
    """Show TOOLSET with every tool it comes to."""
    with connected(invocation) as client:
        place = place_of(client, workspace, session)
        found = as_json(client.tools.toolset(toolset, workspace=place, agent_name=agent))
    if not invocation.is_human:
        print_object(invocation, found, (), name="toolset")
        return
    write_fields([("Toolset", text_of(found, "id")), ("Status", text_of(found, "status"))])
    write("\n" + "".join(f"{tool}\n" for tool in _ids(found)))
