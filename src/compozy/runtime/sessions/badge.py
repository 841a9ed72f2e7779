"""The one word that says how a session is doing (contract §3.5, Badge), and what it asks of a person.

Pure. Knows the contract's precedence and nothing of how the facts came about.
"""

from compozy.model.session import Badge, Session

# Errors that keep an agent from starting until a person signs in, or trusts what would run.
LOGIN_CODES = frozenset({"provider_not_authenticated", "provider_credential_unresolved"})
TRUST_CODE = "trust_required"

_ATTENTION = {
    "waiting-for-auth": "needs-you",
    "waiting-for-input": "needs-you",
    "failed": "needs-you",
    "done": "finished",
}


def attention_class(badge: str) -> str:
    """Return `needs-you`, `finished` or `none` (contract §3.5, Badge)."""
    return _ATTENTION.get(badge, "none")


def badge_of(session: Session, *, prompting: bool, unseen: bool = False, stalled: bool = False) -> Badge:
    """Return the badge by the contract's precedence.

    Args:
        unseen: nobody looked since the last turn ended.
        stalled: the agent of the running turn shows no sign of life.
    """
    failure = session.failure
    if session.state == "stopped" and failure is not None and failure.kind != "cancellation":
        return "failed"
    if any(i.kind == "permission" and i.status == "pending" for i in session.pending_interactions):
        return "waiting-for-auth"
    if failure is not None and failure.kind in ("permission_failure", "provider_auth_failure"):
        return "waiting-for-auth"
    if not prompting and session.runtime.failure_code in (*LOGIN_CODES, TRUST_CODE):
        return "waiting-for-auth"
    if any(i.kind == "clarify" and i.status == "pending" for i in session.pending_interactions):
        return "waiting-for-input"
    if session.state == "stopped":
        return "stopped"
    if stalled:
        return "hung"
    if session.runtime.status == "recovering":
        return "unhealthy"
    if prompting or session.state in ("starting", "stopping"):
        return "running"
    return "done" if unseen else "idle"
