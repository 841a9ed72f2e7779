"""Routes that show which MCP servers are given where, and which file won (issue 7 item 4; decisions D19)."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import json_response, query_values
from compozy.daemon.routing import Route
from compozy.model.errors import NotFound
from compozy.model.mcp import McpReport, McpServerView
from compozy.runtime.mcp_servers import McpAsk
from compozy.runtime.services import Services
from compozy.runtime.workspaces import require_root


async def list_servers(app: Services, request: Request) -> Response:
    """Answer every server of a workspace, of the home alone, or of one agent there."""
    return json_response({"mcp": await _report(app, request)})


async def get_server(app: Services, request: Request) -> Response:
    """Answer one server."""
    report = await _report(app, request)
    name = request.path_params["name"]
    found = next((server for server in report.servers if server.name == name), None)
    if found is None:
        known = ", ".join(repr(server.name) for server in report.servers) or "none"
        raise NotFound(
            f"no MCP server is called {name!r} here; defined are: {known}",
            code="mcp_server_not_found",
            category="mcp",
        )
    return json_response({"server": found})


async def _report(app: Services, request: Request) -> McpReport:
    query = query_values(request)
    reference, agent = query.get("workspace", ""), query.get("agent", "")
    workspace = await app.workspaces.get(reference) if reference else None
    if workspace is not None:
        require_root(workspace)
    config = await app.configs.of(workspace.root_dir if workspace else "")
    ask = McpAsk(workspace=workspace)
    if agent:
        found = await app.fleet.find(agent, workspace)
        ask = McpAsk(workspace=workspace, agent=found.loaded, origin=found.origin)
    return await asyncio.to_thread(app.mcp_views.report, config, ask)


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/mcp/servers",
        handler=list_servers,
        name="listMcpServers",
        summary="Which MCP servers are given here, and which file won",
        answer={"mcp": McpReport},
        query=("workspace", "agent"),
    ),
    Route(
        method="GET",
        path="/api/mcp/servers/{name}",
        handler=get_server,
        name="getMcpServer",
        summary="One MCP server with every place that defines it",
        answer={"server": McpServerView},
        query=("workspace", "agent"),
    ),
)
