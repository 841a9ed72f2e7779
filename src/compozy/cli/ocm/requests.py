"""The options that state what a request demands, shared by the commands that select (OCM §7; decisions O4).

It knows nothing of how a choice is made.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from compozy.cli.ocm.command import InvalidManifests, refuse_problems

if TYPE_CHECKING:
    from compozy.ocm.policy import Request
    from compozy.ocm.target import Target

F = TypeVar("F", bound=Callable[..., object])
_KINDS = ("llm", "agent", "skill", "persona", "tool", "workflow", "human", "destination")


class Number(click.FloatRange):
    """A number within bounds; `nan` is none, though it lies below and above nothing."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse what is no number, and what is out of bounds."""
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is no number", param, ctx)
        return found


_OPTIONS = (
    click.option("--kind", "kinds", multiple=True, type=click.Choice(_KINDS), help="Only these kinds."),
    click.option("--exclude", "deny", multiple=True, metavar="ID", help="Not this one."),
    click.option("--region", default="", help="Where the work must be done; it also chooses the endpoint."),
    click.option("--boundary", "data_boundary", default="", help="public, private or on_prem: at least this."),
    click.option("--tenant", default="", help="On whose behalf."),
    click.option("--language", default="en", show_default=True, help="The language of the task."),
    click.option("--tokens", type=click.IntRange(min=0), default=0, help="Input tokens of the request."),
    click.option("--max-cost-usd", type=Number(min=0), help="For the whole request: the call and its tokens."),
    click.option("--max-cost-per-1k", type=Number(min=0), help="For 1,000 tokens."),
    click.option("--max-latency-ms", type=Number(min=0), help="Highest usual latency."),
    click.option("--pii", "contains_pii", is_flag=True, help="The task holds personal data."),
    click.option(
        "--modality", "modalities", multiple=True, help="Needed; text where none is named. Several are fine."
    ),
    click.option("--complexity", type=Number(0, 1), help="Of the task: only those whose band holds it may take it."),
    click.option("--tools", "require_tools", is_flag=True, help="A model must be able to call tools."),
)


def request_options(function: F) -> F:
    """Add the options; they arrive as keyword arguments named as the fields of a request."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def read_request(given: dict[str, object]) -> "Request":
    """Make a request of the options' values."""
    import msgspec  # noqa: PLC0415 - start-up cost

    from compozy.ocm.policy import Request  # noqa: PLC0415 - start-up cost

    stated = dict(given)
    if not stated["modalities"]:
        del stated["modalities"]
    if stated["complexity"] is None:
        del stated["complexity"]
    else:
        stated["complexity_band"] = True
    return msgspec.convert(stated, Request)


def read_targets(paths: Sequence[str]) -> "list[Target]":
    """Load every entry, native ones included, as targets.

    Raises:
        InvalidManifests: something is wrong with them, or there is none.
    """
    from compozy.cli.ocm.command import standard_input  # noqa: PLC0415 - start-up cost
    from compozy.ocm.loading import read, target_of  # noqa: PLC0415 - start-up cost

    loaded = read(paths, stdin=standard_input(paths), folders_hold_single=True)
    refuse_problems(loaded.all_problems())
    targets = [target_of(entry) for entry in loaded.entries]
    if not targets:
        raise InvalidManifests(f"there is no manifest at {', '.join(paths)}; name a file or folder that has one")
    return targets
