"""Routes by which people's clients look at a session, hold it, wait for it and answer it (contract §3.5)."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, empty_response, json_response, query_flag, query_number, read_body
from compozy.daemon.routes.sessions import SESSION, session_id_of
from compozy.daemon.routing import Route
from compozy.model.errors import InvalidRequest
from compozy.model.session import Session
from compozy.model.session_reads import Attached, Clarification, ClarifyAnswer, Repair, WaitAnswer
from compozy.runtime.services import Services

_BIG = 2**53


class Presence(Body, frozen=True, kw_only=True):
    visible: bool
    lease_id: str = ""


class Attach(Body, frozen=True, kw_only=True):
    attached_to: str = ""
    ttl_seconds: int | None = None


class Wait(Body, frozen=True, kw_only=True):
    timeout_ms: int
    until: tuple[str, ...] = ()
    epoch: int | None = None
    resume_id: str = ""


class AnswerClarification(Body, frozen=True, kw_only=True):
    choice_index: int | None = None
    text: str = ""
    decline: bool = False


async def update_presence(app: Services, request: Request) -> Response:
    """Note whether a client shows the session; showing it makes its last turn seen."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, Presence)
    if not body.visible:
        await app.people.hide(session_id, body.lease_id)
        return empty_response()
    return json_response({"lease_id": await app.people.show(session_id, body.lease_id)})


async def attach_session(app: Services, request: Request) -> Response:
    """Hold the session for one client, for a while."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, Attach)
    return json_response(await app.people.attach(session_id, body.attached_to, body.ttl_seconds))


async def wait_session(app: Services, request: Request) -> Response:
    """Answer when the session shows one of the badges, or the time is over."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, Wait)
    waiting = asyncio.ensure_future(
        app.people.wait(
            session_id, timeout_ms=body.timeout_ms, until=body.until, epoch=body.epoch, resume_id=body.resume_id
        )
    )
    # Who goes away waits no longer: half an hour is long to keep a place for nobody.
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait((waiting, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            await asyncio.wait((waiting,))
            return empty_response()
        return json_response(waiting.result())
    finally:
        leaving.cancel()
        waiting.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def list_clarifications(app: Services, request: Request) -> Response:
    """Answer the questions that wait for a free or chosen answer."""
    session_id = await session_id_of(app, request)
    return json_response({"clarifications": await app.people.clarifications(session_id)})


async def answer_clarification(app: Services, request: Request) -> Response:
    """Answer such a question."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, AnswerClarification)
    request_id = request.path_params["request_id"]
    return json_response(
        await app.people.answer(session_id, request_id, body.choice_index, body.text, decline=body.decline)
    )


async def clear_runtime(app: Services, request: Request) -> Response:
    """Go back to the runtime that the agent's definition resolves to."""
    session_id = await session_id_of(app, request)
    if "expected_revision" not in request.query_params:
        raise InvalidRequest("query parameter 'expected_revision' is missing: give the runtime's selection_revision")
    expected = query_number(request, "expected_revision", default=0, minimum=0, maximum=_BIG)
    return json_response({"session": await app.people.clear_runtime(session_id, expected)})


async def repair_session(app: Services, request: Request) -> Response:
    """Look at the session's history and append what mends it."""
    session_id = await session_id_of(app, request)
    dry_run, force = query_flag(request, "dry_run"), query_flag(request, "force")
    return json_response({"repair": await app.people.repair(session_id, dry_run=dry_run, force=force)})


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=f"{SESSION}/presence",
        handler=update_presence,
        name="updateSessionPresence",
        summary="Say whether a client shows the session",
        body=Presence,
        answer={"lease_id": str},
        kind="write",
    ),
    Route(
        method="POST",
        path=f"{SESSION}/attach",
        handler=attach_session,
        name="attachSession",
        summary="Hold a session for one client",
        body=Attach,
        answer=Attached,
        kind="write",
    ),
    Route(
        method="POST",
        path=f"{SESSION}/wait",
        handler=wait_session,
        name="waitForSession",
        summary="Wait until a session shows a badge",
        body=Wait,
        answer=WaitAnswer,
        kind="write",
    ),
    Route(
        method="GET",
        path=f"{SESSION}/clarifications",
        handler=list_clarifications,
        name="listSessionClarifications",
        summary="Questions that wait for a free or chosen answer",
        answer={"clarifications": tuple[Clarification, ...]},
    ),
    Route(
        method="POST",
        path=f"{SESSION}/clarifications/{{request_id}}/answer",
        handler=answer_clarification,
        name="answerSessionClarification",
        summary="Answer such a question",
        body=AnswerClarification,
        answer=ClarifyAnswer,
        kind="write",
    ),
    Route(
        method="DELETE",
        path=f"{SESSION}/runtime",
        handler=clear_runtime,
        name="clearSessionRuntime",
        summary="Go back to the runtime of the agent's definition",
        answer={"session": Session},
        kind="write",
        query=("expected_revision",),
    ),
    Route(
        method="POST",
        path=f"{SESSION}/repair",
        handler=repair_session,
        name="repairSession",
        summary="Mend a session's history, append-only",
        answer={"repair": Repair},
        kind="write",
        query=("dry_run", "force"),
    ),
)
