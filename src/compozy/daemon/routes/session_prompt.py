"""Routes that drive a turn: prompt as a stream, steer and cancel (contract §3.5 Prompt)."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, query_values, read_body
from compozy.daemon.routes.sessions import SESSION, RuntimeBody, session_id_of
from compozy.daemon.routing import Route
from compozy.daemon.sse import EventStreamResponse
from compozy.model.attachment import AttachmentRef
from compozy.model.errors import InvalidRequest
from compozy.model.event import StoredEvent
from compozy.model.session_answers import CancelAnswer, PromptResult
from compozy.runtime.services import Services
from compozy.runtime.sessions.frames import PromptFrames
from compozy.runtime.sessions.prompting import PromptRequest
from compozy.runtime.sessions.turns import Turn

# The version of the AI-SDK's message stream that the frames follow.
_STREAM_HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
_TURN_ENDS = ("done", "error")
_BROKEN = "the stream ended before its turn: read the session's events for the rest"


class PromptPart(msgspec.Struct, frozen=True, kw_only=True):
    type: str = ""
    text: str = ""


class PromptMessage(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    id: str = ""
    content: str = ""
    parts: tuple[PromptPart, ...] = ()

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if part.type == "text") or self.content


class AttachmentBody(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was uploaded before; what else a client sends of it is not looked at."""

    id: str


class PromptBody(Body, frozen=True, kw_only=True):
    message: str = ""
    message_id: str = ""
    idempotency_key: str = ""
    mode: str | None = None
    expected_turn_id: str | None = None
    runtime: RuntimeBody | None = None
    require_context: bool = False
    attachments: tuple[AttachmentBody, ...] = ()
    messages: tuple[PromptMessage, ...] = ()


class SteerBody(Body, frozen=True, kw_only=True):
    text: str
    message_id: str
    idempotency_key: str
    expected_turn_id: str


def _attachment(file: AttachmentBody) -> AttachmentRef:
    return AttachmentRef(id=file.id.strip(), bytes=0, height=0, width=0, kind="", mime_type="", name="", sha256="")


def _prompt_request(body: PromptBody) -> PromptRequest:
    message, message_id = body.message, body.message_id.strip()
    last = next((m for m in reversed(body.messages) if m.role == "user"), None)
    if last is not None:
        if message and last.text and message.strip() != last.text.strip():
            raise InvalidRequest("message differs from the text of the last user message in messages")
        if message_id and last.id and message_id != last.id:
            raise InvalidRequest("message_id differs from the id of the last user message in messages")
        message, message_id = message or last.text, message_id or last.id
    return PromptRequest(
        message=message,
        message_id=message_id,
        idempotency_key=body.idempotency_key.strip(),
        mode=(body.mode or "").strip(),
        expected_turn_id=(body.expected_turn_id or "").strip(),
        runtime=msgspec.structs.asdict(body.runtime) if body.runtime else None,
        require_context=body.require_context,
        attachments=tuple(_attachment(file) for file in body.attachments),
    )


async def prompt_session(app: Services, request: Request) -> Response:
    """Start a turn and stream it; a retry and a queued prompt are answered with 202."""
    session_id = await session_id_of(app, request)
    accepted = await app.sessions.prompt(session_id, _prompt_request(await read_body(request, PromptBody)))
    if isinstance(accepted, PromptResult):
        return json_response({"prompt": accepted}, 202)
    accepted.watchers += 1
    if query_values(request).get("format") == "raw" and request.client is None:
        return EventStreamResponse(_raw_frames(app, session_id, accepted))
    return EventStreamResponse(_ui_frames(app, session_id, accepted), headers=_STREAM_HEADERS)


async def _turn_events(app: Services, session_id: str, turn: Turn) -> AsyncIterator[tuple[StoredEvent, ...]]:
    """Yield the turn's own events until its last one."""
    async for batch in app.sessions.follow(session_id, turn.start_sequence - 1):
        mine = tuple(event for event in batch if event.turn_id == turn.id)
        if mine:
            yield mine
        if any(event.type in _TURN_ENDS for event in mine):
            return


@contextmanager
def _watching(turn: Turn) -> Iterator[None]:
    """End the watch that began with the answer: who reads the stream to its end has seen the turn (badge `done`)."""
    try:
        yield
    finally:
        turn.watchers -= 1


async def _ui_frames(app: Services, session_id: str, turn: Turn) -> AsyncIterator[bytes]:
    frames = PromptFrames(turn.id)
    with _watching(turn):
        yield _data(frames.start())
        async for events in _turn_events(app, session_id, turn):
            block = _data(frames.add(events))
            if block:
                yield block
        if not frames.finished:
            problem = (await app.sessions.live(session_id)).journal.ring.problem
            yield _data(frames.break_off(f"the turn failed: {problem}" if problem else _BROKEN))


def _data(frames: list[bytes]) -> bytes:
    return b"".join(b"data: %b\n\n" % frame for frame in frames)


async def _raw_frames(app: Services, session_id: str, turn: Turn) -> AsyncIterator[bytes]:
    with _watching(turn):
        async for events in _turn_events(app, session_id, turn):
            yield b"".join(
                b"id: %d\nevent: %b\ndata: %b\n\n" % (event.sequence, event.type.encode(), event.content)
                for event in events
            )


async def steer_session(app: Services, request: Request) -> Response:
    """Hand a message to the running turn."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, SteerBody)
    message = PromptRequest(
        message=body.text,
        message_id=body.message_id.strip(),
        idempotency_key=body.idempotency_key.strip(),
        mode="steer",
        expected_turn_id=body.expected_turn_id.strip(),
    )
    return json_response({"prompt": await app.sessions.inputs.steer(session_id, message)}, 202)


async def cancel_prompt(app: Services, request: Request) -> Response:
    """Ask the running turn to end; idempotent."""
    session_id = await session_id_of(app, request)
    outcome, turn_id = await app.sessions.cancel(session_id)
    return json_response(CancelAnswer(session_id=session_id, outcome=outcome, turn_id=turn_id))


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=f"{SESSION}/prompt",
        handler=prompt_session,
        name="sendSessionPrompt",
        summary="Send a prompt and stream its turn",
        body=PromptBody,
        answer={"prompt": PromptResult},
        streams=True,
        kind="admit",
        query=("format",),
    ),
    Route(
        method="POST",
        path=f"{SESSION}/steer",
        handler=steer_session,
        name="steerSessionPrompt",
        summary="Hand a message to the running turn",
        body=SteerBody,
        answer={"prompt": PromptResult},
        status=202,
        kind="admit",
    ),
    Route(
        method="POST",
        path=f"{SESSION}/prompt/cancel",
        handler=cancel_prompt,
        name="cancelSessionPrompt",
        summary="Cancel the running turn",
        answer=CancelAnswer,
        kind="write",
    ),
)
