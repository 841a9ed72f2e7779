"""Routes of the prompts that wait: list, replace, promote, withdraw (contract §3.5, `…/prompt/queue`)."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, read_body
from compozy.daemon.routes.session_prompt import SteerBody
from compozy.daemon.routes.sessions import SESSION, session_id_of
from compozy.daemon.routing import Route
from compozy.model.session_answers import PromptResult, QueuedInput
from compozy.runtime.services import Services
from compozy.runtime.sessions.prompting import InputEdit

_QUEUE = f"{SESSION}/prompt/queue"
_ENTRY = f"{_QUEUE}/{{queue_entry_id}}"


class ReplaceInput(Body, frozen=True, kw_only=True):
    text: str
    message_id: str
    idempotency_key: str


def _edit(body: ReplaceInput | SteerBody) -> InputEdit:
    return InputEdit(text=body.text, message_id=body.message_id.strip(), idempotency_key=body.idempotency_key.strip())


async def list_queue(app: Services, request: Request) -> Response:
    """Answer the prompts that wait, in their order."""
    session_id = await session_id_of(app, request)
    return json_response({"inputs": await app.sessions.queued(session_id)})


async def withdraw_queued(app: Services, request: Request) -> Response:
    """Take a waiting prompt out of the queue."""
    session_id = await session_id_of(app, request)
    return json_response({"prompt": await app.sessions.withdraw(session_id, request.path_params["queue_entry_id"])})


async def replace_queued(app: Services, request: Request) -> Response:
    """Give a waiting prompt another text."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, ReplaceInput)
    entry_id = request.path_params["queue_entry_id"]
    return json_response({"input": await app.sessions.inputs.replace(session_id, entry_id, _edit(body))})


async def promote_queued(app: Services, request: Request) -> Response:
    """Let a waiting prompt steer the running turn."""
    session_id = await session_id_of(app, request)
    body = await read_body(request, SteerBody)
    entry_id, turn_id = request.path_params["queue_entry_id"], body.expected_turn_id.strip()
    return json_response(
        {"prompt": await app.sessions.inputs.promote(session_id, entry_id, _edit(body), turn_id)}, 202
    )


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path=_QUEUE,
        handler=list_queue,
        name="listSessionInputs",
        summary="The prompts that wait",
        answer={"inputs": tuple[QueuedInput, ...]},
    ),
    Route(
        method="PUT",
        path=_ENTRY,
        handler=replace_queued,
        name="replaceSessionInput",
        summary="Give a waiting prompt another text",
        body=ReplaceInput,
        answer={"input": QueuedInput},
        kind="write",
    ),
    Route(
        method="DELETE",
        path=_ENTRY,
        handler=withdraw_queued,
        name="cancelQueuedSessionPrompt",
        summary="Withdraw a waiting prompt",
        answer={"prompt": PromptResult},
        kind="write",
    ),
    Route(
        method="POST",
        path=f"{_ENTRY}/steer",
        handler=promote_queued,
        name="promoteSessionInput",
        summary="Let a waiting prompt steer the running turn",
        body=SteerBody,
        answer={"prompt": PromptResult},
        status=202,
        kind="admit",
    ),
)
