"""The selectors of the places asked last: a large fleet's is dear to build and the same until its files change.

Each belongs to one view of one place. It knows nothing of how an agent is chosen (issue 8 item 8).
"""

import threading
from collections.abc import Callable
from typing import NamedTuple

from compozy.runtime.selection import AgentSelector

_MOST = 8
# Each takes some kilobytes; the selector asked last is kept whatever its size.
_MOST_DOCUMENTS = 20_000


class _Kept(NamedTuple):
    view: object
    selector: AgentSelector


class KeptSelectors:
    """Safe to be used by several threads; a place that two of them ask first is then built twice."""

    def __init__(self) -> None:
        self._kept: dict[object, _Kept] = {}
        self._lock = threading.Lock()

    def get(self, place: object, view: object, make: Callable[[], AgentSelector]) -> AgentSelector:
        """Return the selector of a place as this very view shows it, made when it is not there."""
        with self._lock:
            kept = self._kept.get(place)
            if kept is not None and kept.view is view:
                # The last stands last.
                self._kept[place] = self._kept.pop(place)
                return kept.selector
        selector = make()
        with self._lock:
            self._kept.pop(place, None)
            self._kept[place] = _Kept(view, selector)
            while len(self._kept) > 1 and (len(self._kept) > _MOST or self._documents() > _MOST_DOCUMENTS):
                del self._kept[next(iter(self._kept))]
        return selector

    def _documents(self) -> int:
        return sum(kept.selector.size for kept in self._kept.values())
