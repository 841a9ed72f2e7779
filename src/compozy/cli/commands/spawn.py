"""`compozy spawn`: an agent starts a child session for a part of its work (contract §4.1, §9 safe spawn).

Run inside a session: who asks is told by COMPOZY_SESSION_ID and COMPOZY_AGENT, which the daemon sets for its agents.
"""

import os

import click

from compozy.cli import completions
from compozy.cli.connection import JsonObject, as_json, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.sessions import Duration, print_done
from compozy.model.errors import EXIT_IDENTITY_REQUIRED, LocalError


@command(
    "spawn",
    examples=(
        "compozy spawn --agent reviewer --role review --ttl 30m",
        "compozy spawn --agent tester --role tests --ttl 1h --tool compozy__session_list --path /repo/tests",
    ),
)
@click.option("--agent", required=True, shell_complete=completions.agents, help="Which agent.")
@click.option("--role", required=True, help="What the child is for, in a word.")
@click.option("--ttl", type=Duration(), required=True, metavar="D", help="How long it may live: 30s, 5m, 2h.")
@click.option("--name", help="A name to recognise it by.")
@click.option("--tool", "tools", multiple=True, help="A tool it may call (default: none). May be repeated.")
@click.option("--mcp-server", "mcp_servers", multiple=True, help="An MCP server it may use. May be repeated.")
@click.option("--skill", "skills", multiple=True, help="A skill it may use. May be repeated.")
@click.option("--path", "workspace_paths", multiple=True, help="A folder it may touch (default: your own).")
@click.option("--overlay", help="What it is told besides its own instructions.")
@click.option("--provider", help="Another provider than the agent's own.")
@click.option("--model", help="Another model than the agent's own.")
@click.option("--outlive", is_flag=True, help="Let it go on when you stop.")
@click.option("--idempotency-key", help="Identity of the request, to send it again safely.")
@pass_invocation
def spawn(
    invocation: Invocation,
    /,
    agent: str,
    role: str,
    ttl: float,
    tools: tuple[str, ...],
    mcp_servers: tuple[str, ...],
    skills: tuple[str, ...],
    workspace_paths: tuple[str, ...],
    overlay: str | None,
    outlive: bool,
    **given: str | None,
) -> None:
    """Start a child session of the one this runs in; it never gets more than you have."""
    session_id, caller = os.environ.get("COMPOZY_SESSION_ID", ""), os.environ.get("COMPOZY_AGENT", "")
    if not session_id or not caller:
        raise LocalError(
            "spawn runs inside a session: COMPOZY_SESSION_ID and COMPOZY_AGENT are not set here; a person starts a "
            "session with `compozy session new`",
            exit_code=EXIT_IDENTITY_REQUIRED,
            code="identity_required",
            hint="compozy session new --parent ID",
        )
    lists: dict[str, list[str]] = {
        "tools": list(tools),
        "mcp_servers": list(mcp_servers),
        "skills": list(skills),
        "workspace_paths": list(workspace_paths),
        "network_channels": [],
        "sandbox_profiles": [],
    }
    body: JsonObject = {
        "agent_name": agent,
        "spawn_role": role,
        "ttl_seconds": max(1, round(ttl)),
        "auto_stop_on_parent": not outlive,
        "permissions": lists,
        "prompt_overlay": overlay or "",
    }
    body |= {key: value for key, value in given.items() if value}
    with connected(invocation) as client:
        answer = as_json(client.sessions.spawn(session_id, caller, body))
    session = answer["session"]
    assert isinstance(session, dict), "a spawn answers its session"
    print_done(invocation, answer, f"started {session['id']}: prompt it with compozy session prompt {session['id']}")
