"""Launches: the right of one agent process to bind to its session's tools, once and soon (contract §6.4).

A launch has a nonce of 32 random bytes, of which only the hash is kept. Its time starts when it is armed, after the
agent answered `initialize`. Who may use it: a process of this user that descends from the agent.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

NONCE_BYTES = 32


class LaunchRefused(Exception):
    """A bind that is not allowed; the message does not say which part was right."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Who is on the other side of the socket."""

    pid: int
    uid: int


@dataclass(kw_only=True)
class Launch:
    """One start of an agent. `pid` is the agent's process once it is known, `seconds` how long it may be used."""

    session_id: str
    marker: str
    digest: bytes
    seconds: float = 30.0
    pid: int = 0
    expires_at: float | None = None
    is_used: bool = False


Descends = Callable[[Peer, Launch], bool]
"""Whether a process belongs to the agent of a launch."""


class Launches:
    """The launches that may still bind."""

    def __init__(self, *, clock: Callable[[], float], uid: int, descends: Descends) -> None:
        self._clock = clock
        self._uid = uid
        self._descends = descends
        self._known: dict[str, Launch] = {}

    def prepare(self, session_id: str, marker: str, seconds: float = 30.0) -> str:
        """Return the nonce of a new launch; an older one of the session ends."""
        nonce = secrets.token_hex(NONCE_BYTES)
        self._known = {key: known for key, known in self._known.items() if known.session_id != session_id}
        self._known[marker] = Launch(session_id=session_id, marker=marker, digest=_digest(nonce), seconds=seconds)
        return nonce

    def arm(self, marker: str, pid: int) -> None:
        """Start the window in which the launch may be used."""
        launch = self._known.get(marker)
        if launch is not None:
            launch.pid, launch.expires_at = pid, self._clock() + launch.seconds

    def forget(self, marker: str) -> None:
        """End a launch, used or not."""
        self._known.pop(marker, None)

    def use(self, session_id: str, nonce: str, peer: Peer | None) -> Launch:
        """Use a launch up.

        Raises:
            LaunchRefused: unknown, used, late, not armed, or another process.
        """
        launch = next((known for known in self._known.values() if known.session_id == session_id), None)
        if launch is None or not hmac.compare_digest(launch.digest, _digest(nonce)):
            raise LaunchRefused("the nonce is not one of this session")
        if launch.is_used:
            raise LaunchRefused("the nonce was used before: it is good for one bind")
        if launch.expires_at is None or self._clock() > launch.expires_at:
            raise LaunchRefused("the nonce is not valid now: it is good for a short while after the agent started")
        if peer is None or peer.uid != self._uid or not self._descends(peer, launch):
            raise LaunchRefused("this process does not belong to the session's agent")
        launch.is_used = True
        return launch


def _digest(nonce: str) -> bytes:
    return hashlib.sha256(nonce.encode("utf-8", "surrogatepass")).digest()
