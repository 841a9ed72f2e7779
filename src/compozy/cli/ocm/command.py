"""The click class of the commands of `compozy ocm`, and reading what they name (decisions D30).

Kept apart from the printing, so that a run that finds nothing imports little.
"""

import sys
from collections.abc import Callable, Sequence

import click

from compozy.cli.groups import Command
from compozy.cli.invocation import FORMATS, Invocation
from compozy.model.diagnostic import Severity
from compozy.model.errors import InvalidRequest
from compozy.ocm.loading import CatalogueError, Check, Entry, Loaded, read
from compozy.ocm.sources import STDIN

# 0 valid, 2 invalid or usage, 1 a fault of ours.
EXIT_INVALID_MANIFEST = 2
OCM_FORMATS = (*FORMATS, "sarif", "github")


def _set_format(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value:
        ctx.ensure_object(Invocation).use_format("json" if value is True else str(value))


class OcmCommand(Command):
    """A command whose `-o` also knows the formats of code scanning and pull requests."""

    is_short = True

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except InvalidRequest as error:
            # What cannot be used is "invalid" here, whatever part found it out.
            raise InvalidManifests(error.message) from error

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = click.Command.get_params(self, ctx)
        output = [
            click.Option(
                ["-o", "--output"],
                type=click.Choice(OCM_FORMATS),
                expose_value=False,
                callback=_set_format,
                help="How to print the answer (default: human).",
            ),
            click.Option(["--json"], is_flag=True, expose_value=False, callback=_set_format, help="Same as -o json."),
        ]
        return [*params[:-1], *output, *params[-1:]]


def ocm_command(name: str, *, examples: Sequence[str]) -> Callable[[Callable[..., object]], OcmCommand]:
    """Make a command of a function; its docstring is the help."""

    def decorate(function: Callable[..., object]) -> OcmCommand:
        made = click.command(name, cls=OcmCommand)(function)
        made.examples = tuple(examples)
        return made

    return decorate


def read_paths(paths: Sequence[str], advise: Check | None = None) -> Loaded:
    """Read what the command line names; "-" is standard input.

    Raises:
        click.UsageError: no path was given.
    """
    if not paths:
        raise click.UsageError("name a file, a folder, a glob, or - for standard input")
    data = sys.stdin.buffer.read() if STDIN in paths else None
    return read(paths, stdin=data, advise=advise)


class InvalidManifests(click.ClickException):
    """Manifests that a command cannot use; ends the call with the exit code of the family."""

    exit_code = EXIT_INVALID_MANIFEST


def valid_entries(paths: Sequence[str]) -> list[Entry]:
    """Read manifests that a command will use; native entries are passed over.

    Raises:
        InvalidManifests: something is wrong with them, or there is none.
    """
    loaded = read_paths(paths)
    problems = loaded.all_problems()
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise InvalidManifests(CatalogueError(problems).message)
    if not loaded.manifests:
        raise InvalidManifests(f"there is no manifest at {', '.join(paths)}; name a file or folder that has one")
    return loaded.manifests
