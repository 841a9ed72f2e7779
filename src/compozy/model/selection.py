"""The answer of the selector: which agent fits a task, and why (issue 8)."""

from compozy.model.record import Record


class Candidate(Record, frozen=True, kw_only=True):
    """One agent that fits: `score` 0 to 1 against the best of this task, `confidence` the chance that it is right.

    `capability` is its best matching one and `missing_inputs` what that one needs to know; `preferred` lists the
    preferred ids that the agent has.
    """

    name: str
    score: float
    reasons: tuple[str, ...]
    confidence: float = 0.0
    capability: str = ""
    missing_inputs: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()


class Rejected(Record, frozen=True, kw_only=True):
    """One agent that does not fit, and why."""

    name: str
    reason: str


class Selection(Record, frozen=True, kw_only=True):
    """The chosen agent, why, and who else was considered.

    `fits` is false when none fits: then `agent` is the default one, or "" when required ids leave nobody.
    """

    agent: str
    reason: str
    candidates: tuple[Candidate, ...]
    fits: bool = False
    margin: float = 0.0
    rejected: tuple[Rejected, ...] = ()
