"""`compozy mcp serve`: the fleet for any MCP client outside, over stdio, or where its HTTP endpoint is (issue 7)."""

import os
import sys

import click

from compozy.cli import completions
from compozy.cli.connection import JsonObject
from compozy.cli.daemon_start import connected_or_started
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, note, print_object
from compozy.model.errors import EXIT_UNAVAILABLE, EXIT_USAGE, LocalError


@command(
    "serve",
    examples=("compozy mcp serve", "compozy mcp serve --workspace ~/project --read-only", "compozy mcp serve --http"),
)
@click.option(
    "--workspace",
    shell_complete=completions.workspaces,
    help="Where tools look when a call names no workspace: id, name or path (default: COMPOZY_WORKSPACE).",
)
@click.option("--read-only", is_flag=True, help="Offer only what changes nothing (stdio).")
@click.option("--http", is_flag=True, help="Print the address of the daemon's streamable HTTP endpoint instead.")
@pass_invocation
def mcp_serve(invocation: Invocation, workspace: str | None, read_only: bool, http: bool) -> None:
    """Offer agents and sessions to an MCP client on standard input and output. Starts the daemon where none runs.

    A client such as an editor starts this command itself. It acts as you: it may start and stop sessions, but answers
    no permission question and changes no settings.
    """
    if http and (workspace is not None or read_only):
        raise LocalError("--workspace and --read-only are for stdio: leave --http out", exit_code=EXIT_USAGE)
    if http:
        _print_address(invocation)
        return
    with connected_or_started(invocation):
        pass
    from compozy.client.relay import relay_fleet  # noqa: PLC0415 - start-up cost

    if sys.stdin.isatty():
        note(
            invocation, "waiting for an MCP client on standard input, which a client starts itself; Ctrl-C ends this"
        )
    place = workspace if workspace is not None else os.environ.get("COMPOZY_WORKSPACE", "")
    relay_fleet(invocation.home, place, sys.stdin.buffer, sys.stdout.buffer, read_only=read_only)


def _print_address(invocation: Invocation) -> None:
    with connected_or_started(invocation) as client:
        daemon = client.daemon.identity().daemon
    if not daemon.http_port:
        raise LocalError(
            "the daemon listens on its socket only: set [http] enabled = true, or use stdio",
            exit_code=EXIT_UNAVAILABLE,
        )
    host = f"[{daemon.http_host}]" if ":" in daemon.http_host else daemon.http_host
    found: JsonObject = {"url": f"http://{host}:{daemon.http_port}/mcp", "transport": "streamable-http"}
    print_object(invocation, found, (Column("URL", "url"), Column("Transport", "transport")), name="endpoint")
