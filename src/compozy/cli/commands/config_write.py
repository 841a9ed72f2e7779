"""`compozy config set|unset`: change one setting and nothing else in the file (contract §2.1; decisions D3).

The file is checked before it is written; a running daemon takes over what can change while it runs.
"""

from typing import TYPE_CHECKING

import click

from compozy.cli.commands.config_read import shown
from compozy.cli.config_scope import apply_to_daemon, tell_what_is_next, workspace_root
from compozy.cli.connection import JsonObject
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.operators import refuse_agents
from compozy.cli.output import clean, note, print_object, write
from compozy.cli.workspace_context import shell_word

if TYPE_CHECKING:
    from pathlib import Path

_WORKSPACE = click.option("--workspace", metavar="W", help="In this workspace's own file (a path, an id or a name).")

# What lets agents do more: an agent that may write settings must not widen itself.
_FOR_PERSONS = ("trust", "permissions")


@command(
    "set",
    examples=(
        "compozy config set defaults.provider claude",
        "compozy config set providers.claude.models.default claude-opus-4-8",
        """compozy config set skills.disabled_skills '["draw"]' --workspace .""",
    ),
)
@click.argument("key")
@click.argument("value")
@_WORKSPACE
@pass_invocation
def config_set(invocation: Invocation, key: str, value: str, workspace: str | None) -> None:
    """Set KEY to VALUE: text as it is, numbers, true, false and lists as in TOML."""
    _change(invocation, key, value, workspace)


@command("unset", examples=("compozy config unset http.port", "compozy config unset providers.mine"))
@click.argument("key")
@_WORKSPACE
@pass_invocation
def config_unset(invocation: Invocation, key: str, workspace: str | None) -> None:
    """Remove KEY, or a whole table, from the file; what lies below it counts again."""
    _change(invocation, key, None, workspace)


def _change(invocation: Invocation, key: str, value: str | None, workspace: str | None) -> None:
    from compozy.config.change import set_value, unset_value  # noqa: PLC0415 - start-up cost
    from compozy.config.explain import masked_at  # noqa: PLC0415 - start-up cost
    from compozy.config.keys import split_key  # noqa: PLC0415 - start-up cost

    path = split_key(key)
    if path and path[0] in _FOR_PERSONS:
        refuse_agents(f"changing [{path[0]}]")
    root = workspace_root(invocation, workspace)
    if value is None:
        change = unset_value(invocation.home, path, root)
    else:
        change = set_value(invocation.home, path, value, root)
    outcome: JsonObject = {"applied": False}
    if change.is_written:
        outcome = apply_to_daemon(invocation, [change.key], in_workspace=root is not None)
    before, after = masked_at(path, change.before), masked_at(path, change.after)
    answer: JsonObject = {
        "key": change.key,
        "before": before,
        "value": after,
        "file": change.file,
        "changed": change.is_written,
        "lifecycle": change.lifecycle,
        "next_action": "none",
        **outcome,
    }
    if change.trust:
        answer |= {"needs_trust": list(change.trust), "next_command": _grant(root)}
    if not invocation.is_human:
        print_object(invocation, answer, (), name="change")
        return
    if not change.is_written:
        write(f"{change.key} is {clean(shown(after))} already\n")
        return
    was = f" (was {clean(shown(before))})" if before not in (None, after) else ""
    write(f"{change.key} = {clean(shown(after)) if after is not None else 'not set'}{was}\n")
    if change.note:
        note(invocation, f"note: {change.note}")
    if change.trust:
        keys = ", ".join(change.trust)
        note(invocation, f"needs trust, since the file changed: {keys}; look at it and run: {_grant(root)}")
    tell_what_is_next(invocation, outcome)


def _grant(root: "Path | None") -> str:
    return f"compozy trust grant --workspace {shell_word(str(root))}"
