"""Writes docs/cli.md from the command tree, so that the reference cannot differ from the program.

Run it after changing a command: .venv/bin/python scripts/generate_cli_reference.py
"""

import sys
from pathlib import Path

import click

from compozy.cli.app import EXIT_BROKEN_PIPE, root_command
from compozy.cli.groups import OUTPUT_OPTIONS, LazyGroup
from compozy.model import errors

TARGET = Path(__file__).resolve().parents[1] / "docs" / "cli.md"

_INTRODUCTION = """\
# Command line reference

This page is generated from the program (`scripts/generate_cli_reference.py`); `compozy COMMAND --help` says the same.

## Output

Every command takes `-o human|json|jsonl|toon` (`--json` is short for `-o json`), before or after the command.

| format | what is printed |
|---|---|
| `human` | text and tables for people; tables and colours only on a terminal (`NO_COLOR` is honoured) |
| `json` | one indented JSON value: the list or object itself |
| `jsonl` | one JSON object a line; a prompt prints the frames of its stream |
| `toon` | a compact text form: field names once, one line of values a row, nested values in blocks below it |

Answers go to standard output, everything else to standard error. Commands that resolve a workspace say how they
found it in `resolution_source`: `positional`, `flag`, `env`, `session_identity` or `cwd`. A folder belongs to the
nearest registered workspace above it; your own home folder only counts when you stand in it directly.

An error is one sentence and, where a command helps, a line `try: …`. With `-o json` standard error carries
`{"error": …, "code": …, "diagnostic": {…, "suggested_command": …}}`, with `-o jsonl` the same below
`{"type": "error", "error": …}`.

## Choices of this program

* A run stops its session at the end, so that no agent program is left behind; a prompt wakes the session again.
  `--keep` leaves it running. Ctrl-C cancels the turn, a second Ctrl-C leaves it running.
* A folder that no workspace encloses is registered when work starts in it: the nearest folder above it that has
  agents of its own (`.compozy`), else the folder itself.
* Without a terminal nobody can be asked: questions are denied unless `--on-ask` says otherwise, and a run in which a
  policy denied something ends with 77 even when the agent found another way. A person's own no is no failure.
* `--on-ask ask` without a terminal leaves a question open for `compozy session approve`; in the end the daemon
  denies it.
* `compozy install` without `--provider` keeps the default provider that is set.

## Exit codes

| code | meaning |
|---|---|
"""

_EXIT_CODES = (
    (errors.EXIT_OK, "done"),
    (errors.EXIT_GENERIC, "a local problem, or a turn that failed, was refused or was cut off"),
    (errors.EXIT_USAGE, "the command line could not be understood"),
    (errors.EXIT_IDENTITY_REQUIRED, "an agent's call without its identity"),
    (errors.EXIT_REFUSED, "refused in the present state (HTTP 400, 409), or a wrong agent identity"),
    (errors.EXIT_NOTHING_IN_FLIGHT, "`session prompt-cancel` found nothing to cancel"),
    (errors.EXIT_UNAVAILABLE, "no such thing, or no daemon (HTTP 404, 408, 410, 413, 429, 5xx)"),
    (errors.EXIT_AGENT_DIED, "the agent program died during the turn; also a finding of severity `warn`"),
    (errors.EXIT_DIAGNOSTIC_ERROR, "the answer carries a finding of severity `error`"),
    (errors.EXIT_CONTEXT_LOST, "the agent does not remember the session, and `--require-context` was given"),
    (errors.EXIT_TIMEOUT, "out of time, or nobody answered a question of the agent"),
    (errors.EXIT_DENIED, "a permission was denied by policy (HTTP 401, 403)"),
    (errors.EXIT_INVALID, "understood and refused by a rule (HTTP 422), invalid configuration"),
    (errors.EXIT_CANCELLED, "cancelled, for example with Ctrl-C"),
    (EXIT_BROKEN_PIPE, "the reader of the output went away"),
)


def render() -> str:
    """Return the whole page."""
    parts = [_INTRODUCTION]
    parts += [f"| {code} | {meaning} |\n" for code, meaning in _EXIT_CODES]
    parts.append("\n## Commands\n")
    with click.Context(root_command(), info_name="compozy") as context:
        parts += _commands(root_command(), context)
    return "".join(parts)


def _commands(group: LazyGroup, context: click.Context) -> list[str]:
    parts: list[str] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        with click.Context(command, info_name=name, parent=context) as inner:
            if isinstance(command, LazyGroup):
                parts += _commands(command, inner)
            else:
                parts.append(_command(command, inner))
    return parts


def _command(command: click.Command, context: click.Context) -> str:
    usage = " ".join(command.collect_usage_pieces(context))
    text = f"\n### {context.command_path}\n\n```\n{context.command_path} {usage}\n```\n\n{_help(command)}\n"
    hidden = {id(option) for option in OUTPUT_OPTIONS}
    rows = [
        record
        for parameter in command.get_params(context)
        if id(parameter) not in hidden and "--help" not in parameter.opts
        if (record := parameter.get_help_record(context)) is not None and record[1]
    ]
    if rows:
        text += "\n| option | meaning |\n|---|---|\n"
        text += "".join(f"| `{_cell(option)}` | {_cell(meaning)} |\n" for option, meaning in rows)
    examples = getattr(command, "examples", ())
    if examples:
        text += "\n```sh\n" + "\n".join(examples) + "\n```\n"
    return text


def _help(command: click.Command) -> str:
    return "\n\n".join(" ".join(block.split()) for block in (command.help or "").split("\n\n"))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text(encoding="utf-8") == render() else f"{TARGET} is old: run {sys.argv[0]}")
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(render(), encoding="utf-8")
