"""`compozy workspace add|list|info|edit|remove`: the folders agents work in (contract §3.4, §4.1)."""

from collections.abc import Sequence

import click

from compozy.cli import completions
from compozy.cli.commands.agent_read import LIST_COLUMNS, with_source
from compozy.cli.commands.session_write import confirm
from compozy.cli.connection import JsonObject, as_json, as_rows, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, print_object, print_rows, write, write_json, write_json_line, write_table
from compozy.cli.sessions import SESSION_COLUMNS
from compozy.cli.workspace_context import WorkspaceContext, existing_folder, find
from compozy.model.errors import LocalError
from compozy.model.record import Record

COLUMNS = (
    Column("ID", "id"),
    Column("NAME", "name"),
    Column("ROOT", "root_dir"),
    Column("MORE FOLDERS", "add_dirs"),
    Column("DEFAULT AGENT", "default_agent"),
)
FIELDS = (
    Column("Workspace", "id"),
    Column("Name", "name"),
    Column("Root", "root_dir"),
    Column("More folders", "add_dirs"),
    Column("Default agent", "default_agent"),
    Column("Sandbox", "sandbox_ref"),
    Column("Created", "created_at"),
)


@command(
    "add",
    examples=(
        "compozy workspace add .",
        "compozy workspace add ~/project --name project --add-dir ~/shared-agents --default-agent general",
    ),
)
@click.argument("path")
@click.option("--name", help="Its name (default: the folder's name).")
@click.option("--add-dir", "add_dirs", multiple=True, help="One more folder to read agents from; repeatable.")
@click.option("--default-agent", help="The agent of sessions that name none.")
@click.option("--sandbox", help="Reference of a sandbox profile.")
@pass_invocation
def workspace_add(
    invocation: Invocation,
    path: str,
    name: str | None,
    add_dirs: tuple[str, ...],
    default_agent: str | None,
    sandbox: str | None,
) -> None:
    """Register the folder PATH as a workspace."""
    root = str(existing_folder(path))
    folders = [str(existing_folder(folder)) for folder in add_dirs]
    with connected(invocation) as client:
        made = client.workspaces.create(
            root,
            name=name or None,
            add_dirs=folders or None,
            default_agent=default_agent or None,
            sandbox_ref=sandbox or None,
        )
    print_object(invocation, as_json(made), FIELDS, name="workspace")


@command("list", examples=("compozy workspace list", "compozy workspace list -o json"))
@pass_invocation
def workspace_list(invocation: Invocation) -> None:
    """List the registered workspaces."""
    with connected(invocation) as client:
        rows = as_rows(client.workspaces.list())
    print_rows(
        invocation, rows, COLUMNS, name="workspaces", empty="no workspaces yet; register one: compozy workspace add ."
    )


@command("info", examples=("compozy workspace info", "compozy workspace info project -o json"))
@click.argument("workspace", required=False, shell_complete=completions.workspaces)
@pass_invocation
def workspace_info(invocation: Invocation, workspace: str | None) -> None:
    """Show WORKSPACE (an id, name or path; default: the one you stand in) with its agents and sessions."""
    with connected(invocation) as client:
        context = _context(find(client, positional=workspace))
        detail = client.workspaces.detail(context.id)
    record = with_source(detail, context)
    if not invocation.is_human:
        print_object(invocation, record, (), name="workspace")
        return
    print_object(invocation, as_json(detail.workspace), FIELDS, name="workspace")
    parts: tuple[tuple[str, Sequence[Record], Sequence[Column]], ...] = (
        ("Agents", detail.agents, LIST_COLUMNS),
        ("Sessions", detail.sessions, SESSION_COLUMNS),
    )
    for title, found, columns in parts:
        rows = as_rows(found)
        if rows:
            write(f"\n{title}\n")
            write_table(invocation, [c.title for c in columns], [[c.render(row) for c in columns] for row in rows])


@command(
    "edit",
    examples=("compozy workspace edit project --name product", "compozy workspace edit . --default-agent general"),
)
@click.argument("workspace", required=False, shell_complete=completions.workspaces)
@click.option("--name", help="A new name.")
@click.option("--add-dir", "add_dirs", multiple=True, help="Replace the further folders by these; repeatable.")
@click.option("--default-agent", help="The agent of sessions that name none.")
@click.option("--sandbox", help="Reference of a sandbox profile.")
@pass_invocation
def workspace_edit(
    invocation: Invocation,
    workspace: str | None,
    name: str | None,
    add_dirs: tuple[str, ...],
    default_agent: str | None,
    sandbox: str | None,
) -> None:
    """Change WORKSPACE; what is not given stays as it is."""
    folders = [str(existing_folder(folder)) for folder in add_dirs] or None
    if (name, folders, default_agent, sandbox) == (None,) * 4:
        raise click.UsageError("nothing to change; give --name, --add-dir, --default-agent or --sandbox")
    with connected(invocation) as client:
        context = _context(find(client, positional=workspace))
        changed = client.workspaces.update(
            context.id, name=name, add_dirs=folders, default_agent=default_agent, sandbox_ref=sandbox
        )
    record = with_source(changed, context)
    print_object(invocation, record, FIELDS, name="workspace")


@command("remove", examples=("compozy workspace remove project --yes",))
@click.argument("workspace", shell_complete=completions.workspaces)
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_invocation
def workspace_remove(invocation: Invocation, workspace: str, yes: bool) -> None:
    """Forget WORKSPACE; the folder and its files stay untouched."""
    with connected(invocation) as client:
        context = _context(find(client, positional=workspace))
        confirm(invocation, f'Forget workspace "{context.workspace.name}"?', yes)
        client.workspaces.delete(context.id)
    answer: JsonObject = {"workspace_id": context.id, "removed": True}
    if invocation.is_human:
        note(
            invocation,
            f"forgot {context.workspace.name}; its files stay in {context.workspace.root_dir}",
        )
    elif invocation.format == "json":
        write_json(answer)
    elif invocation.format == "jsonl":
        write_json_line(answer)
    else:
        print_object(invocation, answer, (), name="result")


def _context(found: WorkspaceContext | None) -> WorkspaceContext:
    if found is None:
        raise LocalError(
            "this folder is no workspace; register it first",
            code="workspace_not_found",
            hint="compozy workspace add .",
        )
    return found
