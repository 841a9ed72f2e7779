"""What the session commands share: a session's columns, reading a text, and who answers questions."""

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

import click

from compozy.cli.connection import JsonObject, text_of
from compozy.cli.invocation import Invocation
from compozy.cli.output import Column, clean, print_object, write, write_json, write_json_line
from compozy.cli.wording import age, parse_duration

if TYPE_CHECKING:
    _FloatType = click.ParamType[float]
else:
    # Older releases of click know no type of their values.
    _FloatType = click.ParamType

F = TypeVar("F", bound=Callable[..., object])

# What a run may do without asking, unless a flag says otherwise.
RUN_PERMISSIONS = "approve-reads"


def runtime_text(session: Mapping[str, object]) -> str:
    """Return `provider · model` of a session."""
    provider, model = (
        text_of(session, "runtime", "effective", "provider"),
        text_of(session, "runtime", "effective", "model"),
    )
    return f"{provider} · {model}" if model else provider


def reason_text(session: Mapping[str, object]) -> str:
    """Return why a session stopped or failed, in a few words."""
    parts = [text_of(session, "stop_reason"), text_of(session, "stop_detail"), text_of(session, "failure", "summary")]
    return ": ".join(dict.fromkeys(part for part in parts if part))


SESSION_COLUMNS = (
    Column("ID", "id"),
    Column("NAME", "name"),
    Column("AGENT", "agent_name"),
    Column("STATE", "state"),
    Column("BADGE", "badge"),
    Column("UPDATED", "updated_at", lambda row: age(row.get("updated_at"))),
)
SESSION_TOON = tuple(
    Column(field, field)
    for field in ("id", "name", "agent_name", "state", "badge", "type", "workspace_id", "created_at", "updated_at")
)
SESSION_FIELDS = (
    Column("Session", "id"),
    Column("Name", "name"),
    Column("Agent", "agent_name"),
    Column("State", "state"),
    Column("Badge", "badge"),
    Column("Runtime", "runtime", runtime_text),
    Column("Workspace", "workspace_path"),
    Column("Reason", "stop_reason", reason_text),
    Column("Created", "created_at", lambda row: age(row.get("created_at"))),
    Column("Updated", "updated_at", lambda row: age(row.get("updated_at"))),
)


def print_done(invocation: Invocation, answer: JsonObject, text: str) -> None:
    """Say what was done: a sentence for a person, the answer for programs."""
    if invocation.is_human:
        write(f"{clean(text)}\n")
    elif invocation.format == "json":
        write_json(answer)
    elif invocation.format == "jsonl":
        write_json_line(answer)
    else:
        print_object(invocation, answer, (), name="result")


class Duration(_FloatType):
    """A length of time on the command line, in seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            return parse_duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def turn_options(function: F) -> F:
    """Add `--on-ask`, `--timeout` and `--require-context` to a command that drives a turn."""
    asked = click.option(
        "--on-ask",
        type=click.Choice(("ask", "deny", "allow")),
        help="When the agent asks for permission: ask here, deny, or allow (default: ask in a terminal, else deny).",
    )
    timed = click.option(
        "--timeout", type=Duration(), metavar="D", help="Cancel the turn after this long: 30s, 5m, 1h30m."
    )
    remembered = click.option(
        "--require-context",
        is_flag=True,
        help="Exit with 74, and say nothing to the agent, when it does not remember the session.",
    )
    return asked(timed(remembered(function)))


def read_text(text: str, what: str) -> str:
    """Return the text, read from standard input when it is `-`.

    Raises:
        click.UsageError: it is blank.
    """
    found = sys.stdin.read() if text == "-" else text
    if not found.strip():
        raise click.UsageError(f"{what} is blank; say what the agent should do")
    return found


def who_answers(invocation: Invocation, on_ask: str | None) -> str:
    """Return the mode of answering: what was asked for, else `ask` where a person can be asked, else `deny`."""
    return on_ask or ("ask" if invocation.can_ask else "deny")
