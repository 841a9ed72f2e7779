"""Files for a prompt from the command line: `--attach FILE`, uploaded before the prompt is sent (contract §3.5).

Shared by `run` and `session prompt`. What the daemon makes of a file, and what the agent takes, is theirs to say.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from compozy.cli.connection import JsonObject, as_json
from compozy.model.errors import LocalError

if TYPE_CHECKING:
    from compozy.client.typed import Client
    from compozy.model.session import Session

F = TypeVar("F", bound=Callable[..., object])


def attach_option(function: F) -> F:
    """Add `--attach` to a command that sends a prompt."""
    return click.option(
        "--attach",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="Give the agent this file: an image, a PDF or text. May be given several times.",
    )(function)


def uploaded(client: "Client", session: "Session", files: Sequence[str]) -> list[JsonObject]:
    """Upload files and return what a prompt says of them.

    Raises:
        LocalError: a file cannot be read.
        ApiError: the daemon refuses one.
    """
    return [as_json(client.sessions.upload(session, Path(name).name, read_file(name))) for name in files]


def read_file(name: str) -> bytes:
    """Return the content of a file.

    Raises:
        LocalError: it cannot be read.
    """
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise LocalError(
            f"file {name!r} cannot be read: {error.strerror or error}; name another", code="file_unreadable"
        ) from error
