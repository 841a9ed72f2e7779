"""Routes that read agents, and the choice of one for a task (contract §3.3; the rest comes with issue 4)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, query_values, read_body
from compozy.daemon.routing import Route
from compozy.model.agent import Agent
from compozy.model.errors import InvalidRequest
from compozy.model.fleet import AgentList, Definitions
from compozy.model.resolution import AgentResolution
from compozy.model.selection import Selection
from compozy.model.workspace import Workspace
from compozy.runtime.selection import Wishes
from compozy.runtime.services import Services
from compozy.runtime.workspaces import require_root


class SelectAgent(Body, frozen=True, kw_only=True):
    task: str
    workspace: str = ""
    workspace_path: str = ""
    require: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()


async def _workspace(app: Services, request: Request) -> Workspace | None:
    reference = query_values(request).get("workspace", "")
    if not reference:
        return None
    workspace = await app.workspaces.get(reference)
    require_root(workspace)
    return workspace


async def list_agents(app: Services, request: Request) -> Response:
    """Answer every agent visible in a workspace, or the global ones."""
    found = await app.fleet.visible(await _workspace(app, request))
    return json_response(AgentList(agents=found.agents, sources=found.sources))


async def get_agent(app: Services, request: Request) -> Response:
    """Answer one agent."""
    agent = await app.fleet.get(request.path_params["name"], await _workspace(app, request))
    app.authoring.remember(agent)
    return json_response({"agent": agent})


async def resolve_agent(app: Services, request: Request) -> Response:
    """Answer what a session of an agent would use, each value with its source."""
    found = await app.resolver.resolve(request.path_params["name"], await _workspace(app, request))
    return json_response({"resolution": found})


async def explain_agent(app: Services, request: Request) -> Response:
    """Answer every definition of a name; a name that nobody defines is an answer too."""
    return json_response(await app.fleet.explain(request.path_params["name"], await _workspace(app, request)))


async def select_agent(app: Services, request: Request) -> Response:
    """Choose an agent for a task by what agents declare."""
    body = await read_body(request, SelectAgent)
    if body.workspace and body.workspace_path:
        raise InvalidRequest("workspace and workspace_path are mutually exclusive")
    workspace = None
    if body.workspace:
        workspace = await app.workspaces.get(body.workspace)
    elif body.workspace_path:
        workspace = await app.workspaces.resolve_or_register(body.workspace_path)
    return json_response(await app.fleet.select(body.task, workspace, Wishes(body.require, body.prefer)))


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/agents",
        handler=list_agents,
        name="listAgents",
        summary="The agents in force in a workspace, or the global ones",
        answer=AgentList,
        query=("workspace",),
    ),
    Route(
        method="GET",
        path="/api/agents/{name}",
        handler=get_agent,
        name="getAgent",
        summary="One agent with its capabilities and effective runtime",
        answer={"agent": Agent},
        query=("workspace",),
    ),
    Route(
        method="GET",
        path="/api/agents/{name}/resolution",
        handler=resolve_agent,
        name="resolveAgent",
        summary="What a session of an agent would use, each value with its source and file",
        answer={"resolution": AgentResolution},
        query=("workspace",),
    ),
    Route(
        method="GET",
        path="/api/agents/{name}/definitions",
        handler=explain_agent,
        name="explainAgent",
        summary="Every definition of a name: the one in force, the hidden ones, and the rule that hides them",
        answer=Definitions,
        query=("workspace",),
    ),
    Route(
        method="POST",
        path="/api/agents/select",
        handler=select_agent,
        name="selectAgent",
        summary="Choose an agent for a task by declared capabilities and enabled skills, or say that none fits",
        body=SelectAgent,
        answer=Selection,
        kind="write",
    ),
)
