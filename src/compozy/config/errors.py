"""What goes wrong while reading the home and its configuration: one error, with file, line and nearest key.

Knows the exit code of the command line (78, contract §4.4) and the status a route answers when a workspace's
configuration is broken (422). Says nothing about who reports it.
"""

from collections.abc import Iterable
from typing import ClassVar

from compozy.model.errors import EXIT_GENERIC, EXIT_INVALID, LocalError


class ConfigError(LocalError):
    """A configuration file cannot be used; the message lists every problem with its place."""

    status: ClassVar[int] = 422
    default_code = "config_invalid"
    category = "config"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, exit_code=EXIT_INVALID, hint=hint)
        self.diagnostic = True


class HomeError(LocalError):
    """The home folder cannot be used as it is."""

    default_code = "home_unusable"
    category = "config"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, exit_code=EXIT_GENERIC, hint=hint)


def nearest(word: str, choices: Iterable[str]) -> str:
    """Return the choice most like `word`, "" when none is close."""
    import difflib  # noqa: PLC0415 - start-up cost

    found = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.6)
    return found[0] if found else ""
