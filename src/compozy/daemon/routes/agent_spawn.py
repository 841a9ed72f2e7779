"""The route by which an agent starts a child session (contract §3.7 agent kernel; §9 safe spawn)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.routing import Route
from compozy.model.session import PermissionPolicy
from compozy.model.session_answers import SpawnAnswer
from compozy.runtime.agent_identity import caller_of
from compozy.runtime.services import Services
from compozy.runtime.sessions.spawning.plan import SpawnRequest

SESSION_HEADER, AGENT_HEADER = "x-compozy-session-id", "x-compozy-agent"


class SpawnPermissions(Body, frozen=True, kw_only=True):
    mcp_servers: tuple[str, ...] = ()
    network_channels: tuple[str, ...] = ()
    sandbox_profiles: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    workspace_paths: tuple[str, ...] = ()


class Spawn(Body, frozen=True, kw_only=True):
    agent_name: str
    spawn_role: str
    ttl_seconds: int
    permissions: SpawnPermissions
    auto_stop_on_parent: bool = True
    idempotency_key: str = ""
    model: str = ""
    name: str = ""
    notify_creator: bool | None = None
    prompt_overlay: str = ""
    provider: str = ""
    speed: str = ""
    workspace: str = ""


async def spawn(app: Services, request: Request) -> Response:
    """Start a child of the calling session."""
    headers = request.headers
    parent = await caller_of(app.sessions, headers.get(SESSION_HEADER, ""), headers.get(AGENT_HEADER, ""))
    body = await read_body(request, Spawn)
    given = {name: getattr(body, name) for name in Spawn.__struct_fields__ if name != "permissions"}
    policy = PermissionPolicy(
        **{name: getattr(body.permissions, name) for name in SpawnPermissions.__struct_fields__}
    )
    answer = await app.sessions.children.spawn(parent.session.id, SpawnRequest(permissions=policy, **given))
    return json_response({"spawn": answer}, 201)


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/api/agent/spawn",
        handler=spawn,
        name="spawnAgentSession",
        summary="Start a child of the calling session",
        body=Spawn,
        answer={"spawn": SpawnAnswer},
        status=201,
        kind="admit",
    ),
)
