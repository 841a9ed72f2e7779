"""The click classes of the command line: groups that load a command only when it is called, commands that take
`-o` anywhere, and typing mistakes answered with the nearest name.

Implements contract §4 (root flags). It knows nothing of what the commands do.
"""

import gc
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from compozy.cli.command_table import SECTIONS, CommandEntry, GroupEntry, entries_below
from compozy.cli.invocation import FORMATS, Invocation

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Arguments that are sentences: a shell splits them where the quotes are forgotten.
_TEXTS = ("task", "message", "prompt", "text", "answer")

# Where what must be given is to be had, whichever command wants it.
_SOURCES = {"session_id": "compozy session list --all"}

F = TypeVar("F", bound=Callable[..., object])


def _set_format(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value:
        ctx.ensure_object(Invocation).use_format("json" if value is True else str(value))


def _output_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["-o", "--output"],
            type=click.Choice(FORMATS),
            expose_value=False,
            callback=_set_format,
            help="How to print the answer (default: human). May stand before or after the command.",
        ),
        click.Option(["--json"], is_flag=True, expose_value=False, callback=_set_format, help="The same as -o json."),
    ]


OUTPUT_OPTIONS = _output_options()
HELP_OPTIONS = ("--help", "-h")


class UnknownCommand(click.UsageError):
    """A command that does not exist; `remedy` is a line that works."""

    def __init__(self, message: str, ctx: click.Context, remedy: str) -> None:
        super().__init__(message, ctx=ctx)
        self.remedy = remedy


class Command(click.Command):
    """A command that understands the output options and keeps the line breaks of its examples."""

    examples: tuple[str, ...] = ()
    sources: Mapping[str, str] = {}
    """For a parameter that must be given: the command that shows what to give."""
    is_short: bool = False
    """The command ends before the garbage collector would pay for itself."""

    def invoke(self, ctx: click.Context) -> object:
        if not self.is_short:
            gc.enable()
        return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            name = error.param.name if error.param is not None else ""
            raise _with_source(error, {**_SOURCES, **self.sources}.get(name or "", "")) from None
        except click.UsageError as error:
            if any(param.name in _TEXTS for param in self.params) and "unexpected extra argument" in error.message:
                told = f"{error.format_message().rstrip('.')}; put a text of several words in quotes"
                raise click.UsageError(told, ctx=error.ctx) from None
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx)[:-1], *OUTPUT_OPTIONS, *super().get_params(ctx)[-1:]]

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        # click keeps the option for good, with the names of the first context it meets: they must be in every one.
        return list(HELP_OPTIONS)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"  {example}\n")


def _with_source(error: click.MissingParameter, source: str) -> click.UsageError:
    """Say where the missing value is to be had."""
    if not source:
        return error
    return click.UsageError(f"{error.format_message().rstrip('.')}; `{source}` shows it", ctx=error.ctx)


class LazyGroup(click.Group):
    """A group whose members come from the command table and are imported when they are called."""

    def __init__(self, path: str, *, help: str, default: str = "") -> None:
        super().__init__(path.rpartition(" ")[2] or "compozy", help=help, no_args_is_help=not default)
        self.path = path
        self.default = default
        self.entries = {entry.path.rpartition(" ")[2]: entry for entry in entries_below(path)}

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return list(HELP_OPTIONS)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx)[:-1], *OUTPUT_OPTIONS, *super().get_params(ctx)[-1:]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._with_default(args))

    def _with_default(self, args: list[str]) -> list[str]:
        """Take a line without a member's name for the group's default member."""
        if self.default and not any(word in self.entries or word in HELP_OPTIONS for word in args):
            return [self.default, *args]
        return args

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        if isinstance(entry, GroupEntry):
            return LazyGroup(entry.path, help=entry.help, default=entry.default)
        if ctx.resilient_parsing:
            from compozy.cli.completions import usual  # noqa: PLC0415 - only a shell that completes pays for it

            return usual(load(entry), entry.path)
        return load(entry)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = self._with_default(args)
        command = self.get_command(ctx, args[0])
        if command is None:
            raise self._unknown(args[0], ctx)
        return args[0], command, args[1:]

    def _unknown(self, name: str, ctx: click.Context) -> "UnknownCommand":
        from compozy.cli.wrong_names import told  # noqa: PLC0415 - start-up cost

        sentence, remedy = told(name, self.path, self.entries)
        return UnknownCommand(sentence, ctx, remedy)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = SECTIONS if not self.path else (("Commands", tuple(self.entries)),)
        widest = max(map(len, self.entries))
        for title, names in sections:
            with formatter.section(title):
                # One column of names over all sections.
                formatter.write_dl([(name.ljust(widest), self.entries[name].help) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - start-up cost

        found = [
            CompletionItem(name, help=entry.help)
            for name, entry in self.entries.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


def load(entry: CommandEntry) -> click.Command:
    """Import the module an entry names and return its command."""
    module, _, attribute = entry.target.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if not isinstance(found, click.Command):
        raise TypeError(f"{entry.target} is no click command; make it with compozy.cli.groups.command")
    return found


def command(
    name: str, *, examples: Sequence[str] = (), sources: Mapping[str, str] | None = None
) -> Callable[[F], Command]:
    """Make a `Command` of a function; its docstring is the help, `examples` are whole command lines.

    `sources` names for a parameter that must be given the command that shows what to give.
    """

    def decorate(function: F) -> Command:
        made = click.command(name, cls=Command)(function)
        made.examples = tuple(examples)
        made.sources = sources or {}
        return made

    return decorate


pass_invocation = click.make_pass_decorator(Invocation, ensure=True)
