"""`compozy tool invoke|approve|artifact`: calling a tool, allowing one call, reading what was too large."""

import base64
import json
import sys
from pathlib import Path

import click

from compozy.cli.commands.tool_read import place_of, whose
from compozy.cli.connection import JsonObject, as_json, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import print_object, write, write_fields, write_json
from compozy.cli.workspace_context import find
from compozy.model.tool import ToolResult

_INPUT = click.option(
    "--input", "text", default="{}", help="The input as a JSON object, or @FILE, or - for standard input."
)


def _arguments(text: str) -> JsonObject:
    source = text
    if text == "-":
        source = sys.stdin.read()
    elif text.startswith("@"):
        try:
            source = Path(text[1:]).read_text("utf-8")
        except OSError as error:
            raise click.UsageError(f"--input {text!r} cannot be read: {error.strerror}") from error
    try:
        found: object = json.loads(source)
    except ValueError as error:
        raise click.UsageError(f"--input is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise click.UsageError("--input must be a JSON object, such as '{\"limit\": 5}'")
    return found


@command(
    "invoke",
    examples=(
        "compozy tool invoke compozy__workspace_list",
        'compozy tool invoke compozy__tool_search --input \'{"query": "sessions"}\' -o json',
    ),
)
@click.argument("tool")
@_INPUT
@whose
@click.option("--approval-token", default="", help="What `tool approve` printed, where the call needs it.")
@pass_invocation
def tool_invoke(
    invocation: Invocation,
    tool: str,
    text: str,
    workspace: str | None,
    agent: str,
    session: str,
    approval_token: str,
) -> None:
    """Call TOOL as an operator, or as a session's agent would with --session."""
    with connected(invocation) as client:
        done = client.tools.invoke(
            tool,
            _arguments(text),
            workspace_id=place_of(client, workspace, session),
            session_id=session,
            agent_name=agent,
            approval_token=approval_token,
        )
    if invocation.is_human:
        _print(done.result)
    else:
        print_object(invocation, as_json(done), (), name="invocation")


def _print(result: ToolResult) -> None:
    for block in result.content:
        write(f"{block.text or json.dumps(block.data)}\n")
    if result.structured is not None:
        write_json(result.structured)


@command("approve", examples=("compozy tool approve compozy__agent_create --input @agent.json",))
@click.argument("tool")
@_INPUT
@whose
@pass_invocation
def tool_approve(
    invocation: Invocation, tool: str, text: str, workspace: str | None, agent: str, session: str
) -> None:
    """Allow one call of TOOL with this input; prints a token that is good once, for a short while."""
    refuse_agents("tool approve")
    with connected(invocation) as client:
        given = client.tools.approve(
            tool,
            _arguments(text),
            session_id=session,
            workspace_id=place_of(client, workspace, session),
            agent_name=agent,
        )
    if invocation.is_human:
        write_fields([("Token", given.approval_token), ("Expires", given.expires_at)])
    else:
        print_object(invocation, as_json(given), (), name="approval")


@command("artifact", examples=("compozy tool artifact art_0123 --workspace ~/project > result.json",))
@click.argument("artifact")
@click.option("--workspace", help="Id, name or path of a workspace (default: the one you stand in).")
@pass_invocation
def tool_artifact(invocation: Invocation, artifact: str, workspace: str | None) -> None:
    """Print ARTIFACT, a result that was too large to hand out."""
    with connected(invocation) as client:
        context = find(client, flag=workspace)
        if context is None:
            raise click.UsageError("name the workspace of the artifact with --workspace")
        offset = 0
        while True:
            page = client.tools.artifact(context.id, artifact, offset=offset)
            sys.stdout.buffer.write(base64.b64decode(page.data_base64))
            offset = page.next_offset
            if page.eof:
                break
    sys.stdout.buffer.flush()
