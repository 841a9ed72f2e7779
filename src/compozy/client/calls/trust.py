"""Calls about trust: what a workspace would run, and the decision about it (decisions D15)."""

from compozy.client.calls.caller import Calls
from compozy.model.trust import RevokedTrust, TrustReport

_PATH = "/api/trust"


class TrustCalls(Calls):
    """`workspace` is an id, a name or an absolute path; `agent` narrows to what one agent uses."""

    def show(self, workspace: str, agent: str = "") -> TrustReport:
        """Return what the workspace would run, and whether it is trusted."""
        return self._get(_PATH, TrustReport, "trust", {"workspace": workspace, "agent": agent})

    def grant(self, workspace: str, digest: str, agent: str = "") -> TrustReport:
        """Trust everything of a report, if it still has the digest you saw."""
        body = {"workspace": workspace, "agent": agent, "digest": digest}
        return self._send("POST", _PATH, TrustReport, "trust", body=body)

    def revoke(self, workspace: str, agent: str = "") -> RevokedTrust:
        """Take trust back."""
        return self._send("DELETE", _PATH, RevokedTrust, query={"workspace": workspace, "agent": agent})
