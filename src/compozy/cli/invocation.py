"""One call of the command line: the chosen output format, the home, and the terminal it writes to.

Handed to every command as click's context object. Writing happens in `compozy.cli.output` and
`compozy.cli.failures`; this module only knows where to.
"""

import os
import sys
from dataclasses import dataclass
from functools import cached_property

from compozy.config.home import Home

FORMATS = ("human", "json", "jsonl", "toon")


@dataclass
class Invocation:
    """What the flags and the environment say about this call."""

    format: str = "human"

    @cached_property
    def home(self) -> Home:
        """The home the environment names."""
        return Home.from_environment()

    def use_format(self, name: str) -> None:
        """Choose the output format; the last flag on the line wins."""
        self.format = name

    @property
    def is_human(self) -> bool:
        return self.format == "human"

    @property
    def is_terminal(self) -> bool:
        """Whether answers go to a terminal, for a person."""
        return self.is_human and sys.stdout.isatty()

    @property
    def can_ask(self) -> bool:
        """Whether a person can be asked: both the question and its answer need a terminal."""
        return self.is_human and sys.stdin.isatty() and sys.stderr.isatty()

    @property
    def has_live_notes(self) -> bool:
        """Whether a person watches standard error, where a line may move."""
        return self.is_human and sys.stderr.isatty()

    @property
    def has_colour(self) -> bool:
        """Whether colour is welcome on standard output (NO_COLOR and TERM=dumb say no)."""
        return self.is_terminal and _colour_is_welcome()

    @property
    def has_coloured_notes(self) -> bool:
        """Whether colour is welcome on standard error."""
        return self.has_live_notes and _colour_is_welcome()


def _colour_is_welcome() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
