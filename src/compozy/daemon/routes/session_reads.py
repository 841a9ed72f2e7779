"""Routes that look at one session: status, health, usage, commands, recap, inspect (contract §3.5)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import json_response, query_number
from compozy.daemon.routes.sessions import SESSION, session_id_of
from compozy.daemon.routing import Route
from compozy.model.session import SessionHealth, SessionUsage
from compozy.model.session_reads import Inspection, Recap, SessionCommands, SessionStatus
from compozy.runtime.services import Services


async def get_status(app: Services, request: Request) -> Response:
    """Answer how the session is, shortly."""
    return json_response(await app.views.status(await session_id_of(app, request)))


async def get_health(app: Services, request: Request) -> Response:
    """Answer how well the session's agent is."""
    return json_response({"health": await app.views.health(await session_id_of(app, request))})


async def get_usage(app: Services, request: Request) -> Response:
    """Answer tokens and cost so far."""
    return json_response({"usage": await app.views.usage(await session_id_of(app, request))})


async def get_commands(app: Services, request: Request) -> Response:
    """Answer the slash commands of the session."""
    return json_response(await app.views.commands(await session_id_of(app, request)))


async def get_recap(app: Services, request: Request) -> Response:
    """Answer the newest messages and remarks."""
    session_id = await session_id_of(app, request)
    limit = query_number(request, "limit", default=20, minimum=1, maximum=200)
    return json_response({"recap": await app.views.recap(session_id, limit)})


async def inspect_session(app: Services, request: Request) -> Response:
    """Answer what is worth knowing when something is odd."""
    return json_response(await app.views.inspect(await session_id_of(app, request)))


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path=f"{SESSION}/status",
        handler=get_status,
        name="getSessionStatus",
        summary="How a session is, shortly",
        answer=SessionStatus,
    ),
    Route(
        method="GET",
        path=f"{SESSION}/health",
        handler=get_health,
        name="getSessionHealth",
        summary="How well a session's agent is",
        answer={"health": SessionHealth},
    ),
    Route(
        method="GET",
        path=f"{SESSION}/usage",
        handler=get_usage,
        name="getSessionUsage",
        summary="Tokens and cost of a session so far",
        answer={"usage": SessionUsage},
    ),
    Route(
        method="GET",
        path=f"{SESSION}/commands",
        handler=get_commands,
        name="getSessionCommands",
        summary="The slash commands a session offers",
        answer=SessionCommands,
    ),
    Route(
        method="GET",
        path=f"{SESSION}/recap",
        handler=get_recap,
        name="getSessionRecap",
        summary="The newest messages and remarks of a session",
        answer={"recap": Recap},
        query=("limit",),
    ),
    Route(
        method="GET",
        path=f"{SESSION}/inspect",
        handler=inspect_session,
        name="inspectSession",
        summary="What is worth knowing when a session is odd",
        answer=Inspection,
        query=("include_recent_wake_events",),
    ),
)
