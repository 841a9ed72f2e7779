"""What a shell offers for names and ids: asks the running daemon, briefly, and offers nothing when it cannot."""

from typing import TYPE_CHECKING

import click

from compozy.cli.connection import connected, fetch, objects, text_of
from compozy.cli.invocation import Invocation
from compozy.cli.workspace_context import find
from compozy.model.errors import CompozyError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def agents(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the agents in force here."""
    return _offer("/api/agents", "agents", ("name",), "origin", incomplete)


def sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the sessions of this workspace, newest first."""
    return _offer("/api/sessions", "sessions", ("id",), "name", incomplete)


def workspaces(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the names of the registered workspaces."""
    return _offer("/api/workspaces", "workspaces", ("name",), "root_dir", incomplete)


def _offer(path: str, key: str, fields: tuple[str, ...], remark: str, incomplete: str) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - start-up cost

    try:
        with connected(Invocation(format="json")) as client:
            context = None if key == "workspaces" else find(client)
            found = objects(fetch(client, "GET", path, query={"workspace": context.id if context else ""}).get(key))
    except (CompozyError, OSError):
        # A person is typing: whatever is wrong will be said when the command runs.
        return []
    names = [(text_of(row, field), text_of(row, remark)) for row in found for field in fields]
    return [CompletionItem(name, help=help_text) for name, help_text in names if name.startswith(incomplete)]
