"""Routes about the daemon itself: status, identity, doctor, drain (contract §3.6, §1.4)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import json_response
from compozy.daemon.routing import Route
from compozy.runtime.services import Services
from compozy.runtime.status import status_answer


async def get_status(app: Services, request: Request) -> Response:
    """Answer the whole status."""
    return json_response(await status_answer(app.status, app.config, app.store))


async def get_identity(app: Services, request: Request) -> Response:
    """Answer who serves this home; touches nothing that can wait."""
    return json_response(app.status.identity())


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/status",
        handler=get_status,
        name="getStatus",
        summary="Health, sessions and providers of this daemon",
    ),
    Route(
        method="GET",
        path="/api/status/identity",
        handler=get_identity,
        name="getRuntimeIdentity",
        summary="Process id, version and address of this daemon",
    ),
)
