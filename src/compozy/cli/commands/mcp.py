"""`compozy mcp list|explain`: which MCP servers an agent is given, and which file won (issue 7 item 4; D19, P37)."""

from collections.abc import Mapping

import click

from compozy.cli import completions
from compozy.cli.connection import JsonObject, as_json, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, note, print_object, print_rows, write, write_fields, write_table
from compozy.cli.workspace_context import find
from compozy.model.errors import EXIT_UNAVAILABLE, LocalError

_STATES = {
    "in_force": "given",
    "denied": "denied",
    "not_allowed": "not allowed",
    "untrusted": "needs trust",
}


def _state(server: Mapping[str, object]) -> str:
    return _STATES.get(text_of(server, "state"), text_of(server, "state"))


def _hidden(server: Mapping[str, object]) -> str:
    return ", ".join(
        text_of(one, "at") for one in objects(server.get("sources")) if one.get("standing") == "replaced"
    )


COLUMNS = (
    Column("NAME", "name"),
    Column("STATE", "state", _state),
    Column("TRANSPORT", "transport"),
    Column("DEFINED IN", "at"),
    Column("HIDES", "sources", _hidden),
)
_AGENT = click.option("--agent", shell_complete=completions.agents, help="What this agent is given.")
_WORKSPACE = click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)


@command("list", examples=("compozy mcp list", "compozy mcp list --agent reviewer --workspace ~/project -o json"))
@_AGENT
@_WORKSPACE
@pass_invocation
def mcp_list(invocation: Invocation, agent: str | None, workspace: str | None) -> None:
    """List the MCP servers that are given here. Starts none."""
    report = _report(invocation, agent, workspace)
    rows = objects(report.get("servers"))
    print_rows(invocation, rows, COLUMNS, name="servers", envelope=report, empty="no MCP servers are defined here")
    for problem in _problems(report):
        note(invocation, problem)
    for row in rows:
        if row.get("reason"):
            note(invocation, f"{clean(text_of(row, 'name'))}: {clean(text_of(row, 'reason'))}")


@command("explain", examples=("compozy mcp explain", "compozy mcp explain tracker --agent reviewer"))
@click.argument("server", required=False)
@_AGENT
@_WORKSPACE
@pass_invocation
def mcp_explain(invocation: Invocation, server: str | None, agent: str | None, workspace: str | None) -> None:
    """Say which file won for SERVER, or for every server, and for each of its keys. Shows no secret."""
    report = _report(invocation, agent, workspace)
    rows = objects(report.get("servers"))
    if server is not None:
        rows = [row for row in rows if row.get("name") == server]
        if not rows:
            known = ", ".join(text_of(row, "name") for row in objects(report.get("servers"))) or "none"
            raise LocalError(
                f"no MCP server is called {server!r} here; defined are: {known}",
                exit_code=EXIT_UNAVAILABLE,
                code="mcp_server_not_found",
                hint="compozy mcp list",
            )
    if not invocation.is_human:
        if server is None:
            print_rows(invocation, rows, COLUMNS, name="servers", envelope=report)
        else:
            print_object(invocation, rows[0], (), name="server")
        return
    for number, row in enumerate(rows):
        write("\n" if number else "")
        _print(invocation, row)
    if not rows:
        write("no MCP servers are defined here; looked in:\n")
        for path in _texts(report, "looked"):
            write(f"  {clean(path)}\n")
    for problem in _problems(report):
        note(invocation, problem)


def _report(invocation: Invocation, agent: str | None, workspace: str | None) -> JsonObject:
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        return as_json(client.mcp.servers(context.id if context else "", agent or ""))


def _problems(report: JsonObject) -> list[str]:
    return [f"not read: {clean(problem)}" for problem in _texts(report, "problems")]


def _texts(report: JsonObject, name: str) -> list[str]:
    found = report.get(name)
    return [str(one) for one in found] if isinstance(found, list) else []


def _print(invocation: Invocation, server: JsonObject) -> None:
    reason = text_of(server, "reason")
    state = f"{_state(server)}: {reason}" if reason else _state(server)
    pairs = [("Server", text_of(server, "name")), ("State", state), ("Tools", text_of(server, "tools"))]
    for source in objects(server.get("sources")):
        words = [text_of(source, "at"), "" if source.get("trusted") else "not trusted", text_of(source, "why")]
        title = {"effective": "Defined in", "merged": "Fields from", "replaced": "Hidden"}
        pairs.append((title.get(text_of(source, "standing"), ""), "; ".join(word for word in words if word)))
    write_fields([(title, clean(value)) for title, value in pairs])
    rows = [
        [clean(text_of(key, "key")), _value(key), clean(text_of(key, "place")), clean(text_of(key, "note"))]
        for key in objects(server.get("keys"))
    ]
    write_table(invocation, ["KEY", "VALUE", "FROM", "NOTE"], rows)


def _value(key: JsonObject) -> str:
    value, state = clean(text_of(key, "value")), text_of(key, "state")
    if state == "redacted":
        return value
    if state == "set" and value and not text_of(key, "key").startswith("secret_"):
        return value
    return f"{state} ({value})" if value else state
