"""The sessions service: the one door to every session, for routes and hosted tools alike."""

from compozy.store.interface import Store


class Sessions:
    """All sessions of this daemon."""

    def __init__(self, store: Store) -> None:
        self._store = store
