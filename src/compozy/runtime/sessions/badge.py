"""The one word that says how a session is doing (contract §3.5, Badge), and what may be done with it."""

from compozy.model.session import Badge, Session


def badge_of(session: Session, *, prompting: bool) -> Badge:
    """Return the badge by the contract's precedence, as far as this product has the facts."""
    failure = session.failure
    if session.state == "stopped" and failure is not None and failure.kind != "cancellation":
        return "failed"
    if any(i.kind == "permission" and i.status == "pending" for i in session.pending_interactions):
        return "waiting-for-auth"
    if failure is not None and failure.kind in ("permission_failure", "provider_auth_failure"):
        return "waiting-for-auth"
    if any(i.kind == "clarify" and i.status == "pending" for i in session.pending_interactions):
        return "waiting-for-input"
    if session.state == "stopped":
        return "stopped"
    if prompting or session.state in ("starting", "stopping"):
        return "running"
    return "idle"
