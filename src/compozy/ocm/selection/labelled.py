"""A labelled task: what training, choosing examples and judging learn from. It needs no numpy."""

from typing import NamedTuple


class Example(NamedTuple):
    """A task and the id of the capability that is right for it."""

    task: str
    id: str
