"""Calls about tools: what there is and why, calls, approvals, remembered answers (contract §3.7, §6)."""

from compozy.client.calls.caller import Calls, decode, given, query_of, segment
from compozy.client.calls.session_reads import path_of
from compozy.client.errors import ApiError
from compozy.model.session import Session
from compozy.model.tool import (
    ApprovalGrant,
    ArtifactPage,
    ToolApproval,
    ToolErrorEnvelope,
    ToolInvocation,
    Toolset,
    ToolView,
)

_TOOLS = "/api/tools"
_TOOLSETS = "/api/toolsets"
_GRANTS = "/api/tool-approval-grants"
_APPROVAL_REQUIRED = 202
# A call may wait for a person and for what it does.
_CALL_SECONDS = 900.0


class ToolCalls(Calls):
    """`workspace` is an id, a name or a path; `session_id` or `agent_name` say through whose eyes."""

    def list(self, *, workspace: str = "", session_id: str = "", agent_name: str = "") -> tuple[ToolView, ...]:
        """Return every tool with what the policy says about it."""
        query = {"workspace": workspace, "session_id": session_id, "agent_name": agent_name}
        return self._get(_TOOLS, tuple[ToolView, ...], "tools", query)

    def search(
        self, query: str, *, limit: int = 20, workspace_id: str = "", session_id: str = "", agent_name: str = ""
    ) -> tuple[ToolView, ...]:
        """Return the tools that fit a query best."""
        body = {
            "query": query,
            "limit": limit,
            "workspace_id": workspace_id,
            "session_id": session_id,
            "agent_name": agent_name,
        }
        return self._send("POST", f"{_TOOLS}/search", tuple[ToolView, ...], "tools", body=body)

    def list_of_session(self, session: Session) -> tuple[ToolView, ...]:
        """Return every tool as the agent of a session sees it."""
        return self._get(f"{path_of(session)}/tools", tuple[ToolView, ...], "tools")

    def search_of_session(self, session: Session, query: str, *, limit: int = 20) -> tuple[ToolView, ...]:
        """Return the tools that fit a query best, as the agent of a session sees them."""
        body = {"query": query, "limit": limit}
        return self._send("POST", f"{path_of(session)}/tools/search", tuple[ToolView, ...], "tools", body=body)

    def get(self, tool_id: str, *, workspace: str = "", session_id: str = "", agent_name: str = "") -> ToolView:
        """Return one tool with the derivation of its decision."""
        query = {"workspace": workspace, "session_id": session_id, "agent_name": agent_name}
        return self._get(f"{_TOOLS}/{segment(tool_id)}", ToolView, "tool", query)

    def invoke(
        self,
        tool_id: str,
        arguments: dict[str, object] | None = None,
        *,
        workspace_id: str = "",
        session_id: str = "",
        agent_name: str = "",
        approval_token: str = "",
    ) -> ToolInvocation:
        """Call a tool.

        Raises:
            ApiError: with status 202 when a person has to allow it first, or what went wrong.
        """
        body = {
            "input": arguments or {},
            "workspace_id": workspace_id,
            "session_id": session_id,
            "agent_name": agent_name,
            "approval_token": approval_token,
        }
        path = f"{_TOOLS}/{segment(tool_id)}/invoke"
        answer = self._transport.request("POST", path, body=body, timeout=_CALL_SECONDS)
        if answer.status == _APPROVAL_REQUIRED:
            decode(answer.body, ToolErrorEnvelope)
            raise ApiError(answer.status, decode(answer.body, dict[str, object]))
        return decode(answer.body, ToolInvocation)

    def approve(
        self,
        tool_id: str,
        arguments: dict[str, object] | None = None,
        *,
        input_digest: str | None = None,
        session_id: str = "",
        workspace_id: str = "",
        agent_name: str = "",
    ) -> ToolApproval:
        """Return a single-use token for one call."""
        body = given(input=arguments, input_digest=input_digest)
        body |= {"session_id": session_id, "workspace_id": workspace_id, "agent_name": agent_name}
        return self._send("POST", f"{_TOOLS}/{segment(tool_id)}/approvals", ToolApproval, "approval", body=body)

    def toolsets(self, *, workspace: str = "", agent_name: str = "") -> tuple[Toolset, ...]:
        """Return every group."""
        query = {"workspace": workspace, "agent_name": agent_name}
        return self._get(_TOOLSETS, tuple[Toolset, ...], "toolsets", query)

    def toolset(self, name: str, *, workspace: str = "", agent_name: str = "") -> Toolset:
        """Return one group."""
        query = {"workspace": workspace, "agent_name": agent_name}
        return self._get(f"{_TOOLSETS}/{segment(name)}", Toolset, "toolset", query)

    def artifact(
        self, workspace_id: str, artifact_id: str, *, offset: int = 0, limit: int | None = None
    ) -> ArtifactPage:
        """Return a page of a kept result."""
        path = f"/api/workspaces/{segment(workspace_id)}/tool-artifacts/{segment(artifact_id)}"
        return self._get(path, ArtifactPage, "", {"offset": offset, "limit": limit})

    def grants(self, workspace_id: str) -> tuple[ApprovalGrant, ...]:
        """Return the remembered answers of a workspace."""
        return self._get(_GRANTS, tuple[ApprovalGrant, ...], "grants", {"workspace_id": workspace_id})

    def set_grant(self, workspace_id: str, tool_id: str, decision: str, agent_name: str = "") -> ApprovalGrant:
        """Remember an answer for an agent, or for every agent of the workspace."""
        body = {
            "tool_id": tool_id,
            "decision": decision,
            "scope": "agent" if agent_name else "tool",
            "agent_name": agent_name,
        }
        return self._send("PUT", _GRANTS, ApprovalGrant, "grant", body=body, query={"workspace_id": workspace_id})

    def revoke_grant(self, workspace_id: str, grant_id: str) -> None:
        """Forget a remembered answer."""
        query = query_of({"workspace_id": workspace_id})
        self._transport.request("DELETE", f"{_GRANTS}/{segment(grant_id)}", query=query)
