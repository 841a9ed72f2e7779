"""How well a session's agent is (contract §3.5 health, status; shapes: SessionHealth). Pure, from the record."""

from typing import Literal

import msgspec

from compozy.model.session import Session, SessionHealth
from compozy.model.session_reads import SessionStatus
from compozy.store.interface import SessionRecord

_State = Literal["idle", "prompting", "stopped", "detached"]
_Health = Literal["healthy", "degraded", "stale", "dead", "unknown"]


def health_of(record: SessionRecord, *, last_presence_at: str | None = None) -> SessionHealth:
    """Return the health of a session."""
    session = record.session
    is_prompting = bool(record.turn_id)
    health = _health(session, is_prompting=is_prompting)
    reason = _ineligible(session, health, is_prompting=is_prompting)
    failure = session.failure
    return SessionHealth(
        session_id=session.id,
        workspace_id=session.workspace_id,
        agent_name=session.agent_name,
        state=_state(session, is_prompting=is_prompting),
        health=health,
        active_prompt=is_prompting,
        attachable=session.attachable,
        eligible_for_wake=not reason,
        updated_at=session.updated_at,
        ineligibility_reason=reason,
        last_activity_at=record.last_activity_at or None,
        last_presence_at=last_presence_at,
        last_error=(failure.summary or failure.kind) if failure is not None else session.runtime.failure,
    )


def with_health(record: SessionRecord) -> Session:
    """Return the session with its health inside."""
    return msgspec.structs.replace(record.session, health=health_of(record))


def status_of(record: SessionRecord) -> SessionStatus:
    """Return the short status of a session."""
    health, session = health_of(record), record.session
    return SessionStatus(
        session_id=session.id,
        workspace_id=session.workspace_id,
        agent_name=session.agent_name,
        badge=session.badge,
        state=health.state,
        health=health.health,
        active_prompt=health.active_prompt,
        attachable=session.attachable,
        eligible_for_wake=health.eligible_for_wake,
        pending_interactions=session.pending_interactions,
        updated_at=session.updated_at,
        ineligibility_reason=health.ineligibility_reason,
    )


def _state(session: Session, *, is_prompting: bool) -> _State:
    if session.state == "stopped":
        return "stopped"
    if is_prompting:
        return "prompting"
    return "idle" if session.runtime.status in ("ready", "reconfiguring") else "detached"


def _health(session: Session, *, is_prompting: bool) -> _Health:
    failure = session.failure
    if session.state == "stopped" and not session.attachable:
        return "dead"
    if session.badge == "hung":
        return "stale"
    if failure is not None or session.runtime.failure or session.badge == "unhealthy":
        return "degraded"
    if is_prompting or session.runtime.status in ("ready", "reconfiguring"):
        return "healthy"
    # Nothing runs that could be well or not.
    return "unknown"


_REASON_OF_HEALTH = {
    "dead": "session_health_dead",
    "stale": "session_health_hung",
    "degraded": "session_unhealthy",
}


def _ineligible(session: Session, health: str, *, is_prompting: bool) -> str:
    if not session.attachable or session.archived_at is not None:
        return "session_not_attachable"
    if is_prompting:
        return "session_prompt_active"
    return _REASON_OF_HEALTH.get(health, "")
