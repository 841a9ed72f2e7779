"""What a selection answers: the chosen one or none, the runners-up with reasons, and who was refused by which rule.

Plain records for the engine, the daemon and the commands (issue 8 items 7 and 8). No behaviour.
"""

from compozy.model.record import Record
from compozy.ocm.endpoints.choice import Choice


class Ranked(Record, frozen=True, kw_only=True):
    """A candidate: `score` 0 to 1 against the best of this request, `confidence` the chance that it is right."""

    id: str
    score: float
    confidence: float
    reasons: tuple[str, ...]


class Refused(Record, frozen=True, kw_only=True):
    """A capability that a hard constraint keeps out; `rule` names it, `reason` is for people."""

    id: str
    rule: str
    reason: str


class Outcome(Record, frozen=True, kw_only=True):
    """The result. `chosen` is "" when none fits; `margin` is the lead over the second best, 0 to 1.

    `refused` holds the best matching ones up to a limit; `refused_by_rule` counts them all. `endpoint` is where the
    chosen one answers requests of this region, None where it names no endpoint.
    """

    chosen: str
    reason: str
    confidence: float
    margin: float
    ranked: tuple[Ranked, ...]
    refused: tuple[Refused, ...] = ()
    refused_by_rule: dict[str, int] = {}
    endpoint: Choice | None = None


class Slot(Record, frozen=True, kw_only=True):
    """A helper of a plan: a skill, persona, model or tool that fits the task beside the chosen capability."""

    role: str
    id: str
    confidence: float
    reasons: tuple[str, ...]


class Plan(Record, frozen=True, kw_only=True):
    """The chosen capability with its helpers; `empty` says why a slot has none."""

    outcome: Outcome
    slots: tuple[Slot, ...]
    empty: dict[str, str] = {}
