"""`compozy agent which` and `compozy agent why`: which file is really running, and why a name is not found.

Implements decisions D7–D9 for people (reports P23, P24). The daemon explains; here it is only laid out.
"""

from pathlib import Path

import click

from compozy.cli import completions
from compozy.cli.commands.agent_read import with_source
from compozy.cli.connection import JsonObject, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import clean, note, print_object, write, write_fields
from compozy.cli.wording import count
from compozy.cli.workspace_context import find, not_yet, registering, shell_word, unregistered
from compozy.model.errors import EXIT_UNAVAILABLE, LocalError

_WORKSPACE = click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)


@command("which", examples=("compozy agent which general", "compozy agent which reviewer -o json"))
@click.argument("name", shell_complete=completions.agents)
@_WORKSPACE
@pass_invocation
def agent_which(invocation: Invocation, name: str, workspace: str | None) -> None:
    """Show the file that defines agent NAME here, and every other one it hides."""
    found, root = _explain(invocation, name, workspace)
    effective = found.get("effective")
    if not isinstance(effective, dict):
        raise LocalError(
            f"agent {name!r} is not defined here" + (f"; {str(root)!r} is no workspace yet" if root else ""),
            code="agent_not_found",
            exit_code=EXIT_UNAVAILABLE,
            hint=registering(root) if root else f"compozy agent why {shell_word(name)}",
        )
    if not invocation.is_human:
        print_object(invocation, found, (), name="definitions")
        return
    _print_definition("In force", effective)
    for hidden in objects(found.get("hidden")):
        _print_definition(_TITLES.get(text_of(hidden, "state"), "Hidden"), hidden, gap=True)


@command("why", examples=("compozy agent why reviwer", "compozy agent why reviewer --workspace ~/project"))
@click.argument("name", shell_complete=completions.agents)
@_WORKSPACE
@pass_invocation
def agent_why(invocation: Invocation, name: str, workspace: str | None) -> None:
    """Say why agent NAME is found here or not: every place looked at, what could not be read, near names."""
    found, root = _explain(invocation, name, workspace)
    if not invocation.is_human:
        print_object(invocation, found, (), name="definitions")
        return
    effective = found.get("effective")
    if isinstance(effective, dict):
        write(
            f"{clean(name)} is in force: {clean(text_of(effective, 'rule'))}\n  {clean(text_of(effective, 'path'))}\n"
        )
    elif found.get("reserved"):
        write(f"{clean(name)} is a reserved name: no file can define it; choose another\n")
    else:
        write(f"{clean(name)} is not defined here\n")
    _print_looked(found)
    hidden = objects(found.get("hidden"))
    if hidden:
        write("\nFiles of that name\n")
        for item in hidden:
            write(f"  {clean(text_of(item, 'path'))}\n    {clean(text_of(item, 'rule'))}\n")
    near = found.get("nearest")
    if isinstance(near, list) and near:
        write(f"\nDid you mean {clean(' or '.join(map(str, near)))}?\n")
    if root is not None:
        note(invocation, f"\n{not_yet(root)}")


_TITLES = {"invalid": "Does not load", "reserved": "Reserved", "other_name": "Other name"}


def _explain(invocation: Invocation, name: str, workspace: str | None) -> tuple[JsonObject, Path | None]:
    """Return what the daemon found, and the folder around here that has agents but is no workspace yet."""
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        answer = client.agents.definitions(name, context.id if context else "")
    return with_source(answer, context), unregistered(context)


def _print_definition(title: str, item: JsonObject, *, gap: bool = False) -> None:
    if gap:
        write("\n")
    size = item.get("size")
    pairs = [
        (title, clean(text_of(item, "path"))),
        ("  Place", clean(text_of(item, "place"))),
        ("  Digest", text_of(item, "definition_digest")),
        ("  Size", f"{size:,} bytes" if isinstance(size, int) else ""),
        ("  Because", clean(text_of(item, "rule"))),
    ]
    for number, difference in enumerate(objects(item.get("differs"))):
        one, two = (clean(text_of(difference, side)) or "not set" for side in ("effective", "hidden"))
        label = "" if number else "  Differs"
        pairs.append((label or "   ", f"{clean(text_of(difference, 'field'))}: {two} here, {one} in force"))
    write_fields(pairs)


def _print_looked(found: JsonObject) -> None:
    looked = found.get("looked")
    paths = [str(path) for path in looked] if isinstance(looked, list) else []
    sources = objects(found.get("sources"))
    write(f"\nLooked in {count(len(sources), 'place', 'places')}, in this order\n")
    for source, path in zip(sources, paths, strict=False):
        state = text_of(source, "state")
        remark = {"missing": "no such folder", "unreadable": text_of(source, "message") or "could not be read"}
        write(f"  {clean(path)}{'  (' + clean(remark[state]) + ')' if state in remark else ''}\n")
