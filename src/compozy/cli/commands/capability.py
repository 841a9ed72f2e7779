"""`compozy agent capabilities` and `compozy capability show|export|verify` (issue 4 item 5; decisions D2, D27).

Showing and exporting ask the daemon; verifying reads a file and needs none.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import structs

from compozy.cli import completions
from compozy.cli.commands.agent_read import with_source
from compozy.cli.connection import JsonObject, as_json, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, print_object, print_rows, write, write_json, write_json_line
from compozy.cli.workspace_context import WorkspaceContext, find
from compozy.documents.capability_document import choose, export_document, verify_document
from compozy.model.capability import Capability
from compozy.model.errors import LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client

COLUMNS = (Column("ID", "id"), Column("VERSION", "version"), Column("SUMMARY", "summary"), Column("DIGEST", "digest"))
FIELDS = (
    Column("Id", "id"),
    Column("Version", "version"),
    Column("Digest", "digest"),
    Column("Summary", "summary"),
    Column("Outcome", "outcome"),
)
_LISTS = (
    ("Needs", "context_needed"),
    ("Gives", "artifacts_expected"),
    ("Steps", "execution_outline"),
    ("Constraints", "constraints"),
    ("Examples", "examples"),
    ("Requires", "requirements"),
)
_VERIFIED = (Column("Agent", "agent"), Column("Capability", "id"), Column("Digest", "digest"))
_WORKSPACE = click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Id, name or path of a workspace (default: the one you stand in).",
)


def _declared(
    client: "Client", name: str, flag: str | None
) -> tuple[tuple[Capability, ...], WorkspaceContext | None]:
    context = find(client, flag=flag)
    answer = client.agents.capabilities(name, context.id if context else "")
    return tuple(Capability(**structs.asdict(row)) for row in answer.capabilities), context


@command(
    "capabilities",
    examples=(
        "compozy agent capabilities reviewer",
        "compozy agent capabilities reviewer review-change@2.1 -o json",
    ),
)
@click.argument("name", shell_complete=completions.agents)
@click.argument("wanted", metavar="[ID[@PIN]]...", nargs=-1)
@_WORKSPACE
@pass_invocation
def agent_capabilities(invocation: Invocation, name: str, wanted: tuple[str, ...], workspace: str | None) -> None:
    """List what agent NAME declares it can do, or only the capabilities with these ids.

    ID@VERSION and ID@sha256:… pin a capability: the call fails when the agent's is another one.
    """
    with connected(invocation) as client:
        found, context = _declared(client, name, workspace)
    rows = [with_source(capability, context) for capability in choose(found, wanted)]
    print_rows(invocation, rows, COLUMNS, name="capabilities", empty=f"agent {clean(name)} declares no capability")


@command("show", examples=("compozy capability show reviewer review-change",))
@click.argument("agent", shell_complete=completions.agents)
@click.argument("wanted", metavar="ID[@PIN]")
@_WORKSPACE
@pass_invocation
def capability_show(invocation: Invocation, agent: str, wanted: str, workspace: str | None) -> None:
    """Show capability ID of AGENT in full."""
    with connected(invocation) as client:
        found, context = _declared(client, agent, workspace)
    record = with_source(choose(found, (wanted,))[0], context)
    print_object(invocation, record, FIELDS, name="capability")
    if invocation.is_human:
        for title, key in _LISTS:
            values = record.get(key)
            if isinstance(values, list) and values:
                write(f"\n{title}\n" + "".join(f"  {clean(str(value))}\n" for value in values))


@command("export", examples=("compozy capability export reviewer review-change > review-change.json",))
@click.argument("agent", shell_complete=completions.agents)
@click.argument("wanted", metavar="ID[@PIN]")
@_WORKSPACE
@pass_invocation
def capability_export(invocation: Invocation, agent: str, wanted: str, workspace: str | None) -> None:
    """Print capability ID of AGENT as a document that travels: its receiver verifies the digest before using it."""
    with connected(invocation) as client:
        found, _ = _declared(client, agent, workspace)
    document = export_document(agent, choose(found, (wanted,))[0])
    (write_json_line if invocation.format == "jsonl" else write_json)(document)


@command("verify", examples=("compozy capability verify review-change.json",))
@click.argument("file")
@pass_invocation
def capability_verify(invocation: Invocation, file: str) -> None:
    """Check the capability document FILE (- reads standard input): exits with 65 when its digest does not fit."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).expanduser().read_bytes()
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise LocalError(f"{file!r} is not UTF-8; export it again", code="capability_document_invalid") from None
    found = verify_document(text)
    record: JsonObject = {
        "agent": found.agent,
        "id": found.capability.id,
        "digest": found.digest,
        "verified": True,
        "capability": as_json(found.capability),
    }
    print_object(invocation, record, _VERIFIED, name="capability")
