"""Who looks at a session: leases of visible clients, and the client it is attached to (presence, attach; §3.5).

In memory but for the attachment, which is stored: a daemon that restarts has no clients, and a settled turn then
waits to be seen again.
"""

import time
from datetime import UTC, datetime, timedelta

from compozy.model import ids, times
from compozy.model.errors import Conflict
from compozy.model.session import Session
from compozy.model.session_reads import SessionHold
from compozy.runtime.sessions.journal import change_session
from compozy.runtime.sessions.settling import seen
from compozy.store.interface import SessionRecord

# A visible client renews its lease well before this; one that vanished is forgotten after it.
LEASE_SECONDS = 120.0
# Bounds the memory a session's clients can cost.
MOST_LEASES = 64
DEFAULT_ATTACH_SECONDS, MOST_ATTACH_SECONDS = 900, 86400


class Viewers:
    """The leases of one session in memory."""

    def __init__(self) -> None:
        self._leases: dict[str, float] = {}
        self.last_presence_at: str | None = None

    @property
    def is_watched(self) -> bool:
        """Whether a client says that it shows the session now."""
        now = time.monotonic()
        return any(until > now for until in self._leases.values())

    def show(self, lease_id: str) -> str:
        """Note that a client shows the session; return its lease, a new one when it has none that lives."""
        now = time.monotonic()
        self._leases = {lease: until for lease, until in self._leases.items() if until > now}
        lease = lease_id if lease_id in self._leases else ids.new_lease_id()
        while lease not in self._leases and len(self._leases) >= MOST_LEASES:
            self._leases.pop(next(iter(self._leases)))
        self._leases[lease] = now + LEASE_SECONDS
        self.last_presence_at = times.now()
        return lease

    def hide(self, lease_id: str) -> None:
        """Note that a client shows the session no longer."""
        self._leases.pop(lease_id, None)
        self.last_presence_at = times.now()


def holder_of(session: Session) -> str:
    """Return who is attached now, "" for nobody."""
    expires = session.attach_expires_at
    return session.attached_to if expires is not None and expires > times.now() else ""


def attach_seconds(given: int | None) -> int:
    """Return how long to attach: the default for nothing or less, at most a day."""
    return min(given if given is not None and given > 0 else DEFAULT_ATTACH_SECONDS, MOST_ATTACH_SECONDS)


def attached(record: SessionRecord, who: str, seconds: int) -> tuple[SessionRecord, SessionHold]:
    """Return the record of a session that `who` holds from now on, and has seen.

    Raises:
        Conflict: it cannot be attached to, or somebody else holds it.
    """
    session = record.session
    if not session.attachable or session.archived_at is not None:
        raise Conflict(
            f"session {session.id!r} cannot be attached to: it is "
            f"{'archived, unarchive it first' if session.archived_at else 'read-only history, start a new one'}",
            code="session_not_attachable",
        )
    holder = holder_of(session)
    if holder and holder != who:
        raise Conflict(
            f"session {session.id!r} is held by {holder!r} until {session.attach_expires_at}: wait, or attach under "
            "the same name",
            code="session_attach_held",
        )
    now = datetime.now(UTC)
    expires = times.format_time(now + timedelta(seconds=seconds))
    attachment = SessionHold(
        session_id=session.id, attached_to=who, attached_at=times.format_time(now), attach_expires_at=expires
    )
    return change_session(seen(record), attached_to=who, attach_expires_at=expires), attachment
