"""Routes for the questions an agent puts to a person (contract §3.5: approve, interactions)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, query_flag, query_values, read_body
from compozy.daemon.routes.sessions import SESSION, session_id_of
from compozy.daemon.routing import Route
from compozy.model.errors import InvalidRequest
from compozy.model.session import Interaction
from compozy.model.session_answers import ApprovalAnswer
from compozy.runtime.services import Services

_STATUSES = ("pending", "orphaned", "resolved", "timed_out", "canceled")


class Approve(Body, frozen=True, kw_only=True):
    request_id: str
    turn_id: str
    decision: str


async def approve(app: Services, request: Request) -> Response:
    """Answer a permission request."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, Approve)
    return json_response(
        await app.sessions.approve(session_id, body.request_id, body.turn_id.strip(), body.decision.strip())
    )


async def list_interactions(app: Services, request: Request) -> Response:
    """Answer the questions put to a person, all or by status."""
    session_id = await session_id_of(app, request)
    status = query_values(request).get("status", "")
    if status and status not in _STATUSES:
        raise InvalidRequest(f"query parameter 'status' is {status!r}; write one of {', '.join(_STATUSES)}")
    children = query_flag(request, "include_children")
    return json_response(
        {"interactions": await app.sessions.interactions(session_id, status, with_children=children)}
    )


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=f"{SESSION}/approve",
        handler=approve,
        name="approveSession",
        summary="Answer a permission request",
        body=Approve,
        answer=ApprovalAnswer,
        kind="write",
    ),
    Route(
        method="GET",
        path=f"{SESSION}/interactions",
        handler=list_interactions,
        name="listSessionInteractions",
        summary="Permission requests and their answers",
        answer={"interactions": tuple[Interaction, ...]},
        query=("status", "include_children"),
    ),
)
