"""Routes about retention: what is kept how long, and removing what is beyond it now."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.routing import Route
from compozy.model.errors import Forbidden, InvalidRequest
from compozy.model.retention import Limits, RetentionReport, RetentionState
from compozy.runtime.retention import read_age
from compozy.runtime.services import Services

_AGENT_HEADERS = ("x-compozy-session-id", "x-compozy-agent")


class RetentionBody(Body, frozen=True, kw_only=True):
    """Limits for this run in place of the configuration's; `max_age` as ``30d`` or ``12h``."""

    dry_run: bool = False
    max_age: str | None = None
    max_sessions: int | None = None
    max_bytes: int | None = None


async def show_retention(app: Services, request: Request) -> Response:
    """Answer the limits in force, what the store takes, and the last run."""
    return json_response({"retention": await app.retention.state()})


async def run_retention(app: Services, request: Request) -> Response:
    """Remove what is beyond the limits, or say what would be removed."""
    if any(name in request.headers for name in _AGENT_HEADERS):
        raise Forbidden("removing sessions is for a person, not for an agent", code="operator_only")
    body = await read_body(request, RetentionBody)
    return json_response({"report": await app.retention.run(_limits(app, body), dry_run=body.dry_run)})


def _limits(app: Services, body: RetentionBody) -> Limits:
    if body.max_age is None and body.max_sessions is None and body.max_bytes is None:
        return app.retention.limits
    try:
        age = read_age(body.max_age) if body.max_age else 0.0
    except ValueError as problem:
        raise InvalidRequest(f"max_age {body.max_age!r} cannot be read: {problem}; write 30d or 12h") from problem
    if (body.max_sessions or 0) < 0 or (body.max_bytes or 0) < 0:
        raise InvalidRequest("max_sessions and max_bytes must not be negative; 0 means no limit")
    return Limits(max_age=age, max_sessions=body.max_sessions or 0, max_bytes=body.max_bytes or 0)


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/retention",
        handler=show_retention,
        name="showRetention",
        summary="How long stopped sessions are kept",
        answer={"retention": RetentionState},
    ),
    Route(
        method="POST",
        path="/api/retention",
        handler=run_retention,
        name="runRetention",
        summary="Remove stopped sessions beyond the limits",
        body=RetentionBody,
        answer={"report": RetentionReport},
        kind="privileged",
    ),
)
