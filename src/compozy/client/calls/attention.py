"""Calls about what waits for a person, over all sessions, and about permissions before anybody is asked."""

from collections.abc import Sequence

from compozy.client.calls.caller import Calls, given, segment
from compozy.client.calls.streams import CatalogFollower
from compozy.model.attention import AttentionAnswer, AttentionList, AttentionSummary
from compozy.model.permission import PermissionExplanation


class AttentionCalls(Calls):
    """Everything that waits for a person."""

    def list(self, workspace: str = "", *, root: str = "") -> AttentionList:
        """Return what waits, oldest first: everywhere, in one workspace, or below one session."""
        return self._get("/api/attention", AttentionList, query={"workspace": workspace, "root": root})

    def answer(
        self,
        attention_id: str,
        *,
        decision: str = "",
        choice_index: int | None = None,
        text: str = "",
        decline: bool = False,
    ) -> AttentionAnswer:
        """Answer one thing that waits: a permission with a decision, a question with a choice, text or a no."""
        body = given(decision=decision or None, choice_index=choice_index, text=text or None, decline=decline or None)
        return self._send("POST", f"/api/attention/{segment(attention_id)}/answer", AttentionAnswer, body=body)

    def summary(self) -> AttentionSummary:
        """Return how many sessions want a person, and how many have something finished to show."""
        return self._get("/api/sessions/attention-summary", AttentionSummary)

    def follow(self, *, tick: float | None = None) -> CatalogFollower:
        """Open the stream that says which sessions changed; it yields None on each idle tick."""
        return CatalogFollower(self._transport.stream("GET", "/api/sessions/catalog-stream", tick=tick))

    def explain(
        self,
        *,
        agent: str = "",
        session_id: str = "",
        workspace: str = "",
        tool: str = "",
        kind: str = "",
        paths: Sequence[str] = (),
        permissions: str = "",
    ) -> PermissionExplanation:
        """Say what would happen if an agent, or a session as it is, did something."""
        body = {
            "agent": agent,
            "session_id": session_id,
            "workspace": workspace,
            "tool": tool,
            "kind": kind,
            "paths": [*paths],
            "permissions": permissions,
        }
        chosen = {key: value for key, value in body.items() if value}
        return self._send("POST", "/api/permissions/explain", PermissionExplanation, "explanation", body=chosen)
