"""`compozy agent list` and `compozy agent info`: what is in force here, and what could not be read.

Implements contract §4.1, §4.3 for reads, decisions D2, D8 (unreadable places), D9 (invalid rows in the table).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.connection import JsonObject, as_json, as_object, connected, objects, text_of
from compozy.cli.failures import local, report
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, note, print_object, print_rows, write, write_fields, write_table
from compozy.cli.wording import count
from compozy.cli.workspace_context import WorkspaceContext, find, not_yet, unregistered
from compozy.model.errors import EXIT_GENERIC, EXIT_OK

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.agent import SourceState
    from compozy.model.fleet import AgentList
    from compozy.model.record import Record


def state_of(agent: Mapping[str, object]) -> str:
    """Return `ok`, or `invalid` for a definition that does not load."""
    return "invalid" if agent.get("diagnostics") and not agent.get("definition_digest") else "ok"


def runtime_of(agent: Mapping[str, object]) -> str:
    """Return `provider · model` as a session would use them."""
    provider = text_of(agent, "effective_runtime", "provider") or text_of(agent, "provider")
    model = text_of(agent, "effective_runtime", "model") or text_of(agent, "model")
    return f"{provider} · {model}" if model else provider


def category_of(agent: Mapping[str, object]) -> str:
    """Return the category's segments joined as the API's filter spells them."""
    path = agent.get("category_path")
    return " / ".join(str(part) for part in path) if isinstance(path, list) else ""


# The largest page of the catalog.
_PAGE = 100
LIST_COLUMNS = (
    Column("NAME", "name"),
    Column("ORIGIN", "origin"),
    Column("STATE", "state", state_of),
    Column("PROVIDER · MODEL", "runtime", runtime_of),
    Column("CATEGORY", "category", category_of),
)
TOON_COLUMNS = (
    Column("NAME", "name"),
    Column("ORIGIN", "origin"),
    Column("STATE", "state", state_of),
    Column("PROVIDER", "provider", lambda row: text_of(row, "effective_runtime", "provider")),
    Column("MODEL", "model", lambda row: text_of(row, "effective_runtime", "model")),
    Column("CATEGORY", "category", category_of),
    Column("DIGEST", "definition_digest"),
)


@command(
    "list",
    examples=("compozy agent list", "compozy agent list --workspace ~/project --all", "compozy agent list -o json"),
)
@click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)
@click.option("--all", "show_all", is_flag=True, help="Also show the definitions that do not load.")
@pass_invocation
def agent_list(invocation: Invocation, workspace: str | None, show_all: bool) -> int:
    """List the agents that are in force in a workspace, or the global ones outside of any."""
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        answer = client.agents.list(context.id if context else "")
        sessions = _session_texts(client, context) if invocation.is_human and context else {}
    rows = [with_source(row, context) for row in answer.agents]
    columns: tuple[Column, ...] = LIST_COLUMNS
    if invocation.is_human and context:
        columns = (*LIST_COLUMNS[:-1], _sessions_column(sessions), LIST_COLUMNS[-1])
    invalid = [row for row in rows if state_of(row) == "invalid"]
    hidden = [] if show_all or not invocation.is_human else invalid
    shown = [row for row in rows if state_of(row) == "ok" or not hidden]
    if rows or not unreadable(answer):
        if invocation.is_human and any(category_of(row) for row in shown):
            _write_tree(invocation, shown, columns[:-1])
        else:
            print_rows(
                invocation, shown, columns, name="agents", toon_columns=TOON_COLUMNS, empty=_none_found(context)
            )
    if invocation.is_human:
        _list_footer(invocation, rows, hidden, context)
    return _report_sources(invocation, answer, anything_read=bool(rows))


@command("info", examples=("compozy agent info general", "compozy agent info reviewer -o json"))
@click.argument("name", shell_complete=completions.agents)
@click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)
@pass_invocation
def agent_info(invocation: Invocation, name: str, workspace: str | None) -> None:
    """Show agent NAME as it would run here: the file in force, its runtime, tools and capabilities."""
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        agent = with_source(client.agents.get(name, context.id if context else ""), context)
    if invocation.is_human:
        _print_agent(agent)
    else:
        print_object(invocation, agent, (), name="agent")


def with_source(record: "Record | JsonObject", context: WorkspaceContext | None) -> JsonObject:
    """Return a record as JSON data; first `resolution_source`, when a workspace was resolved (contract §4.2)."""
    found = record if isinstance(record, dict) else as_json(record)
    return {"resolution_source": context.source, **found} if context else found


def unreadable(answer: "AgentList") -> "list[SourceState]":
    """Return the places that could not be read."""
    return [source for source in answer.sources if source.state == "unreadable"]


def _report_sources(invocation: Invocation, answer: "AgentList", *, anything_read: bool) -> int:
    failed = unreadable(answer)
    for source in failed:
        reason = source.message or "the system refused"
        text = f"could not read {source.path!r}: {reason}; the list is incomplete until you may read it"
        report(local(text, code="source_unreadable"), invocation.format)
    return EXIT_GENERIC if failed and not anything_read else EXIT_OK


def _none_found(context: WorkspaceContext | None) -> str:
    place = context.workspace.root_dir + "/.compozy/agents" if context else "~/.compozy/agents"
    return f"no agents found; write one to {clean(place)}/NAME/AGENT.md, or make the standard one: compozy install"


def _session_texts(client: "Client", context: WorkspaceContext) -> dict[str, str] | None:
    """Return what to say of each agent's sessions; None when the session store cannot be read."""
    texts: dict[str, str] = {}
    cursor = ""
    while True:
        page = client.agents.catalog(context.id, limit=_PAGE, cursor=cursor)
        if not page.sessions_available:
            return None
        for row in page.agents:
            total, active = (row.sessions.total, row.sessions.active) if row.sessions else (0, 0)
            texts[row.agent.name] = f"{total}, {active} active" if active else str(total)
        cursor = page.page.next_cursor or ""
        if not cursor:
            return texts


def _sessions_column(texts: Mapping[str, str] | None) -> Column:
    def text(row: Mapping[str, object]) -> str:
        if texts is None:
            return "unavailable"
        return texts.get(text_of(row, "name"), "") if state_of(row) == "ok" else ""

    return Column("SESSIONS", "sessions", text)


def _write_tree(invocation: Invocation, rows: Sequence[JsonObject], columns: Sequence[Column]) -> None:
    """Write the table as a tree: agents without a category, then each category with its agents below it."""
    lines: list[list[str]] = []
    above: tuple[str, ...] = ()
    for row in sorted(rows, key=lambda row: (_segments(row), text_of(row, "name"))):
        path = _segments(row)
        same = next((n for n, (one, two) in enumerate(zip(path, above, strict=False)) if one != two), len(above))
        for depth in range(min(same, len(path)), len(path)):
            lines.append([f"{'  ' * depth}{clean(path[depth])}/", *[""] * (len(columns) - 1)])
        above = path
        cells = [column.render(row) for column in columns]
        lines.append(["  " * len(path) + cells[0], *cells[1:]])
    write_table(invocation, [column.title for column in columns], lines)


def _segments(row: JsonObject) -> tuple[str, ...]:
    path = row.get("category_path")
    return tuple(str(part) for part in path) if isinstance(path, list) else ()


def _list_footer(
    invocation: Invocation, rows: Sequence[JsonObject], hidden: Sequence[JsonObject], context: WorkspaceContext | None
) -> None:
    invalid = [row for row in rows if state_of(row) == "invalid"]
    usable = len(rows) - len(invalid)
    parts = [count(usable, "agent")] if rows else []
    if hidden:
        files = count(len(hidden), "definition does not load", "definitions do not load")
        parts.append(f"{files}; see why with: compozy agent list --all")
    if parts and (hidden or any(category_of(row) for row in rows)):
        write(f"\n{' · '.join(parts)}\n")
    if invalid and not hidden:
        found = [diagnostic for row in invalid for diagnostic in objects(row.get("diagnostics"))]
        _print_list("Problems", [(text_of(d, "path"), text_of(d, "message")) for d in found])
    warnings = [text_of(warning, "message") for row in rows for warning in objects(row.get("warnings"))]
    for message in warnings:
        note(invocation, f"warning: {message}")
    root = unregistered(context)
    if root is not None:
        note(invocation, f"\n{not_yet(root)}")


def _print_agent(agent: JsonObject) -> None:
    sources = agent.get("effective_runtime")
    effective = as_object(sources) if isinstance(sources, dict) else {}
    fields = [
        ("Name", "name"),
        ("Origin", "origin"),
        ("File", "path"),
        ("Digest", "definition_digest"),
    ]
    pairs = [(title, clean(text_of(agent, key))) for title, key in fields]
    for title, key in (("Provider", "provider"), ("Model", "model"), ("Effort", "reasoning_effort")):
        pairs.append((title, _with_origin(effective, key) or clean(text_of(agent, key))))
    for title, key in (("Command", "command"), ("Permissions", "permissions")):
        pairs.append((title, clean(text_of(agent, key))))
    for title, key in (("Tools", "tools"), ("Toolsets", "toolsets"), ("Denied tools", "deny_tools")):
        pairs.append((title, Column(title, key).render(agent)))
    pairs.append(("Category", clean(category_of(agent))))
    servers = [text_of(server, "name") for server in objects(agent.get("mcp_servers"))]
    pairs.append(("MCP servers", clean(", ".join(servers))))
    write_fields(pairs)
    _print_list(
        "Capabilities", [(text_of(c, "id"), text_of(c, "summary")) for c in objects(agent.get("capabilities"))]
    )
    _print_list("Problems", [(text_of(d, "path"), text_of(d, "message")) for d in objects(agent.get("diagnostics"))])
    prompt = clean(text_of(agent, "prompt")).strip()
    if prompt:
        write("\nPrompt\n" + "".join(f"  {line}\n" if line else "\n" for line in prompt.splitlines()))


def _with_origin(effective: JsonObject, key: str) -> str:
    value = text_of(effective, key)
    source = text_of(effective, "sources", key)
    return clean(f"{value} (from {source.replace('_', ' ')})" if value and source else value)


def _print_list(title: str, entries: Sequence[tuple[str, str]]) -> None:
    if entries:
        write(f"\n{title}\n" + "".join(f"  {clean(name)}  {clean(text)}\n" for name, text in entries))
