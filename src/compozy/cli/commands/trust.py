"""`compozy trust show|grant|revoke`: what a workspace would run, and the decision about it (decisions D15).

Trust holds for files as they are: a changed file asks again. Granting shows what it grants and asks; a script says
which state it means with `--digest`, or `--yes` for whatever is there.
"""

from typing import TYPE_CHECKING

import click

from compozy.cli import completions
from compozy.cli.connection import JsonObject, as_json, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import Column, clean, note, print_object, print_rows, write
from compozy.cli.trust_question import ask_and_grant, kind_of
from compozy.cli.wording import count
from compozy.cli.workspace_context import find_or_register

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.trust import TrustReport

COLUMNS = (
    Column("TRUSTED", "trusted"),
    Column("KIND", "kind", kind_of),
    Column("NAME", "name"),
    Column("WHAT", "runs"),
    Column("FILE", "path"),
)


def _options(function: click.decorators.FC) -> click.decorators.FC:
    function = click.option("--agent", shell_complete=completions.agents, help="Only what this agent uses.")(function)
    return click.option(
        "--workspace",
        shell_complete=completions.workspaces,
        help="Id, name or path of a workspace (default: the one you stand in).",
    )(function)


@command("show", examples=("compozy trust show", "compozy trust show --workspace ~/project --agent reviewer -o json"))
@_options
@pass_invocation
def trust_show(invocation: Invocation, workspace: str | None, agent: str | None) -> None:
    """Show what a workspace brings that would run, receive secrets or widen rights. Runs nothing."""
    with connected(invocation) as client:
        report = as_json(_report(client, workspace, agent))
    _print(invocation, report)


@command(
    "grant",
    examples=(
        "compozy trust grant",
        "compozy trust grant --workspace ~/project --agent reviewer",
        "compozy trust grant --workspace ~/project --agent reviewer --digest 0f3a",
    ),
)
@_options
@click.option("--digest", help="Grant without asking, if the files are still those that `trust show` printed.")
@click.option("--yes", is_flag=True, help="Grant whatever is there now, without asking.")
@pass_invocation
def trust_grant(
    invocation: Invocation, workspace: str | None, agent: str | None, digest: str | None, yes: bool
) -> None:
    """Trust what a workspace brings as it is now. A file that changes later asks again."""
    refuse_agents("trust")
    with connected(invocation) as client:
        report = before = _report(client, workspace, agent)
        if before.trusted:
            note(invocation, "nothing to trust: everything here is trusted, or needs no trust")
        elif digest is None and not yes:
            if not invocation.can_ask:
                raise click.UsageError(
                    "nobody can be asked here; add the --digest that `compozy trust show` prints, or --yes"
                )
            report = ask_and_grant(client, before, f"{before.root_dir} brings:")
        else:
            seen = digest if digest is not None else before.digest
            report = client.trust.grant(before.root_dir, seen, agent or "")
    if not invocation.is_human:
        print_object(invocation, as_json(report), (), name="trust")
    elif not before.trusted:
        granted = sum(not item.trusted for item in before.items)
        note(invocation, f"trusted {count(granted, 'item')} of {report.root_dir} as of now")


@command("revoke", examples=("compozy trust revoke", "compozy trust revoke --workspace ~/project --agent reviewer"))
@_options
@pass_invocation
def trust_revoke(invocation: Invocation, workspace: str | None, agent: str | None) -> None:
    """Take trust back. Sessions that used it do not start their agent again; running agents go on."""
    refuse_agents("trust")
    with connected(invocation) as client:
        context = find_or_register(client, flag=workspace)
        answer = client.trust.revoke(context.id, agent or "")
    if invocation.is_human:
        note(invocation, f"took back trust in {count(answer.revoked, 'file')}")
    else:
        print_object(invocation, as_json(answer), (), name="trust")


def _report(client: "Client", workspace: str | None, agent: str | None) -> "TrustReport":
    context = find_or_register(client, flag=workspace)
    return client.trust.show(context.id, agent or "")


def _print(invocation: Invocation, report: JsonObject) -> None:
    rows = objects(report.get("items"))
    if not invocation.is_human:
        print_rows(invocation, rows, COLUMNS, name="items", envelope=report)
        return
    if report.get("mode") == "off":
        write("trust is switched off in the home's config.toml: everything of every workspace may run\n")
        return
    root = clean(text_of(report, "root_dir"))
    print_rows(invocation, rows, COLUMNS, name="items", empty=f"{root} brings nothing that needs trust")
    command_line = text_of(report, "suggested_command")
    if command_line:
        write(f"\ntrust it as it is now: {clean(command_line)}\n")
