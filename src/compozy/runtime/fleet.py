"""The fleet: which agents are in force where, as the API shows them (contract §3.3)."""

from compozy.config.config import Config
from compozy.config.home import Home


class Fleet:
    """Agents visible in a workspace or globally."""

    def __init__(self, home: Home, config: Config) -> None:
        self._home = home
        self._config = config
