"""Routes of MCP servers at work: what runs, and logins at remote ones, for operators alone (contract §6.2).

The browser comes back to `/api/mcp/oauth/callback`, over TCP alone; what it brings is good for one waiting login.
"""

import html

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from compozy.daemon.messages import json_response, query_values, read_body
from compozy.daemon.routing import Route
from compozy.model.errors import CompozyError
from compozy.model.mcp_runtime import McpAuthReport, McpAuthStatus, McpLogin, McpStatus
from compozy.model.record import Record
from compozy.runtime.mcp.logins import CALLBACK, CameBack
from compozy.runtime.services import Services

_MOST_TEXT = 4096
_PAGE = "<!doctype html><meta charset=utf-8><title>compozy</title><p>{text}</p>"


class McpLoginBody(Record, frozen=True, kw_only=True):
    """Which server, as `workspace` and `agent` are given it."""

    server: str
    workspace: str = ""
    agent: str = ""


async def get_status(app: Services, request: Request) -> Response:
    """Answer every server that runs or was used."""
    return json_response({"mcp": app.mcp_servers.status()})


async def list_auth(app: Services, request: Request) -> Response:
    """Answer the remote servers of a place with their logins."""
    query = query_values(request)
    return json_response({"auth": await app.mcp_logins.report(query.get("workspace", ""), query.get("agent", ""))})


async def begin_login(app: Services, request: Request) -> Response:
    """Begin a login; a person must open the address."""
    body = await read_body(request, McpLoginBody)
    login = await app.mcp_logins.begin(body.server, body.workspace, body.agent)
    return json_response({"login": login}, status=202)


async def get_login(app: Services, request: Request) -> Response:
    """Answer what became of a login."""
    return json_response({"login": app.mcp_logins.get(request.path_params["id"])})


async def log_out(app: Services, request: Request) -> Response:
    """Forget a login."""
    body = await read_body(request, McpLoginBody)
    return json_response({"server": await app.mcp_logins.forget(body.server, body.workspace, body.agent)})


async def receive(app: Services, request: Request) -> Response:
    """Take what the browser brings back, and tell the person that they may go."""
    query = {name: value[:_MOST_TEXT] for name, value in request.query_params.items()}
    error = " ".join(part for part in (query.get("error", ""), query.get("error_description", "")) if part)
    came = CameBack(
        code=query.get("code", ""), state=query.get("state", ""), issuer=query.get("iss", ""), error=error
    )
    try:
        name = app.mcp_logins.receive(came)
    except CompozyError as problem:
        return _page(problem.message, problem.status)
    said = f"The login at {name} was refused." if error else f"The login at {name} goes on in compozy."
    return _page(f"{said} You can close this page.", 200)


def _page(text: str, status: int) -> Response:
    headers = {"content-security-policy": "default-src 'none'", "referrer-policy": "no-referrer"}
    return HTMLResponse(_PAGE.format(text=html.escape(text)), status_code=status, headers=headers)


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/mcp/status",
        handler=get_status,
        name="getMcpStatus",
        summary="Which MCP servers run, and how they are",
        answer={"mcp": McpStatus},
    ),
    Route(
        method="GET",
        path="/api/mcp/auth",
        handler=list_auth,
        name="listMcpAuth",
        summary="Logins at remote MCP servers",
        answer={"auth": McpAuthReport},
        query=("workspace", "agent"),
    ),
    Route(
        method="POST",
        path="/api/mcp/auth/login",
        handler=begin_login,
        name="beginMcpLogin",
        summary="Begin a login at a remote MCP server",
        kind="privileged",
        body=McpLoginBody,
        answer={"login": McpLogin},
        status=202,
    ),
    Route(
        method="GET",
        path="/api/mcp/auth/logins/{id}",
        handler=get_login,
        name="getMcpLogin",
        summary="What became of a login",
        answer={"login": McpLogin},
    ),
    Route(
        method="POST",
        path="/api/mcp/auth/logout",
        handler=log_out,
        name="endMcpLogin",
        summary="Forget a login at a remote MCP server",
        kind="privileged",
        body=McpLoginBody,
        answer={"server": McpAuthStatus},
    ),
    Route(
        method="GET",
        path=CALLBACK,
        handler=receive,
        name="receiveMcpLogin",
        summary="Where the browser comes back to after a login",
        transport="tcp",
        media="text/html",
    ),
)
