"""Calls that look at a session, hold it, wait for it, and answer its questions (contract §3.5)."""

from compozy.client.calls.caller import Calls, given, segment
from compozy.model.session import Session, SessionHealth, SessionUsage
from compozy.model.session_reads import (
    Attached,
    Clarification,
    ClarifyAnswer,
    Inspection,
    Recap,
    Repair,
    SessionCommands,
    SessionStatus,
    WaitAnswer,
)

# Beyond the time a wait may take, for the way there and back.
_MARGIN_SECONDS = 30.0


class SessionReads(Calls):
    """What is done around the turns of one session."""

    def status(self, session: Session) -> SessionStatus:
        """Return how the session is, shortly."""
        return self._get(f"{path_of(session)}/status", SessionStatus)

    def health(self, session: Session) -> SessionHealth:
        """Return how well the session's agent is."""
        return self._get(f"{path_of(session)}/health", SessionHealth, "health")

    def usage(self, session: Session) -> SessionUsage:
        """Return tokens and cost so far."""
        return self._get(f"{path_of(session)}/usage", SessionUsage, "usage")

    def commands(self, session: Session) -> SessionCommands:
        """Return the slash commands the session offers."""
        return self._get(f"{path_of(session)}/commands", SessionCommands)

    def recap(self, session: Session, *, limit: int | None = None) -> Recap:
        """Return the newest messages and remarks."""
        return self._get(f"{path_of(session)}/recap", Recap, "recap", {"limit": limit})

    def inspect(self, session: Session) -> Inspection:
        """Return what is worth knowing when something is odd."""
        return self._get(f"{path_of(session)}/inspect", Inspection)

    def wait(
        self, session: Session, *, seconds: float, until: tuple[str, ...] = (), resume_id: str = ""
    ) -> WaitAnswer:
        """Return when the session shows one of the badges, or the time is over; `resume_id` goes on with a wait."""
        body = given(timeout_ms=max(1, round(seconds * 1000)), until=list(until) or None, resume_id=resume_id or None)
        answer = self._transport.request(
            "POST", f"{path_of(session)}/wait", body=body, timeout=seconds + _MARGIN_SECONDS
        )
        return self._read(answer.body, WaitAnswer)

    def show(self, session: Session, *, lease_id: str = "") -> str:
        """Say that the session is shown, which makes its last turn seen; return the lease to renew."""
        body = given(visible=True, lease_id=lease_id or None)
        return self._send("POST", f"{path_of(session)}/presence", str, "lease_id", body=body)

    def hide(self, session: Session, lease_id: str) -> None:
        """Say that the session is shown no longer."""
        self._do("POST", f"{path_of(session)}/presence", body={"visible": False, "lease_id": lease_id})

    def attach(self, session: Session, *, attached_to: str = "", ttl_seconds: int | None = None) -> Attached:
        """Hold the session for one client, for a while."""
        body = given(attached_to=attached_to or None, ttl_seconds=ttl_seconds)
        return self._send("POST", f"{path_of(session)}/attach", Attached, body=body)

    def clarifications(self, session: Session) -> tuple[Clarification, ...]:
        """Return the questions that wait for a free or chosen answer."""
        return self._get(f"{path_of(session)}/clarifications", tuple[Clarification, ...], "clarifications")

    def answer_clarification(
        self,
        session: Session,
        request_id: str,
        *,
        choice_index: int | None = None,
        text: str = "",
        decline: bool = False,
    ) -> ClarifyAnswer:
        """Answer such a question, or let the agent go on without an answer."""
        path = f"{path_of(session)}/clarifications/{segment(request_id)}/answer"
        body = given(choice_index=choice_index, text=text or None, decline=decline or None)
        return self._send("POST", path, ClarifyAnswer, body=body)

    def clear_runtime(self, session: Session, *, expected_revision: int) -> Session:
        """Go back to the runtime of the agent's definition."""
        query = {"expected_revision": str(expected_revision)}
        return self._send("DELETE", f"{path_of(session)}/runtime", Session, "session", query=query)

    def repair(self, session: Session, *, dry_run: bool = False, force: bool = False) -> Repair:
        """Mend the session's history, append-only."""
        query = {"dry_run": dry_run, "force": force}
        return self._send("POST", f"{path_of(session)}/repair", Repair, "repair", query=query)


def path_of(session: Session) -> str:
    """Return the path below which the operations of a session lie."""
    return f"/api/workspaces/{segment(session.workspace_id)}/sessions/{segment(session.id)}"
