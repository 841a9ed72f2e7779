"""`compozy extension add|list|enable|disable|remove`: agents that come in a folder of their own (decisions D13)."""

from collections.abc import Mapping

import click

from compozy.cli.commands.session_write import confirm
from compozy.cli.connection import as_json, as_rows, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, print_object, print_rows
from compozy.cli.workspace_context import existing_folder


def _agents(row: Mapping[str, object]) -> str:
    return ", ".join(text_of(agent, "name") for agent in objects(row.get("agents")))


def _state(row: Mapping[str, object]) -> str:
    state = "enabled" if row.get("enabled") else "disabled"
    return f"{state}, broken" if row.get("problem") else state


COLUMNS = (
    Column("NAME", "name"),
    Column("VERSION", "version"),
    Column("STATE", "state", _state),
    Column("AGENTS", "agents", _agents),
    Column("FOLDER", "root"),
)
FIELDS = (
    Column("Extension", "name"),
    Column("Version", "version"),
    Column("State", "state", _state),
    Column("Agents", "agents", _agents),
    Column("Folder", "root"),
    Column("Problem", "problem"),
)


@command("add", examples=("compozy extension add ~/extensions/review-kit",))
@click.argument("path")
@pass_invocation
def extension_add(invocation: Invocation, path: str) -> None:
    """Register the extension in folder PATH and bring its agents into force; again: read it anew."""
    folder = str(existing_folder(path, what_for="extension"))
    with connected(invocation) as client:
        added = client.extensions.add(folder)
    print_object(invocation, as_json(added), FIELDS, name="extension")


@command("list", examples=("compozy extension list", "compozy extension list -o json"))
@pass_invocation
def extension_list(invocation: Invocation) -> None:
    """List the registered extensions with their agents."""
    with connected(invocation) as client:
        found = client.extensions.list()
    empty = "no extensions yet; add one: compozy extension add PATH"
    print_rows(invocation, as_rows(found), COLUMNS, name="extensions", empty=empty)
    for row in found:
        if row.problem:
            note(invocation, f"warning: {row.name}: {row.problem}")


@command("enable", examples=("compozy extension enable review-kit",))
@click.argument("name")
@pass_invocation
def extension_enable(invocation: Invocation, name: str) -> None:
    """Bring the agents of extension NAME into force."""
    with connected(invocation) as client:
        enabled = client.extensions.enable(name)
    print_object(invocation, as_json(enabled), FIELDS, name="extension")


@command("disable", examples=("compozy extension disable review-kit",))
@click.argument("name")
@pass_invocation
def extension_disable(invocation: Invocation, name: str) -> None:
    """Take the agents of extension NAME out of force; it stays registered."""
    with connected(invocation) as client:
        disabled = client.extensions.disable(name)
    print_object(invocation, as_json(disabled), FIELDS, name="extension")


@command("remove", examples=("compozy extension remove review-kit --yes",))
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_invocation
def extension_remove(invocation: Invocation, name: str, yes: bool) -> None:
    """Forget extension NAME; its folder stays untouched."""
    with connected(invocation) as client:
        confirm(invocation, f'Forget extension "{name}"?', yes)
        client.extensions.remove(name)
    note(invocation, f"Forgot extension {name}; its folder is untouched.")
