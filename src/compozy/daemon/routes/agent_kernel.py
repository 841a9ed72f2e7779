"""What a session's agent asks about itself, and how it speaks up (contract §3.7 agent kernel; shapes).

Who calls is told by the identity headers (`runtime/agent_identity.py`).
"""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.routes.agent_spawn import AGENT_HEADER, SESSION_HEADER
from compozy.daemon.routing import Route
from compozy.model.agent_kernel import AgentContext, AgentMe, NotifyAnswer
from compozy.runtime.agent_identity import caller_of
from compozy.runtime.services import Services
from compozy.store.interface import SessionRecord


class Notice(Body, frozen=True, kw_only=True):
    title: str
    body: str = ""


async def _caller(app: Services, request: Request) -> SessionRecord:
    headers = request.headers
    return await caller_of(app.sessions, headers.get(SESSION_HEADER, ""), headers.get(AGENT_HEADER, ""))


async def get_me(app: Services, request: Request) -> Response:
    """Answer who the calling session is."""
    return json_response({"me": await app.kernel.me(await _caller(app, request))})


async def get_context(app: Services, request: Request) -> Response:
    """Answer the surroundings of the calling session."""
    return json_response({"context": await app.kernel.context(await _caller(app, request))})


async def notify(app: Services, request: Request) -> Response:
    """Tell the person something."""
    record = await _caller(app, request)
    body = await read_body(request, Notice)
    return json_response(await app.kernel.notify(record.session, body.title, body.body))


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/agent/me",
        handler=get_me,
        name="getAgentMe",
        summary="Who the calling session is, what it can do, and how much of it",
        answer={"me": AgentMe},
    ),
    Route(
        method="GET",
        path="/api/agent/context",
        handler=get_context,
        name="getAgentContext",
        summary="The surroundings of the calling session: capabilities, peers, messages that wait",
        answer={"context": AgentContext},
    ),
    Route(
        method="POST",
        path="/api/agent/notify",
        handler=notify,
        name="notifyOperator",
        summary="Tell the person something, as the calling session",
        kind="write",
        body=Notice,
        answer=NotifyAnswer,
    ),
)
