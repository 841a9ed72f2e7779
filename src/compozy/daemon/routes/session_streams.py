"""Routes that read what a session did, once or as it happens (contract §3.5: events, history, transcript, stream)."""

from collections.abc import AsyncIterator

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import json_response, query_number, query_values
from compozy.daemon.routes.sessions import SESSION, session_id_of
from compozy.daemon.routing import Route
from compozy.daemon.sse import EventStreamResponse
from compozy.model import times
from compozy.model.errors import InvalidRequest
from compozy.model.event import SessionEvent
from compozy.model.session_answers import TurnHistory
from compozy.model.transcript import TranscriptPage
from compozy.runtime.services import Services
from compozy.runtime.sessions.catalog_feed import EVENT_NAMES
from compozy.runtime.sessions.follow import raw_frames
from compozy.runtime.sessions.history import by_turn
from compozy.runtime.sessions.transcript_stream import Fence, transcript_frames
from compozy.store.interface import EventQuery

_ENCODE = msgspec.json.Encoder().encode
_EVENT_QUERY = ("since", "limit", "after_sequence", "type", "agent_name", "turn_id", "archive")
_ARCHIVE = ("active", "archived", "all")
_BIG = 2**62


def _event_query(request: Request) -> EventQuery:
    values = query_values(request)
    if "before_sequence" in values:
        raise InvalidRequest("query parameter 'before_sequence' is not understood here: use after_sequence")
    archive = values.get("archive", "") or "active"
    if archive not in _ARCHIVE:
        raise InvalidRequest(f"query parameter 'archive' is {archive!r}; write one of {', '.join(_ARCHIVE)}")
    since = values.get("since", "")
    try:
        since = times.format_time(times.parse_time(since)) if since else ""
    except ValueError as error:
        raise InvalidRequest(f"query parameter 'since' is {since!r}; write a time as 2026-01-02T03:04:05Z") from error
    return EventQuery(
        after_sequence=_optional_number(request, "after_sequence"),
        since=since,
        type=values.get("type", ""),
        turn_id=values.get("turn_id", ""),
        agent_name=values.get("agent_name", ""),
        archive=archive,
        limit=min(query_number(request, "limit", default=200, minimum=1, maximum=_BIG), 1000),
    )


def _optional_number(request: Request, name: str) -> int | None:
    if not query_values(request).get(name):
        return None
    return query_number(request, name, default=0, minimum=0, maximum=_BIG)


async def list_events(app: Services, request: Request) -> Response:
    """Answer stored events: the newest of the match, or those after a sequence, ascending."""
    session_id = await session_id_of(app, request)
    return json_response({"events": await app.sessions.events(session_id, _event_query(request))})


async def get_history(app: Services, request: Request) -> Response:
    """Answer the same events by turn."""
    session_id = await session_id_of(app, request)
    return json_response({"history": by_turn(await app.sessions.events(session_id, _event_query(request)))})


async def get_transcript(app: Services, request: Request) -> Response:
    """Answer a page of the transcript, newest last."""
    session_id = await session_id_of(app, request)
    limit = query_number(request, "limit", default=50, minimum=1, maximum=500)
    before = _optional_number(request, "before_sequence")
    return json_response(await app.sessions.transcript(session_id, limit=limit, before_sequence=before))


async def stream_session(app: Services, request: Request) -> Response:
    """Stream a session: transcript frames, or every stored event."""
    session_id = await session_id_of(app, request)
    values = query_values(request)
    if "replay" in values:
        raise InvalidRequest("query parameter 'replay' is not understood: use after_sequence or Last-Event-ID")
    frames = values.get("frames", "") or "transcript"
    after = _position(request)
    if frames == "raw":
        last = await app.sessions.last_sequence(session_id)
        if after is not None and after > last:
            raise InvalidRequest(
                f"event {after} does not exist, the last is {last}: this is another state of the session, "
                "read it anew without after_sequence",
                code="sequence_reset",
            )
        return EventStreamResponse(raw_frames(app.sessions, session_id, after or 0))
    if frames != "transcript":
        raise InvalidRequest(f"query parameter 'frames' is {frames!r}; write raw or transcript")
    fence = Fence(
        after=after, epoch=_optional_number(request, "epoch"), generation=_optional_number(request, "generation")
    )
    limit = query_number(request, "limit", default=50, minimum=1, maximum=500)
    return EventStreamResponse(transcript_frames(app.sessions, session_id, fence, limit))


def _position(request: Request) -> int | None:
    text = request.headers.get("last-event-id", "").strip()
    if text:
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise InvalidRequest(f"Last-Event-ID is {text!r}; send the id of an event of this stream")
        return int(text)
    return _optional_number(request, "after_sequence")


async def stream_catalog(app: Services, request: Request) -> Response:
    """Stream what changes in the list of sessions, from now on."""
    # The position first: whoever has read the first line misses nothing.
    return EventStreamResponse(_catalog_frames(app, app.sessions.changes.position))


async def _catalog_frames(app: Services, position: int) -> AsyncIterator[bytes]:
    yield b": following\n\n"
    async for changes in app.sessions.changes.follow(position):
        yield b"".join(
            b"event: %b\ndata: %b\n\n"
            % (
                EVENT_NAMES[type(change)],
                _ENCODE(change),
            )
            for change in changes
        )


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/sessions/catalog-stream",
        handler=stream_catalog,
        name="streamSessionCatalog",
        summary="What changes in the list of sessions, as it happens",
        streams=True,
    ),
    Route(
        method="GET",
        path=f"{SESSION}/events",
        handler=list_events,
        name="listSessionEvents",
        summary="Stored events",
        answer={"events": tuple[SessionEvent, ...]},
        query=_EVENT_QUERY,
    ),
    Route(
        method="GET",
        path=f"{SESSION}/history",
        handler=get_history,
        name="getSessionHistory",
        summary="Stored events by turn",
        answer={"history": tuple[TurnHistory, ...]},
        query=_EVENT_QUERY,
    ),
    Route(
        method="GET",
        path=f"{SESSION}/transcript",
        handler=get_transcript,
        name="getSessionTranscript",
        summary="The transcript, by page",
        answer=TranscriptPage,
        query=("limit", "before_sequence"),
    ),
    Route(
        method="GET",
        path=f"{SESSION}/stream",
        handler=stream_session,
        name="streamSession",
        summary="What happens in a session, as it happens",
        streams=True,
        query=("after_sequence", "frames", "epoch", "generation", "limit"),
    ),
)
