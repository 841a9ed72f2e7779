"""Hard constraints over a whole catalogue: the rules of `ocm.policy`, asked once for targets that are alike (OCM §7).

A catalogue of ten thousand has few different constraint sections; the verdict of one holds for all that share it.
"""

from collections.abc import Sequence

import msgspec

from compozy.ocm.policy import Decision, Request, check_request, decide
from compozy.ocm.target import Target

_REMEMBERED = 32


class Admission:
    """Decides which targets may take a request."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = targets
        self._numbers = {target.id: number for number, target in enumerate(targets)}
        alike: dict[tuple[object, ...], list[int]] = {}
        for number, target in enumerate(targets):
            alike.setdefault(_profile(target), []).append(number)
        self._groups = list(alike.values())
        self._remembered: dict[Request, dict[int, Decision]] = {}

    def refused(self, request: Request) -> dict[int, Decision]:
        """Return the refusals by number of the target; the caller must not change the answer.

        Raises:
            InvalidRequest: the request cannot be decided (see `check_request`).
        """
        check_request(request)
        found = self._remembered.get(request)
        if found is None:
            found = self._decide(request)
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.pop(next(iter(self._remembered)))
            self._remembered[request] = found
        return found

    def _decide(self, request: Request) -> dict[int, Decision]:
        found: dict[int, Decision] = {}
        # The lists name single targets: for the rest, targets of one profile get one verdict.
        shared = msgspec.structs.replace(request, allow=None, deny=())
        for group in self._groups:
            verdict = decide(self._targets[group[0]], shared)
            if not verdict.admitted:
                found.update(dict.fromkeys(group, verdict))
        named = range(len(self._targets)) if request.allow is not None else map(self._numbers.get, request.deny)
        for number in named:
            if number is not None:
                verdict = decide(self._targets[number], request)
                if not verdict.admitted:
                    found[number] = verdict
        return found


def _profile(target: Target) -> tuple[object, ...]:
    return (
        target.enabled,
        target.kind,
        target.regions,
        tuple(str(endpoint.get("region") or "") for endpoint in target.endpoints),
        target.data_boundary,
        target.pii_allowed,
        target.tenants,
        tuple(target.cost.items()),
        target.latency_ms,
        target.max_tokens_in,
        target.context_window,
        target.supports_tools,
        target.modalities,
        target.languages,
        target.min_complexity,
        target.max_complexity,
        "safety" in target.tags,
    )
