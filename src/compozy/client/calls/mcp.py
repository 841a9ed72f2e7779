"""Calls about MCP servers: which an agent is given, which file won, what runs, logins (issue 7; decisions D19)."""

from compozy.client.calls.caller import Calls, segment
from compozy.model.mcp import McpReport, McpServerView
from compozy.model.mcp_runtime import McpAuthReport, McpAuthStatus, McpLogin, McpStatus

_ALL = "/api/mcp/servers"
_AUTH = "/api/mcp/auth"


class McpCalls(Calls):
    """`workspace` is an id, a name or a path; `agent` narrows to what one agent is given."""

    def servers(self, workspace: str = "", agent: str = "") -> McpReport:
        """Return the servers that are given, each with every file that names it."""
        return self._get(_ALL, McpReport, "mcp", {"workspace": workspace, "agent": agent})

    def server(self, name: str, workspace: str = "", agent: str = "") -> McpServerView:
        """Return one server."""
        query = {"workspace": workspace, "agent": agent}
        return self._get(f"{_ALL}/{segment(name)}", McpServerView, "server", query)

    def status(self) -> McpStatus:
        """Return the servers that run or were used."""
        return self._get("/api/mcp/status", McpStatus, "mcp")

    def auth(self, workspace: str = "", agent: str = "") -> McpAuthReport:
        """Return the remote servers of a place with their logins."""
        return self._get(_AUTH, McpAuthReport, "auth", {"workspace": workspace, "agent": agent})

    def login(self, server: str, workspace: str = "", agent: str = "") -> McpLogin:
        """Begin a login at a remote server."""
        body = {"server": server, "workspace": workspace, "agent": agent}
        return self._send("POST", f"{_AUTH}/login", McpLogin, "login", body=body)

    def login_state(self, login_id: str) -> McpLogin:
        """Return what became of a login."""
        return self._get(f"{_AUTH}/logins/{segment(login_id)}", McpLogin, "login")

    def logout(self, server: str, workspace: str = "", agent: str = "") -> McpAuthStatus:
        """Forget a login."""
        body = {"server": server, "workspace": workspace, "agent": agent}
        return self._send("POST", f"{_AUTH}/logout", McpAuthStatus, "server", body=body)
