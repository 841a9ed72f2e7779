"""Routes that take a conversation back: rewind to before a prompt, clear (contract §3.5)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.routes.sessions import SESSION, session_id_of
from compozy.daemon.routing import Route
from compozy.model.session import Session
from compozy.model.session_answers import RewindAnswer
from compozy.runtime.services import Services
from compozy.runtime.sessions.rewinding import RewindRequest


class Rewind(Body, frozen=True, kw_only=True):
    message_id: str
    idempotency_key: str
    expected_epoch: int | None = None
    expected_generation: int | None = None
    expected_max_sequence: int | None = None


async def rewind_session(app: Services, request: Request) -> Response:
    """Take the conversation back to before a prompt."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, Rewind)
    asked = RewindRequest(
        message_id=body.message_id.strip(),
        idempotency_key=body.idempotency_key.strip(),
        expected_epoch=body.expected_epoch,
        expected_generation=body.expected_generation,
        expected_max_sequence=body.expected_max_sequence,
    )
    return json_response(await app.sessions.rewind(session_id, asked))


async def clear_session(app: Services, request: Request) -> Response:
    """Begin the conversation anew."""
    session_id = await session_id_of(app, request)
    return json_response({"session": await app.sessions.clear(session_id)})


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=f"{SESSION}/rewind",
        handler=rewind_session,
        name="rewindSessionConversation",
        summary="Take the conversation back to before a prompt",
        body=Rewind,
        answer=RewindAnswer,
        kind="write",
    ),
    Route(
        method="POST",
        path=f"{SESSION}/clear",
        handler=clear_session,
        name="clearSessionConversation",
        summary="Begin the conversation anew; what was said is archived",
        answer={"session": Session},
        kind="write",
    ),
)
