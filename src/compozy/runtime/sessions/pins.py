"""Whether the definition a session began with is still the one in force (contract §5.2, issue 6 item 1; P34).

A session goes on with what it began with; this only says that a new one would get something else. Asked for one
session at a time: a list would have to look at every agent's files.
"""

import msgspec

from compozy.model.errors import CompozyError
from compozy.model.session import DefinitionState, Session
from compozy.runtime.fleet import Fleet
from compozy.runtime.workspaces import Workspaces


async def with_definition_state(session: Session, fleet: Fleet, workspaces: Workspaces) -> Session:
    """Return the session with what became of its definition."""
    if not session.definition_digest:
        return session
    return msgspec.structs.replace(session, definition_state=await _state(session, fleet, workspaces))


async def _state(session: Session, fleet: Fleet, workspaces: Workspaces) -> DefinitionState | None:
    try:
        workspace = await workspaces.get(session.workspace_id)
        found = (await fleet.find(session.agent_name, workspace)).loaded
    except CompozyError as error:
        states: dict[str, DefinitionState] = {"agent_not_found": "deleted", "agent_invalid": "invalid"}
        # Any other refusal is about the workspace or its settings, and not what was asked.
        return states.get(error.code)
    if found.definition_digest != session.definition_digest:
        return "changed"
    return "unchanged" if found.capabilities_digest == session.capabilities_digest else "capabilities_changed"
