"""What a shell offers for names and ids: asks the running daemon, briefly, and offers nothing when it cannot.

A command names its completions beside its parameters; `usual` adds the ones that a parameter's name says already.
"""

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

Completion = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
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


def providers(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the providers, built-in and own."""
    return _offer(
        lambda client, _: [(row.name, row.display_name) for row in client.providers.list()], incomplete, anywhere=True
    )


def capabilities(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the capabilities of the agent named before."""
    agent = str(ctx.params.get("agent") or ctx.params.get("name") or "")
    return _offer(
        lambda client, place: [
            (one.id, one.summary) for one in client.agents.capabilities(agent, place).capabilities
        ],
        incomplete,
    )


def tools(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the tools of the daemon and of the MCP servers here."""
    return _offer(
        lambda client, place: [(view.descriptor.tool_id, "") for view in client.tools.list(workspace=place)],
        incomplete,
    )


def settings(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the keys of the settings, without asking a daemon."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - start-up cost

    from compozy.config.effective import effective_table, flatten  # noqa: PLC0415 - start-up cost
    from compozy.config.keys import join_key  # noqa: PLC0415 - start-up cost
    from compozy.config.load import load_config  # noqa: PLC0415 - start-up cost

    try:
        keys = [join_key(key) for key, _ in flatten(effective_table(load_config(Invocation().home)))]
    except (CompozyError, OSError):
        return []
    return [CompletionItem(key) for key in keys if key.startswith(incomplete)]


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Let the shell offer files."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - start-up cost

    return [CompletionItem(incomplete, type="file")]


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Let the shell offer folders."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - start-up cost

    return [CompletionItem(incomplete, type="dir")]


def places(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the names of workspaces, and folders where the word begins like a path."""
    is_path = incomplete.startswith((".", "/", "~"))
    return folders(ctx, param, incomplete) if is_path else workspaces(ctx, param, incomplete)


_USUAL: dict[str, Completion] = {
    **dict.fromkeys(("paths", "file", "test_file", "prompt_file", "old", "new", "tasks", "outcomes"), files),
    **dict.fromkeys(("catalog", "model_file", "target"), files),
    **dict.fromkeys(("path", "add_dirs", "cwd", "workspace_paths"), folders),
    **dict.fromkeys(("session", "parent", "root"), sessions),
    **dict.fromkeys(("key", "prefix"), settings),
    **dict.fromkeys(("tool", "tools", "deny_tools"), tools),
    "workspace": places,
    "default_agent": agents,
    "provider": providers,
    "wanted": capabilities,
}


class Offering(click.types.StringParamType):
    """Text for which a shell is offered something."""

    def __init__(self, offer: Completion) -> None:
        self.offer = offer

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        return self.offer(ctx, param, incomplete)


def usual(command: click.Command, path: str) -> click.Command:
    """Give the texts of the command at `path` the completion that their names say; its own ones go before."""
    for param in command.params:
        name = "provider" if path.startswith("provider ") and param.name == "name" else param.name or ""
        if name in _USUAL and type(param.type) is click.types.StringParamType:
            param.type = Offering(_USUAL[name])
    return command


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
