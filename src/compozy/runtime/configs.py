"""The configuration in force per workspace: the home's, overlaid by what the workspace says and may (contract §2.1).

The home's is the one the daemon runs with. A workspace's file is read again when it, the home's file or the trust in
it changed; without such a file nothing is read at all.
"""

import asyncio
import os
from pathlib import Path

from compozy.config.config import Config
from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.model.errors import CompozyError
from compozy.runtime.trust import Trust

Signature = tuple[int, ...]


class Configs:
    """Hands out configurations."""

    def __init__(self, home: Home, config: Config, trust: Trust) -> None:
        self._home = home
        self._trust = trust
        self.home_config = config
        self._known: dict[str, tuple[tuple[Signature, ...], Config]] = {}
        self._mistaken: dict[str, tuple[tuple[Signature, ...], Config]] = {}

    async def of(self, root: str) -> Config:
        """Return the configuration for sessions in a workspace; "" means the home's.

        Raises:
            ConfigError: the workspace's file, or the home's as it is now, has mistakes.
        """
        seen = self._seen(root)
        if not seen:
            return self.home_config
        known = self._known.get(root)
        if known is None or known[0] != seen:
            known = (seen, await asyncio.to_thread(self._load, root))
            self._known[root] = known
        return known[1]

    def shown(self, root: str) -> Config:
        """Return the same at once, for lists: with mistakes in the workspace's file the home's is shown."""
        seen = self._seen(root)
        if not seen:
            return self.home_config
        known = next((k for k in (self._known.get(root), self._mistaken.get(root)) if k and k[0] == seen), None)
        if known is None:
            try:
                known = self._known[root] = (seen, self._load(root))
            except CompozyError:
                # Kept apart: `of` finds the mistake itself and says it.
                known = self._mistaken[root] = (seen, self.home_config)
        return known[1]

    def _seen(self, root: str) -> tuple[Signature, ...]:
        """Return what the workspace's settings rest on, () when it has none of its own."""
        path = Path(root) / ".compozy" / "config.toml"
        own = _signature(path) if root and path != self._home.config_file else ()
        if not own:
            self._known.pop(root, None)
            return ()
        return (own, _signature(self._home.config_file), self._trust.grants.signature())

    def _load(self, root: str) -> Config:
        return load_config(self._home, Path(root), is_trusted=self._trust.trusts_file())


def _signature(path: Path) -> Signature:
    try:
        found = os.stat(path)  # noqa: PTH116 - one call per session and list, kept cheap
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino)
