"""The home folder: where it is, its fixed paths, and its modes (contract §1.1, §1.2; decisions D14).

`COMPOZY_HOME` of the process environment, else `~/.compozy`. A workspace's `.env` is never consulted.
"""

import os
from dataclasses import dataclass
from pathlib import Path

# Created 0700 on first use (contract §1.1).
HOME_DIRECTORIES = (
    "agents",
    "skills",
    "loops",
    "memory",
    "sessions",
    "tool-artifacts",
    "session-attachments",
    "restarts",
    "logs",
    "gateway",
    "gateway/credentials",
    "extension-data",
    "bin",
)


@dataclass(frozen=True)
class Home:
    """The paths below one home folder."""

    root: Path

    @classmethod
    def from_environment(cls, environ: dict[str, str] | None = None) -> "Home":
        """Return the home the environment names: `~` expanded, absolute, not necessarily existing.

        Links on the way to it are the person's own choice and followed here once; below it none are (formats §1).
        """
        env = os.environ if environ is None else environ
        text = env.get("COMPOZY_HOME", "").strip() or "~/.compozy"
        try:
            return cls(Path(os.path.realpath(Path(text).expanduser())))
        except RuntimeError:
            # No such user: the text as it is names a folder that will be reported as it was written.
            return cls(Path(os.path.abspath(text)))

    @property
    def config_file(self) -> Path:
        return self.root / "config.toml"

    @property
    def mcp_file(self) -> Path:
        return self.root / "mcp.json"

    @property
    def database(self) -> Path:
        return self.root / "compozy.db"

    @property
    def socket(self) -> Path:
        return self.root / "daemon.sock"

    @property
    def lock_file(self) -> Path:
        return self.root / "daemon.lock"

    @property
    def record_file(self) -> Path:
        return self.root / "daemon.json"

    @property
    def log_file(self) -> Path:
        return self.root / "logs" / "compozy.log"

    @property
    def agents(self) -> Path:
        return self.root / "agents"

    def create(self) -> None:
        """Create the home and its folders, 0700 each; existing folders keep their mode.

        Raises:
            OSError: a folder cannot be made.
        """
        for path in (self.root, *(self.root / name for name in HOME_DIRECTORIES)):
            path.mkdir(mode=0o700, parents=path == self.root, exist_ok=True)
