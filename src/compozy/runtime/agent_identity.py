"""Which session an agent's call comes from (contract §1.3: identity headers of the agent kernel).

The headers are what the daemon put into the agent's environment. They say who asks, not what it may: local transports
have no tokens, and what a session may do is decided where it is done.
"""

from compozy.model.errors import Forbidden, IdentityRequired, NotFound
from compozy.runtime.sessions.service import Sessions
from compozy.store.interface import SessionRecord

_ACTION = "run this inside a session of compozy, where COMPOZY_SESSION_ID and COMPOZY_AGENT are set"


async def caller_of(sessions: Sessions, session_id: str, agent_name: str) -> SessionRecord:
    """Return the session that calls.

    Raises:
        IdentityRequired: session or agent is not named, or there is no such session.
        Forbidden: the session is another agent's, or no longer runs.
    """
    if not session_id.strip() or not agent_name.strip():
        raise IdentityRequired(f"an agent's call names its session and its agent: {_ACTION}")
    try:
        record = await sessions.record(session_id.strip())
    except NotFound as error:
        raise IdentityRequired(
            f"session {session_id!r} does not exist any more: {_ACTION}", code="identity_stale"
        ) from error
    session = record.session
    if session.agent_name != agent_name.strip():
        raise Forbidden(
            f"session {session.id!r} is not one of agent {agent_name!r}: {_ACTION}", code="identity_mismatch"
        )
    if session.state == "stopped":
        raise Forbidden(f"session {session.id!r} is stopped: prompt it first", code="identity_stale")
    return record
