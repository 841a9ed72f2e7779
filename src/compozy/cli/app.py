"""The root command and the one place where a call ends (contract §4, §4.4; decisions D30).

Every exception of every command arrives in `main`, becomes a `Failure`, and leaves as text on standard error and
an exit code. A reader that goes away ends the call quietly; Ctrl-C ends it with 130.
"""

import io
import os
import sys
from collections.abc import Sequence

import click

from compozy import __version__
from compozy.cli.failures import describe, report
from compozy.cli.groups import LazyGroup
from compozy.cli.invocation import FORMATS, Invocation
from compozy.model.errors import EXIT_OK

# 128 + SIGPIPE: what a shell reports for a program whose reader went away.
EXIT_BROKEN_PIPE = 141
COMPLETE_VARIABLE = "_COMPOZY_COMPLETE"

_HELP = """Define agents once, see which definition is in force, and run them durably.

Start with: compozy run "what does this project do?"
"""


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        sys.stdout.write(f"compozy {__version__}\n")
        ctx.exit()


def root_command() -> LazyGroup:
    """Build the root of the command tree; no command module is imported for it."""
    root = LazyGroup("", help=_HELP)
    root.params.append(
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_show_version,
            help="Print the version.",
        )
    )
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one call of the command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    elif words == ["version"]:
        words = ["--version"]
    root = root_command()
    _prepare_streams(words)
    if COMPLETE_VARIABLE in os.environ:
        return _complete(root, os.environ[COMPLETE_VARIABLE])
    invocation = Invocation()
    try:
        code = _run(root, words, invocation)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _reader_gone()
    except BaseException as error:  # noqa: BLE001 - the supervisor: every failure leaves as one sentence and a code
        try:
            return _failed(error, words, invocation)
        except BrokenPipeError:
            return _reader_gone()
        finally:
            _drop_what_cannot_be_written()


def _prepare_streams(words: Sequence[str]) -> None:
    """Let every text be written: structured formats are UTF-8, and what cannot be encoded becomes an escape."""
    encoding = None if requested_format(words) == "human" else "utf-8"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _run(root: LazyGroup, words: list[str], invocation: Invocation) -> int:
    try:
        with root.make_context("compozy", words, obj=invocation, max_content_width=100) as context:
            result = root.invoke(context)
        return result if isinstance(result, int) and not isinstance(result, bool) else EXIT_OK
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stdout.write(error.format_message() + "\n")
        return EXIT_OK


def _failed(error: BaseException, words: Sequence[str], invocation: Invocation) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else EXIT_OK
    failure = describe(error)
    report(failure, invocation.format if not invocation.is_human else requested_format(words))
    return failure.exit_code


def _reader_gone() -> int:
    _pour_away()
    return EXIT_BROKEN_PIPE


def _drop_what_cannot_be_written() -> None:
    """After a failure: forget an answer that does not fit on a full disk."""
    try:
        sys.stdout.flush()
    except OSError:
        _pour_away()


def _pour_away() -> None:
    # The interpreter flushes once more at exit: give it something that accepts.
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
    os.close(sink)


def requested_format(words: Sequence[str]) -> str:
    """Return the output format a line asks for, also when the line could not be understood otherwise."""
    chosen = "human"
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        if word == "--":
            break
        if word == "--json":
            chosen = "json"
        elif word in ("-o", "--output") and following in FORMATS:
            chosen = following
        elif word.startswith("--output=") and word[9:] in FORMATS:
            chosen = word[9:]
        elif word.startswith("-o") and word[2:] in FORMATS:
            chosen = word[2:]
    return chosen


def _complete(root: LazyGroup, instruction: str) -> int:
    from click.shell_completion import shell_complete  # noqa: PLC0415 - start-up cost

    return shell_complete(root, {"obj": Invocation()}, "compozy", COMPLETE_VARIABLE, instruction)
