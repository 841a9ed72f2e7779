"""`compozy mcp status` and `compozy mcp auth login|logout|status`: servers at work and logins (issue 7 item 3).

Logins are for people (contract §6.2). Without a browser here the address is printed, and waited for.
"""

import sys
import time
import webbrowser
from collections.abc import Mapping

import click

from compozy.cli import completions
from compozy.cli.connection import JsonObject, as_json, connected, objects, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import Column, clean, note, print_object, print_rows
from compozy.cli.workspace_context import find
from compozy.model.errors import EXIT_REFUSED, EXIT_TIMEOUT, LocalError

_POLL_SECONDS = 0.3
_WHAT = "logging in to MCP servers"


def _count(row: Mapping[str, object]) -> str:
    tools = row.get("tools")
    return str(len(tools)) if isinstance(tools, list) else "0"


_RUNNING = (
    Column("NAME", "name"),
    Column("STATE", "state"),
    Column("TRANSPORT", "transport"),
    Column("PID", "pid", lambda row: str(row.get("pid") or "")),
    Column("TOOLS", "tools", _count),
    Column("SESSIONS", "sessions"),
    Column("RESTARTS", "restarts"),
    Column("LAST ERROR", "last_error"),
)
_LOGINS = (
    Column("NAME", "name"),
    Column("STATE", "state"),
    Column("URL", "url"),
    Column("ISSUER", "issuer"),
    Column("UNTIL", "expires_at"),
)


def _place(function: click.decorators.FC) -> click.decorators.FC:
    function = click.option("--agent", shell_complete=completions.agents, help="As this agent is given it.")(function)
    return click.option(
        "--workspace",
        shell_complete=completions.workspaces,
        help="Id, name or path of a workspace (default: the one you stand in).",
    )(function)


@command("status", examples=("compozy mcp status", "compozy mcp status -o json"))
@pass_invocation
def mcp_status(invocation: Invocation) -> None:
    """Show the MCP servers that run or were used: state, process, tools, restarts, the last error."""
    with connected(invocation) as client:
        report = as_json(client.mcp.status())
    rows = objects(report.get("servers"))
    print_rows(invocation, rows, _RUNNING, name="servers", envelope=report, empty="no MCP server was used yet")
    for row in rows:
        notes = row.get("notes")
        for text in notes if isinstance(notes, list) else ():
            note(invocation, f"{clean(text_of(row, 'name'))}: {clean(str(text))}")


@command("login", examples=("compozy mcp auth login search", "compozy mcp auth login search --no-browser"))
@click.argument("server")
@_place
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--timeout", type=click.IntRange(1, 600), default=300, show_default=True, help="Seconds to wait.")
@pass_invocation
def mcp_login(
    invocation: Invocation, server: str, agent: str | None, workspace: str | None, no_browser: bool, timeout: int
) -> None:
    """Log in at the remote MCP server SERVER. Prints the address to open, and waits until you come back."""
    refuse_agents(_WHAT)
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        login = client.mcp.login(server, context.id if context else "", agent or "")
        sys.stderr.write(f"open this address to log in at {clean(server)}:\n{login.url}\n")
        sys.stderr.flush()
        if invocation.can_ask and not no_browser:
            webbrowser.open(login.url)
        deadline = time.monotonic() + timeout
        while login.state == "waiting" and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            login = client.mcp.login_state(login.id)
    if login.state == "waiting":
        raise LocalError(
            f"nobody finished the login at {server!r} within {timeout} s",
            exit_code=EXIT_TIMEOUT,
            code="mcp_login_timeout",
            hint=f"compozy mcp auth login {server}",
        )
    if login.state == "failed":
        raise LocalError(
            f"the login at {server!r} failed: {clean(login.error)}", exit_code=EXIT_REFUSED, code="mcp_login_failed"
        )
    _say(invocation, as_json(login), f"logged in at {server}")


@command("logout", examples=("compozy mcp auth logout search",))
@click.argument("server")
@_place
@pass_invocation
def mcp_logout(invocation: Invocation, server: str, agent: str | None, workspace: str | None) -> None:
    """Forget the login at SERVER: its tokens leave the vault and are revoked, its tools leave running sessions."""
    refuse_agents(_WHAT)
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        status = client.mcp.logout(server, context.id if context else "", agent or "")
    if status.note:
        note(invocation, clean(status.note))
    _say(invocation, as_json(status), f"logged out at {server}")


@command("status", examples=("compozy mcp auth status", "compozy mcp auth status --agent reviewer -o json"))
@_place
@pass_invocation
def mcp_auth_status(invocation: Invocation, agent: str | None, workspace: str | None) -> None:
    """Show the remote MCP servers that are given here, and whether there is a login. Asks none of them."""
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        report = as_json(client.mcp.auth(context.id if context else "", agent or ""))
    rows = objects(report.get("servers"))
    print_rows(invocation, rows, _LOGINS, name="servers", envelope=report, empty="no remote MCP server is given here")


def _say(invocation: Invocation, answer: JsonObject, text: str) -> None:
    if invocation.is_human:
        note(invocation, clean(text))
    else:
        print_object(invocation, answer, (), name="login")
