"""The click class of the commands of `compozy ocm`, and reading what they name (decisions D30).

Kept apart from the printing, so that a run that finds nothing imports little.
"""

import sys
from collections.abc import Callable, Sequence

import click

from compozy.cli.failures import describe
from compozy.cli.groups import Command
from compozy.cli.invocation import FORMATS, Invocation
from compozy.documents.limits import MAX_FILE_BYTES
from compozy.model.diagnostic import Severity
from compozy.model.errors import EXIT_GENERIC, InvalidRequest, LocalError
from compozy.ocm.entries import CatalogueError, Entry, Loaded
from compozy.ocm.loading import Check, read
from compozy.ocm.problems import Problem
from compozy.ocm.sources import STDIN

# 0 valid, 2 invalid or usage, 1 a fault of ours.
EXIT_INVALID_MANIFEST = 2
# In these formats every command prints what it found wrong, and nothing else.
FINDINGS = ("sarif", "github")
OCM_FORMATS = (*FORMATS, *FINDINGS)
_REPORTED, _STRICT = "compozy.ocm.reported", "compozy.ocm.strict"


def _set_format(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value:
        ctx.ensure_object(Invocation).use_format("json" if value is True else str(value))


def _set_strict(ctx: click.Context, param: click.Parameter, value: object) -> None:
    ctx.meta[_STRICT] = bool(value)


def is_strict() -> bool:
    """Whether the running command was told to count warnings."""
    context = click.get_current_context(silent=True)
    return bool(context is not None and context.meta.get(_STRICT))


def wants_findings(invocation: Invocation) -> bool:
    """Whether only findings are printed."""
    return invocation.format in FINDINGS


def mark_reported() -> None:
    """Note that the running command has printed its findings."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_REPORTED] = True


def refuse_standard_output(invocation: Invocation) -> None:
    """Refuse to lose a document: in these formats standard output is for findings.

    Raises:
        click.UsageError: the format is one of findings.
    """
    if wants_findings(invocation):
        raise click.UsageError(f"-o {invocation.format} prints findings only: name a file for the result with --out")


class OcmCommand(Command):
    """A command whose `-o` also knows the formats of code scanning and pull requests."""

    is_short = True
    can_be_strict = True

    def invoke(self, ctx: click.Context) -> object:
        try:
            result = super().invoke(ctx)
        except LocalError as error:
            if error.exit_code != EXIT_GENERIC:
                raise
            # A file that is missing or no model is a wrong call: 1 is for answers ("no") and faults of ours.
            error.exit_code = EXIT_INVALID_MANIFEST
            if not wants_findings(ctx.ensure_object(Invocation)):
                raise
            return self._refuse(ctx, InvalidManifests(error.message))
        except InvalidRequest as error:
            # What cannot be used is "invalid" here, whatever part found it out.
            problems = error.problems if isinstance(error, CatalogueError) else ()
            return self._refuse(ctx, InvalidManifests(error.message, problems, code=error.code))
        except OSError as error:
            if error.filename is None:
                raise
            return self._refuse(ctx, InvalidManifests(describe(error).message, code="unreadable"))
        except InvalidManifests as error:
            return self._refuse(ctx, error)
        if wants_findings(ctx.ensure_object(Invocation)) and not ctx.meta.get(_REPORTED):
            self._report(ctx, ())
        return result

    def _refuse(self, ctx: click.Context, error: "InvalidManifests") -> int:
        if not wants_findings(ctx.ensure_object(Invocation)):
            raise error
        problems = error.problems or (Problem(code="refused", field="", message=error.message),)
        self._report(ctx, problems)
        return EXIT_INVALID_MANIFEST

    def _report(self, ctx: click.Context, problems: Sequence[Problem]) -> None:
        from compozy.cli.ocm.reporting import report_problems  # noqa: PLC0415 - start-up cost

        report_problems(ctx.ensure_object(Invocation), problems, tool=f"ocm {self.name}")

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
        if self.can_be_strict and not any(param.name == "strict" for param in params):
            strict = click.Option(
                ["--strict"], is_flag=True, expose_value=False, callback=_set_strict, help="Warnings fail as well."
            )
            output.insert(0, strict)
        return [*params[:-1], *output, *params[-1:]]


def ocm_command(
    name: str, *, examples: Sequence[str], strict: bool = True
) -> Callable[[Callable[..., object]], OcmCommand]:
    """Make a command of a function; its docstring is the help. `strict`: whether it reads what may have warnings."""

    def decorate(function: Callable[..., object]) -> OcmCommand:
        made = click.command(name, cls=OcmCommand)(function)
        made.examples = tuple(examples)
        made.can_be_strict = strict
        return made

    return decorate


def read_paths(paths: Sequence[str], advise: Check | None = None) -> Loaded:
    """Read what the command line names; "-" is standard input.

    Raises:
        click.UsageError: no path was given.
    """
    if not paths:
        raise click.UsageError("name a file, a folder, a glob, or - for standard input")
    return read(paths, stdin=standard_input(paths), advise=advise)


def standard_input(paths: Sequence[str]) -> bytes | None:
    """Return what came by standard input, when it is among the paths; no more than a file may hold."""
    # One byte more than allowed is enough to be told that it is too large.
    return sys.stdin.buffer.read(MAX_FILE_BYTES + 1) if STDIN in paths else None


class InvalidManifests(click.ClickException):
    """Manifests that a command cannot use; ends the call with the exit code of the family."""

    exit_code = EXIT_INVALID_MANIFEST

    def __init__(self, message: str, problems: Sequence[Problem] = (), *, code: str = "manifest_invalid") -> None:
        super().__init__(message)
        self.problems = tuple(problems)
        self.code = code


def refuse_problems(problems: Sequence[Problem]) -> None:
    """Refuse manifests that have errors, or warnings when they count.

    Raises:
        InvalidManifests: with every problem.
    """
    failing = [one for one in problems if is_strict() or one.severity is Severity.ERROR]
    if failing:
        raise InvalidManifests(CatalogueError(failing).message, problems)


def valid_entries(invocation: Invocation, paths: Sequence[str]) -> list[Entry]:
    """Read manifests that a command will use; that native entries are passed over is said.

    Raises:
        InvalidManifests: something is wrong with them, or there is none.
    """
    loaded = read_valid(paths)
    say_passed_over(invocation, ", ".join(paths), loaded.natives)
    return loaded.manifests


def read_valid(paths: Sequence[str]) -> Loaded:
    """Read what holds at least one manifest.

    Raises:
        InvalidManifests: something is wrong with it, or there is none.
    """
    loaded = read_paths(paths)
    refuse_problems(loaded.all_problems())
    if not loaded.manifests:
        raise InvalidManifests(f"there is no manifest at {', '.join(paths)}; name a file or folder that has one")
    return loaded


def say_passed_over(invocation: Invocation, where: str, natives: Sequence[Entry]) -> None:
    """Tell a person what a command for manifests leaves out."""
    if natives:
        from compozy.cli.output import note  # noqa: PLC0415 - start-up cost
        from compozy.cli.wording import count  # noqa: PLC0415 - start-up cost

        many = count(len(natives), "native entry is", "native entries are")
        note(invocation, f"{where}: {many} passed over; `compozy ocm convert` makes manifests of them")
