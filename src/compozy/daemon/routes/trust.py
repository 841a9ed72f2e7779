"""Routes about trust: what a workspace would run, granting and taking back (decisions D15, D28).

Granting is for people on this machine: the routes are privileged, and a call that an agent makes is refused.
"""

import asyncio

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, query_values, read_body
from compozy.daemon.routing import Route
from compozy.model.errors import Forbidden, InvalidRequest
from compozy.model.trust import RevokedTrust, TrustReport
from compozy.model.workspace import Workspace
from compozy.runtime.services import Services

_AGENT_HEADERS = ("x-compozy-session-id", "x-compozy-agent")


class TrustGrant(Body, frozen=True, kw_only=True):
    workspace: str = ""
    agent: str = ""
    digest: str = ""


async def show_trust(app: Services, request: Request) -> Response:
    """Answer what a workspace, or one agent in it, would run, and whether that is trusted."""
    query = query_values(request)
    workspace = await _workspace(app, query.get("workspace", ""))
    return json_response(_masked(app, await _report(app, workspace, query.get("agent", ""))))


async def grant_trust(app: Services, request: Request) -> Response:
    """Trust everything of a report; `digest` must still be that of what is there."""
    _refuse_agents(request)
    body = await read_body(request, TrustGrant)
    if not body.digest.strip():
        raise InvalidRequest("digest is required: it says what was looked at, GET /api/trust shows it")
    workspace = await _workspace(app, body.workspace)
    report = await _report(app, workspace, body.agent)
    await asyncio.to_thread(app.trust.grant, report, body.digest.strip())
    return json_response(_masked(app, await _report(app, workspace, body.agent)))


async def revoke_trust(app: Services, request: Request) -> Response:
    """Take back what was trusted of a workspace, or of one agent in it."""
    _refuse_agents(request)
    query = query_values(request)
    workspace, agent = await _workspace(app, query.get("workspace", "")), query.get("agent", "")
    revoked = await asyncio.to_thread(app.trust.revoke, await _report(app, workspace, agent))
    return json_response(RevokedTrust(workspace_id=workspace.id, agent=agent, revoked=revoked))


async def _workspace(app: Services, reference: str) -> Workspace:
    if not reference.strip():
        raise InvalidRequest("workspace is required: give an id, a name or an absolute path")
    return await app.workspaces.get(reference)


async def _report(app: Services, workspace: Workspace, agent: str) -> TrustReport:
    if agent:
        found = [await app.fleet.find(agent, workspace)]
    else:
        found = list(await app.fleet.in_force(workspace))
    config = await app.configs.of(workspace.root_dir)
    chosen = [(row.loaded, row.origin) for row in found]
    return await asyncio.to_thread(app.trust.report, chosen, workspace, config, agent=agent)


def _masked(app: Services, report: TrustReport) -> dict[str, TrustReport]:
    """Return the report with secrets that somebody wrote into a command line masked."""
    items = tuple(replace(item, runs=app.redactor.text(item.runs)) for item in report.items)
    return {"trust": replace(report, items=items)}


def _refuse_agents(request: Request) -> None:
    if any(name in request.headers for name in _AGENT_HEADERS):
        raise Forbidden("trust is for a person, not for an agent", code="operator_only")


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/trust",
        handler=show_trust,
        name="showTrust",
        summary="What a workspace would run, and whether it is trusted",
        answer={"trust": TrustReport},
        query=("workspace", "agent"),
    ),
    Route(
        method="POST",
        path="/api/trust",
        handler=grant_trust,
        name="grantTrust",
        summary="Trust what a workspace, or one agent in it, would run",
        body=TrustGrant,
        answer={"trust": TrustReport},
        kind="privileged",
    ),
    Route(
        method="DELETE",
        path="/api/trust",
        handler=revoke_trust,
        name="revokeTrust",
        summary="Take trust back",
        answer=RevokedTrust,
        kind="privileged",
        query=("workspace", "agent"),
    ),
)
