"""Which sessions a caller may look at and which it may change (decisions D28).

Looking stays inside the workspace. What ends, changes or instructs a session works on the caller's own one and those
that descend from it. Operators are bound by neither.
"""

from compozy.model.errors import NotFound
from compozy.model.session import Session
from compozy.runtime.sessions import Sessions
from compozy.runtime.tools.native.kit import Actor, refuse

# A chain of parents longer than this is none of ours.
_MOST_PARENTS = 16


class SessionReach:
    """Finds sessions for a caller."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def seen(self, actor: Actor, session_id: str) -> Session:
        """Return a session the caller may look at: its own by default, any of its workspace.

        Raises:
            NotFound: there is none of that id there.
        """
        wanted = session_id.strip() or actor.scope.session_id
        if not wanted:
            raise NotFound("session_id is required: name a session", code="session_not_found")
        place = "" if actor.is_operator or actor.workspace is None else actor.workspace.id
        return await self._sessions.get(wanted, place)

    async def own(self, actor: Actor, session_id: str) -> Session:
        """Return a session the caller may change: its own or one that descends from it.

        Raises:
            NotFound: there is none of that id there.
            ToolFailed: it is somebody else's.
        """
        session = await self.seen(actor, session_id)
        if actor.is_operator or session.id == actor.scope.session_id:
            return session
        if not await self._descends(session, actor.scope.session_id):
            raise refuse(
                f"session {session.id!r} was not started by this session: look at it, and let a person change it"
            )
        return session

    async def _descends(self, session: Session, ancestor: str) -> bool:
        for _ in range(_MOST_PARENTS):
            parent = session.lineage.parent_session_id if session.lineage is not None else ""
            if not parent:
                return False
            if parent == ancestor:
                return True
            try:
                session = await self._sessions.get(parent)
            except NotFound:
                return False
        return False
