"""Which paths an agent may touch: equal to or below a root, through every symlink (contract §5.5 Containment)."""

import os
from collections.abc import Sequence
from pathlib import Path


class OutsideRoots(Exception):
    """A path that is not below any root, or no path at all; the message is for the agent and the person."""


class Roots:
    """The primary root of a session and its additional directories, each resolved once."""

    def __init__(self, primary: str, additional: Sequence[str] = ()) -> None:
        self.primary = Path(primary)
        resolved = [os.path.realpath(path) for path in (primary, *additional)]
        self._roots = tuple(dict.fromkeys(resolved))

    @property
    def paths(self) -> tuple[str, ...]:
        """The roots as they are compared, the primary one first."""
        return self._roots

    def resolve(self, text: str) -> Path:
        """Return the real path: relative ones join the primary root, missing ones resolve by their ancestors.

        Raises:
            OutsideRoots: blank, with a NUL, outside of every root, or changed while it was looked at.
        """
        if not text.strip() or "\0" in text:
            raise OutsideRoots(f"invalid path {text!r}: name a file below {str(self.primary)!r}")
        try:
            real = os.path.realpath(self.primary / text)
        except OSError as error:
            # A link that became a folder between two looks (EINVAL), a loop of links, a name that is too long.
            raise OutsideRoots(f"path {text!r} cannot be followed: {error.strerror or error}; try again") from error
        for root in self._roots:
            if real == root or real.startswith(root.rstrip("/") + "/"):
                return Path(real)
        raise OutsideRoots(f"path {text!r} is outside the session's roots ({', '.join(self._roots)})")

    def contains(self, text: str) -> bool:
        """Whether the path is below a root."""
        try:
            self.resolve(text)
        except OutsideRoots:
            return False
        return True


def additional_directories(primary: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the existing directories, each once by its real path, without the primary root (contract §5.3)."""
    seen = {os.path.realpath(primary)}
    kept: list[str] = []
    for path in paths:
        real = os.path.realpath(path)
        if Path(path).is_absolute() and Path(path).is_dir() and real not in seen:
            seen.add(real)
            kept.append(path)
    return tuple(kept)
