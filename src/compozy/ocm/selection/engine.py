"""The selector: who may, who fits best, how sure that is, and "none fits" (OCM §7–8; issue 8 item 7; decisions O4).

Deterministic: the same catalogue and request give the same answer, ties go by id. Only primary capabilities compete;
the others fill slots of a plan. Prices and latency bound a request as constraints, they do not score.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from compozy.ocm.endpoints.choice import choose_endpoint
from compozy.ocm.policy import Decision, Request
from compozy.ocm.selection.admission import Admission
from compozy.ocm.selection.documents import Document, read_target
from compozy.ocm.selection.fit import DEFAULT_MINIMUM, tell_shortfall
from compozy.ocm.selection.matching import LexicalMatcher, Matched, Matcher
from compozy.ocm.selection.outcome import Outcome, Ranked, Refused
from compozy.ocm.selection.reasons import explain
from compozy.ocm.target import Target

# A prior moves a score by at most a twentieth either way: it settles near ties and never beats the words.
PRIOR_WEIGHT = 0.1
_HELPER = Decision(admitted=False, rule="primary", reason="helps others and takes no request itself (primary: false)")
_SHOWN_REFUSED = 10


class Classifier(Protocol):
    """A trained model: the probability of each capability it knows, by id."""

    def probabilities(self, task: str) -> dict[str, float]: ...


class Selector:
    """A catalogue ready for selection; it does not change afterwards.

    Args:
        targets: the catalogue.
        model: a trained model of it, which then decides instead of the match.
        matching: makes the matcher of the documents; by words when omitted.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        model: Classifier | None = None,
        matching: Callable[[Sequence[Document]], Matcher] = LexicalMatcher,
    ) -> None:
        self.targets = tuple(targets)
        self._model = model
        self._ids = [target.id for target in self.targets]
        self._documents = [read_target(target) for target in self.targets]
        self._matcher = matching(self._documents)
        self._admission = Admission(self.targets)
        self._helpers = {number for number, target in enumerate(self.targets) if not target.primary}
        self._priors = {n: (t.prior - 0.5) * PRIOR_WEIGHT for n, t in enumerate(self.targets) if t.prior != 0.5}

    def select(
        self,
        task: str,
        request: Request | None = None,
        *,
        limit: int = 5,
        minimum: float = DEFAULT_MINIMUM,
        helpers: bool = False,
        explained: bool = True,
    ) -> Outcome:
        """Choose for a task. `minimum` is the confidence below which none fits; `helpers` lets non-primaries compete.

        Raises:
            InvalidRequest: the request cannot be decided.
        """
        asked = request or Request()
        refused = dict(self._admission.refused(asked))
        if not helpers:
            for number in self._helpers:
                refused.setdefault(number, _HELPER)
        matched = self._matcher.match(task, refused)
        told = self._tell_refused(refused, matched.resemblance) if refused else ()
        sure = self._classify(task, refused)
        totals = self._add_priors(matched.totals if sure is None else dict(sure))
        order = _best(totals, self._ids, limit)
        ranked = tuple(
            self._rank(number, totals[number], matched, sure, task if explained else "") for number in order
        )
        outcome = self._conclude(ranked, refused, told, minimum)
        if not outcome.chosen:
            return outcome
        # The region of the request chooses, now and not when the catalogue was loaded (decisions O5).
        endpoint = choose_endpoint(self.targets[order[0]].endpoints, asked.region)
        return msgspec.structs.replace(outcome, endpoint=endpoint)

    def _add_priors(self, totals: dict[int, float]) -> dict[int, float]:
        for number, prior in self._priors.items():
            if number in totals:
                totals[number] = max(totals[number] + prior, 0.0)
        return totals

    def _classify(self, task: str, refused: Mapping[int, Decision]) -> dict[int, float] | None:
        """Return what the trained model says of those who may take the task; None without a model."""
        if self._model is None:
            return None
        told = self._model.probabilities(task)
        return {
            number: told[target.id]
            for number, target in enumerate(self.targets)
            if number not in refused and target.id in told
        }

    def _rank(
        self, number: int, total: float, matched: Matched, sure: Mapping[int, float] | None, task: str
    ) -> Ranked:
        confidence = matched.confidence(number) if sure is None else sure[number]
        return Ranked(
            id=self.targets[number].id,
            score=round(min(total, 1.0), 4),
            confidence=round(confidence, 4),
            reasons=(*explain(self._documents[number], task), *matched.told(number)) if task else (),
        )

    def _conclude(
        self,
        ranked: tuple[Ranked, ...],
        refused: Mapping[int, Decision],
        told: tuple[Refused, ...],
        minimum: float,
    ) -> Outcome:
        best = ranked[0] if ranked else None
        chosen = best.id if best and best.confidence >= minimum else ""
        admitted = len(self.targets) - len(refused)
        if best is None:
            reason = f"none of {admitted} admitted capabilities shares a word with the task"
        elif chosen:
            reason = "; ".join(best.reasons) or "the best match"
        else:
            reason = f"none fits: the nearest, {best.id}, is {tell_shortfall(best.confidence, minimum)}"
        if not admitted:
            reason = f"none of {len(self.targets)} capabilities may take the request"
        second = ranked[1].score if len(ranked) > 1 else 0.0
        return Outcome(
            chosen=chosen,
            reason=reason,
            confidence=best.confidence if best else 0.0,
            margin=round(best.score - second, 4) if best else 0.0,
            ranked=ranked,
            refused=told,
            refused_by_rule=dict(sorted(Counter(verdict.rule for verdict in refused.values()).items())),
        )

    def _tell_refused(self, refused: Mapping[int, Decision], resemblance: Mapping[int, float]) -> tuple[Refused, ...]:
        # Whoever was kept out although it matched is what a person asks about first.
        order = sorted(refused, key=lambda number: (-resemblance.get(number, 0.0), self.targets[number].id))
        return tuple(
            Refused(id=self.targets[number].id, rule=refused[number].rule, reason=refused[number].reason)
            for number in order[:_SHOWN_REFUSED]
        )


def _best(totals: Mapping[int, float], ids: Sequence[str], limit: int) -> list[int]:
    """Return the numbers of the best totals, ties by id."""
    top = max(totals.values(), default=0.0)
    # Most of a catalogue scores far below the best: look at the upper part first and at the rest only when needed.
    found: list[int] = []
    for share in (0.5, 0.2, 0.0):
        bound = top * share
        found = [number for number, total in totals.items() if total >= bound]
        if len(found) >= limit:
            break
    found.sort(key=lambda number: (-totals[number], ids[number]))
    return found[:limit]
