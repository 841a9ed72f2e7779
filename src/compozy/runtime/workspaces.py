"""Workspaces: register, resolve by id, name or path, and the roots of each (contract §3.4)."""

from compozy.store.interface import Store


class Workspaces:
    """The registry of workspaces, kept in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
