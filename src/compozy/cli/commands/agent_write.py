"""`compozy agent create|update|duplicate|delete`: changing agents through the daemon (contract §4.1–§4.4).

A workspace comes from `--workspace` or COMPOZY_WORKSPACE only, never from the folder one stands in; without one the
global agents are meant. The daemon decides what may be written.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from compozy.cli import completions
from compozy.cli.commands.agent_read import category_of, runtime_of, with_source
from compozy.cli.commands.session_write import PERMISSION_MODES, confirm
from compozy.cli.connection import JsonObject, as_json, connected
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, note, print_object
from compozy.cli.workspace_context import WorkspaceContext, find_explicit
from compozy.model.definition import REASONING_EFFORTS
from compozy.model.errors import LocalError

if TYPE_CHECKING:
    from compozy.model.agent import Agent
    from compozy.model.authoring import Edit

F = TypeVar("F", bound=Callable[..., object])
FIELDS = (
    Column("Name", "name"),
    Column("Origin", "origin"),
    Column("File", "path"),
    Column("Digest", "definition_digest"),
    Column("Runtime", "runtime", runtime_of),
    Column("Category", "category", category_of),
    Column("Permissions", "permissions"),
)
_DELETED = (Column("Deleted", "name"), Column("Origin", "origin"), Column("Now in force", "unshadowed_origin"))
# What a payload of the API consists of; everything else in an agent is the daemon's.
_PAYLOAD = (
    "name", "prompt", "provider", "model", "reasoning_effort", "command", "permissions", "tools", "toolsets",
    "deny_tools", "skills", "category_path",
)  # fmt: skip
_WORKSPACE_HELP = "Id, name or path of a workspace (default: the global agents)."


def workspace_option(function: F) -> F:
    """Add `--workspace` as the changing commands understand it."""
    return click.option("--workspace", shell_complete=completions.workspaces, help=_WORKSPACE_HELP)(function)


def authoring_options(function: F) -> F:
    """Add the flags that say what a definition should hold; an empty value clears a field."""
    for option in reversed(
        (
            click.option("--provider", help="Which agent program; empty means the default."),
            click.option("--model", help="The model, as the provider spells it."),
            click.option(
                "--reasoning-effort", type=click.Choice(("", *REASONING_EFFORTS)), help="How much to think."
            ),
            click.option("--command", help="A command line that replaces the provider's."),
            click.option("--permissions", type=click.Choice(("", *PERMISSION_MODES)), help="What it may do unasked."),
            click.option("--prompt", help="The prompt."),
            click.option("--prompt-file", help="A file with the prompt; - reads standard input."),
            click.option("--tool", "tools", multiple=True, help="A tool it may use; repeatable."),
            click.option("--toolset", "toolsets", multiple=True, help="A toolset it may use; repeatable."),
            click.option("--deny-tool", "deny_tools", multiple=True, help="A tool it may not use; repeatable."),
            click.option("--category", "category_path", multiple=True, help="One step of its category; repeatable."),
            click.option("--disable-skill", "disabled", multiple=True, help="A skill it does not get; repeatable."),
        )
    ):
        function = option(function)
    return function


@command(
    "create",
    examples=(
        'compozy agent create reviewer --prompt "Review the last change." --permissions approve-reads',
        "compozy agent create reviewer --workspace . --prompt-file prompt.md --category quality",
    ),
)
@click.argument("name")
@authoring_options
@workspace_option
@pass_invocation
def agent_create(invocation: Invocation, /, name: str, workspace: str | None, **flags: object) -> None:
    """Create agent NAME: globally, or in a workspace that is named."""
    agent = overlay({"name": name}, flags)
    if "prompt" not in agent:
        raise click.UsageError("an agent needs a prompt; give --prompt or --prompt-file")
    with connected(invocation) as client:
        context = find_explicit(client, flag=workspace)
        created = client.agents.create(agent, workspace=context.id if context else "")
    print_agent(invocation, created, context)


@command(
    "update",
    examples=(
        "compozy agent update reviewer --expected-digest DIGEST --model opus",
        'compozy agent update reviewer --expected-digest DIGEST --tool "" --prompt-file prompt.md',
    ),
    sources={"expected_digest": "compozy agent info NAME"},
)
@click.argument("name", shell_complete=completions.agents)
@click.option("--expected-digest", required=True, help="The digest that `agent info` showed you; else refused.")
@authoring_options
@workspace_option
@pass_invocation
def agent_update(
    invocation: Invocation, /, name: str, expected_digest: str, workspace: str | None, **flags: object
) -> None:
    """Change agent NAME where it is in force; what no flag names stays, comments and order too.

    An empty value clears a field; a list is replaced as a whole. When somebody changed the agent meanwhile nothing is
    written, and the answer says what they changed.
    """
    with connected(invocation) as client:
        context = find_explicit(client, flag=workspace)
        place = context.id if context else ""
        present = as_json(client.agents.get(name, place))
        wanted = overlay({key: present[key] for key in _PAYLOAD if key in present}, flags)
        answer = client.agents.update(name, wanted, expected_digest, workspace=place)
    print_agent(invocation, answer.agent, context, edit=answer.edit)
    if not answer.edit.changed:
        note(invocation, "nothing changed")
    elif answer.edit.note:
        note(invocation, f"note: {answer.edit.note}; comments and order were not kept")


@command(
    "duplicate",
    examples=(
        "compozy agent duplicate reviewer strict-reviewer --permissions deny-all",
        "compozy agent duplicate reviewer reviewer --scope workspace --workspace .",
    ),
)
@click.argument("source", shell_complete=completions.agents)
@click.argument("name")
@click.option("--scope", type=click.Choice(("global", "workspace")), help="Where to (default: where SOURCE lies).")
@authoring_options
@workspace_option
@pass_invocation
def agent_duplicate(
    invocation: Invocation, /, source: str, name: str, scope: str | None, workspace: str | None, **flags: object
) -> None:
    """Copy agent SOURCE with its whole folder to agent NAME; flags override what is copied."""
    overrides = overlay({}, flags)
    with connected(invocation) as client:
        context = find_explicit(client, flag=workspace)
        place = context.id if context else ""
        copy = client.agents.duplicate(source, name, scope=scope, workspace=place, overrides=overrides or None)
    print_agent(invocation, copy, context)


@command(
    "delete", examples=("compozy agent delete reviewer --yes", "compozy agent delete reviewer --workspace . --yes")
)
@click.argument("name", shell_complete=completions.agents)
@click.option("--yes", is_flag=True, help="Do not ask.")
@workspace_option
@pass_invocation
def agent_delete(invocation: Invocation, name: str, yes: bool, workspace: str | None) -> None:
    """Delete agent NAME where it is in force, with its whole folder; its sessions stay, and it can be restored."""
    with connected(invocation) as client:
        context = find_explicit(client, flag=workspace)
        confirm(invocation, f'Delete agent "{clean(name)}"?', yes)
        answer = client.agents.delete(name, context.id if context else "")
    print_object(invocation, with_source(answer, context), _DELETED, name="deleted")
    if answer.not_kept:
        note(invocation, f"note: too large to be kept, and gone for good: {', '.join(answer.not_kept)}")
    note(invocation, f"\ntake it back: compozy agent history {name}")


def overlay(agent: JsonObject, flags: dict[str, object]) -> JsonObject:
    """Put the flags that were given over a payload.

    Raises:
        click.UsageError: both `--prompt` and `--prompt-file`.
        LocalError: the prompt's file cannot be read.
    """
    result = dict(agent)
    prompt, prompt_file = flags.get("prompt"), flags.get("prompt_file")
    if prompt is not None and prompt_file is not None:
        raise click.UsageError("--prompt and --prompt-file are mutually exclusive; give one of them")
    if prompt_file is not None:
        prompt = _read_prompt(str(prompt_file))
    if prompt is not None:
        result["prompt"] = prompt
    for key in ("provider", "model", "reasoning_effort", "command", "permissions"):
        if flags.get(key) is not None:
            result[key] = flags[key]
    for key in ("tools", "toolsets", "deny_tools", "category_path"):
        values = _texts(flags.get(key))
        if values:
            result[key] = [value for value in values if value]
    disabled = _texts(flags.get("disabled"))
    if disabled:
        result["skills"] = {"disabled": [value for value in disabled if value]}
    return result


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, tuple) else []


def _read_prompt(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).expanduser().read_bytes()
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise LocalError(f"prompt file {name!r} is not UTF-8; save it as UTF-8", code="prompt_file_invalid") from None


def print_agent(
    invocation: Invocation, agent: "Agent", context: WorkspaceContext | None, *, edit: "Edit | None" = None
) -> None:
    """Print an agent; structured formats also say how an edit was written."""
    more = {"edit": as_json(edit)} if edit else {}
    print_object(invocation, with_source(agent, context) | more, FIELDS, name="agent")
