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
from compozy.runtime.trust import Trust

Signature = tuple[int, ...]


class Configs:
    """Hands out configurations."""

    def __init__(self, home: Home, config: Config, trust: Trust) -> None:
        self._home = home
        self._trust = trust
        self.home_config = config
        self._known: dict[str, tuple[tuple[Signature, ...], Config]] = {}

    async def of(self, root: str) -> Config:
        """Return the configuration for sessions in a workspace; "" means the home's.

        Raises:
            ConfigError: the workspace's file, or the home's as it is now, has mistakes.
        """
        path = Path(root) / ".compozy" / "config.toml"
        if not root or path == self._home.config_file:
            return self.home_config
        own = _signature(path)
        if not own:
            self._known.pop(root, None)
            return self.home_config
        seen = (own, _signature(self._home.config_file), self._trust.grants.signature())
        known = self._known.get(root)
        if known is None or known[0] != seen:
            config = await asyncio.to_thread(
                load_config, self._home, Path(root), is_trusted=self._trust.trusts_file()
            )
            known = (seen, config)
            self._known[root] = known
        return known[1]


def _signature(path: Path) -> Signature:
    try:
        found = os.stat(path)  # noqa: PTH116 - one call per session and list, kept cheap
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino)
