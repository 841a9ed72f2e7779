"""Putting the configured MCP servers of one daemon together: what starts them, their tools, logins at remote ones."""

from compozy.runtime.mcp.bounds import McpBounds
from compozy.runtime.mcp.journal import ProcessJournal
from compozy.runtime.mcp.logins import McpLogins
from compozy.runtime.mcp.oauth.kept import KeptLogins
from compozy.runtime.mcp.server import Backing
from compozy.runtime.mcp.source import McpSource
from compozy.runtime.mcp.wanted import Wishes
from compozy.runtime.sessions import Deps
from compozy.runtime.status import DaemonStatus
from compozy.runtime.tools.opening import Behind


async def open_servers(behind: Behind, deps: Deps, status: DaemonStatus) -> tuple[McpSource, McpLogins]:
    """Return the source and the logins; what an earlier daemon left running is ended first."""
    kept = KeptLogins(behind.home, behind.redactor)
    wishes = Wishes(deps, behind.workspaces, behind.fleet, behind.sessions)
    backing = Backing(
        secrets=deps.secrets,
        redactor=behind.redactor,
        journal=ProcessJournal(behind.home.root),
        logins=kept,
        bounds=McpBounds(),
    )
    source = McpSource(wishes, backing)
    await source.start()
    return source, McpLogins(wishes, behind.workspaces, kept, deps.secrets, status, source.look_again)
