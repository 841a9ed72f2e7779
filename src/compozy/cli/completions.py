"""What a shell offers for names and ids: asks the running daemon, briefly, and offers nothing when it cannot."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from compozy.cli.connection import connected
from compozy.cli.invocation import Invocation
from compozy.cli.workspace_context import find
from compozy.model.errors import CompozyError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from compozy.client.typed import Client

# Names of a workspace ("" for none) with a remark on each.
Look = Callable[["Client", str], list[tuple[str, str]]]


def agents(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the agents in force here."""
    return _offer(
        lambda client, place: [(row.name, row.origin) for row in client.agents.list(place).agents], incomplete
    )


def sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the sessions of this workspace, newest first."""
    return _offer(
        lambda client, place: [(row.id, row.name) for row in client.sessions.list(place).sessions], incomplete
    )


def inputs(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the prompts that wait in the session named before."""
    session_id = str(ctx.params.get("session_id") or "")
    return _offer(
        lambda client, _: [(row.id, row.text[:60]) for row in client.sessions.queue(client.sessions.get(session_id))],
        incomplete,
        anywhere=True,
    )


def attention(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer what waits for a person."""
    return _offer(
        lambda client, _: [(item.id, item.question[:60]) for item in client.attention.list().items],
        incomplete,
        anywhere=True,
    )


def workspaces(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the names of the registered workspaces."""
    return _offer(
        lambda client, _: [(row.name, row.root_dir) for row in client.workspaces.list()], incomplete, anywhere=True
    )


def _offer(look: Look, incomplete: str, *, anywhere: bool = False) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - start-up cost

    try:
        with connected(Invocation(format="json")) as client:
            context = None if anywhere else find(client)
            names = look(client, context.id if context else "")
    except (CompozyError, OSError):
        # A person is typing: whatever is wrong will be said when the command runs.
        return []
    return [CompletionItem(name, help=help_text) for name, help_text in names if name.startswith(incomplete)]
