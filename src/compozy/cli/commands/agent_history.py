"""`compozy agent history` and `agent restore`: what an agent's folder held before each change (issue 4 item 7)."""

from collections.abc import Mapping

import click

from compozy.cli import completions
from compozy.cli.commands.agent_read import with_source
from compozy.cli.commands.agent_write import print_agent, workspace_option
from compozy.cli.connection import connected, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, print_rows
from compozy.cli.workspace_context import find_explicit

_SHORT = 12


def _short(row: Mapping[str, object]) -> str:
    return text_of(row, "hash")[:_SHORT]


COLUMNS = (
    Column("HASH", "hash", _short),
    Column("KEPT", "at"),
    Column("BEFORE", "operation"),
    Column("ORIGIN", "origin"),
    Column("FILES", "files"),
    Column("BYTES", "size"),
    Column("FILE", "path"),
)
TOON_COLUMNS = (Column("HASH", "hash"), *COLUMNS[1:])


@command(
    "history", examples=("compozy agent history reviewer", "compozy agent history reviewer --workspace . -o json")
)
@click.argument("name", shell_complete=completions.agents)
@workspace_option
@pass_invocation
def agent_history(invocation: Invocation, name: str, workspace: str | None) -> None:
    """List what the folder of agent NAME held before each change made through compozy, newest first."""
    with connected(invocation) as client:
        context = find_explicit(client, flag=workspace)
        rows = client.agents.history(name, context.id if context else "")
    print_rows(
        invocation,
        [with_source(row, context) for row in rows],
        COLUMNS,
        name="history",
        toon_columns=TOON_COLUMNS,
        empty="nothing was kept; states are kept when an agent is changed, deleted or restored through compozy",
    )


@command(
    "restore",
    examples=(
        "compozy agent restore reviewer 5f2a9c01d3e4",
        "compozy agent restore reviewer 5f2a9c01d3e4 --expected-digest DIGEST",
    ),
    sources={"hash_": "compozy agent history NAME"},
)
@click.argument("name", shell_complete=completions.agents)
@click.argument("hash_", metavar="HASH")
@click.option("--expected-digest", default="", help="Refuse when the agent is not as `agent info` showed it.")
@workspace_option
@pass_invocation
def agent_restore(invocation: Invocation, name: str, hash_: str, expected_digest: str, workspace: str | None) -> None:
    """Give the folder of agent NAME the content it had, by the HASH that `agent history` shows, or its beginning.

    Works after a deletion too. What the folder holds now is kept first, so a restore can be taken back.
    """
    with connected(invocation) as client:
        context = find_explicit(client, flag=workspace)
        place = context.id if context else ""
        restored = client.agents.restore(name, hash_, workspace=place, expected_digest=expected_digest)
    print_agent(invocation, restored.agent, context)
