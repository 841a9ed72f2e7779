"""Calls about MCP servers: which an agent is given, and which file won (issue 7; decisions D19)."""

from compozy.client.calls.caller import Calls, segment
from compozy.model.mcp import McpReport, McpServerView

_ALL = "/api/mcp/servers"


class McpCalls(Calls):
    """`workspace` is an id, a name or a path; `agent` narrows to what one agent is given."""

    def servers(self, workspace: str = "", agent: str = "") -> McpReport:
        """Return the servers that are given, each with every file that names it."""
        return self._get(_ALL, McpReport, "mcp", {"workspace": workspace, "agent": agent})

    def server(self, name: str, workspace: str = "", agent: str = "") -> McpServerView:
        """Return one server."""
        query = {"workspace": workspace, "agent": agent}
        return self._get(f"{_ALL}/{segment(name)}", McpServerView, "server", query)
