"""Calls of a session's agent about itself; who calls is told by `COMPOZY_SESSION_ID` and `COMPOZY_AGENT`."""

from compozy.client.calls.caller import decode
from compozy.client.daemon_client import DaemonClient
from compozy.model.agent_kernel import AgentContext, AgentMe, NotifyAnswer


class KernelCalls:
    """The agent kernel, as one session."""

    def __init__(self, transport: DaemonClient, session_id: str, agent_name: str) -> None:
        self._transport = transport
        self._headers = {"X-Compozy-Session-ID": session_id, "X-Compozy-Agent": agent_name}

    def me(self) -> AgentMe:
        """Return who the session is, what it can do and how much of it."""
        answer = self._transport.request("GET", "/api/agent/me", headers=self._headers)
        return decode(answer.body, AgentMe, "me")

    def context(self) -> AgentContext:
        """Return the session's surroundings: capabilities, peers, messages that wait."""
        answer = self._transport.request("GET", "/api/agent/context", headers=self._headers)
        return decode(answer.body, AgentContext, "context")

    def notify(self, title: str, body: str = "") -> NotifyAnswer:
        """Tell the person something, in whatever shows all sessions."""
        given = {"title": title, "body": body}
        answer = self._transport.request("POST", "/api/agent/notify", body=given, headers=self._headers)
        return decode(answer.body, NotifyAnswer)
