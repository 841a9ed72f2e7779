"""What changes in the list of sessions, for those who watch all of them (contract §3.5, catalog-stream).

Only the newest changes are kept: who joins, or falls far behind, reads the list itself. Followers keep their own
position, so that one who stopped reading costs nothing.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping

from compozy.model import times
from compozy.model.record import Record
from compozy.model.session import Session
from compozy.runtime.sessions.badge import attention_class

# A follower this far behind is better served by reading the list again.
KEPT = 1000


class CatalogChange(Record, frozen=True, kw_only=True):
    """`session_catalog_changed`: a session appeared, changed or went."""

    kind: str
    workspace_id: str
    session_id: str


class AttentionChange(Record, frozen=True, kw_only=True, rename={"before": "from", "after": "to", "kind": "class"}):
    """`session_attention_changed`: a session wants a person, or no longer."""

    session_id: str
    workspace_id: str
    before: str
    after: str
    kind: str
    at: str


class OperatorNotification(Record, frozen=True, kw_only=True):
    """`operator_notification`: a session's agent tells its person something."""

    session_id: str
    workspace_id: str
    agent_name: str
    title: str
    at: str
    body: str = ""


Change = CatalogChange | AttentionChange | OperatorNotification
EVENT_NAMES: Mapping[type[Record], bytes] = {
    CatalogChange: b"session_catalog_changed",
    AttentionChange: b"session_attention_changed",
    OperatorNotification: b"operator_notification",
}


class CatalogFeed:
    """The newest changes, numbered."""

    def __init__(self) -> None:
        self._changes: deque[Change] = deque(maxlen=KEPT)
        self._count = 0
        self._arrived = asyncio.Event()

    def upserted(self, before: Session | None, after: Session) -> None:
        """Take note that a session was made or changed."""
        self._add(CatalogChange(kind="upserted", workspace_id=after.workspace_id, session_id=after.id))
        old = attention_class(before.badge) if before is not None else "none"
        new = attention_class(after.badge)
        if old != new:
            self._add(
                AttentionChange(
                    session_id=after.id,
                    workspace_id=after.workspace_id,
                    before=before.badge if before is not None else "",
                    after=after.badge,
                    kind=new,
                    at=times.now(),
                )
            )

    def deleted(self, session: Session) -> None:
        """Take note that a session is gone."""
        self._add(CatalogChange(kind="deleted", workspace_id=session.workspace_id, session_id=session.id))

    def notified(self, session: Session, title: str, body: str) -> None:
        """Take note of what a session tells its person."""
        self._add(
            OperatorNotification(
                session_id=session.id,
                workspace_id=session.workspace_id,
                agent_name=session.agent_name,
                title=title,
                body=body,
                at=times.now(),
            )
        )

    def _add(self, change: Change) -> None:
        self._changes.append(change)
        self._count += 1
        arrived, self._arrived = self._arrived, asyncio.Event()
        arrived.set()

    @property
    def position(self) -> int:
        """The number of the newest change."""
        return self._count

    async def follow(self, position: int) -> AsyncIterator[tuple[Change, ...]]:
        """Yield the changes after a position, in batches; end when some of them are no longer kept.

        Who is that far behind reads the list again and follows from there.
        """
        while True:
            arrived = self._arrived
            behind = self._count - position
            if behind > len(self._changes):
                return
            if behind:
                position = self._count
                yield tuple(self._changes)[-behind:]
            else:
                await arrived.wait()
