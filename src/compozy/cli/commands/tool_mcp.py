"""`compozy tool mcp`: the MCP server that the daemon gives to a session's agent. Started by agents, not by people."""

import sys

import click

from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation


@command("mcp", examples=("compozy tool mcp --session sess-0123456789abcdef --bind-nonce NONCE",))
@click.option("--session", required=True, help="The session whose tools are offered.")
@click.option("--bind-nonce", required=True, help="The nonce of the agent's launch; good once, for a short while.")
@pass_invocation
def tool_mcp(invocation: Invocation, session: str, bind_nonce: str) -> None:
    """Speak MCP on standard input and output for the agent of a session. The daemon starts it for its agents."""
    from compozy.client.relay import relay  # noqa: PLC0415 - start-up cost

    relay(invocation.home, session, bind_nonce, sys.stdin.buffer, sys.stdout.buffer)
