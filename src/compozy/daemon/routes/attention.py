"""Routes of what waits for a person: the summary of contract §3.5, and the list with its answers, which are ours."""

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import Body, json_response, query_values, read_body
from compozy.daemon.routing import Route
from compozy.model.attention import AttentionAnswer, AttentionList, AttentionSummary
from compozy.runtime.services import Services


class AnswerAttention(Body, frozen=True, kw_only=True):
    decision: str = ""
    choice_index: int | None = None
    text: str = ""
    decline: bool = False


async def list_attention(app: Services, request: Request) -> Response:
    """Answer everything that waits for a person, oldest first."""
    values = query_values(request)
    return json_response(
        await app.attention.items(workspace=values.get("workspace", ""), root=values.get("root", ""))
    )


async def answer_attention(app: Services, request: Request) -> Response:
    """Answer one thing that waits, wherever its session lies."""
    body = await read_body(request, AnswerAttention)
    return json_response(
        await app.attention.answer(
            request.path_params["attention_id"],
            decision=body.decision.strip(),
            choice_index=body.choice_index,
            text=body.text,
            decline=body.decline,
        )
    )


async def summarise(app: Services, request: Request) -> Response:
    """Answer how many sessions want a person, and how many have something finished to show."""
    return json_response(await app.attention.summary())


ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/attention",
        handler=list_attention,
        name="listAttention",
        summary="Everything that waits for a person, oldest first",
        answer=AttentionList,
        query=("workspace", "root"),
    ),
    Route(
        method="POST",
        path="/api/attention/{attention_id}/answer",
        handler=answer_attention,
        name="answerAttention",
        summary="Answer one thing that waits",
        body=AnswerAttention,
        answer=AttentionAnswer,
        kind="write",
    ),
    Route(
        method="GET",
        path="/api/sessions/attention-summary",
        handler=summarise,
        name="getSessionAttentionSummary",
        summary="How many sessions want a person, by workspace",
        answer=AttentionSummary,
    ),
)
