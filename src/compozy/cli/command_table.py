"""Every command of `compozy` in one table: where it lives and the line `--help` shows for it (contract §4.1).

`--help` reads this table only, so that showing it imports no command module. To add a command, add a line here
and export a `click.Command` made with `compozy.cli.groups.command` under the named attribute.
This module knows nothing of click.
"""

from typing import NamedTuple


class GroupEntry(NamedTuple):
    """A group of commands: its path below `compozy` and the line that describes it."""

    path: str
    help: str


class CommandEntry(NamedTuple):
    """One command: its path below `compozy`, `module:attribute`, and its one-line help."""

    path: str
    target: str
    help: str


_COMMANDS = "compozy.cli.commands."

GROUPS: tuple[GroupEntry, ...] = (
    GroupEntry("agent", "List, inspect and check agent definitions."),
    GroupEntry("session", "Create, prompt, watch and stop sessions."),
    GroupEntry("workspace", "Register the folders agents work in."),
    GroupEntry("daemon", "Start and stop the background daemon."),
)

COMMANDS: tuple[CommandEntry, ...] = (
    CommandEntry("completion", _COMMANDS + "completion:completion", "Print the completion script for a shell."),
)


def entries_below(path: str) -> tuple[GroupEntry | CommandEntry, ...]:
    """Return the groups and commands directly below the group with that path ("" is the root), in table order."""
    depth = len(path.split()) + 1
    prefix = f"{path} " if path else ""
    commands = [e for e in COMMANDS if e.path.startswith(prefix) and len(e.path.split()) == depth]
    groups = [e for e in GROUPS if e.path.startswith(prefix) and len(e.path.split()) == depth]
    return (*groups, *commands)
