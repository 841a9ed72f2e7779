"""Protocol `http`: one POST of `{task, context, history, request_id}`, one JSON object back (OCM §5)."""

import json

from compozy.ocm.endpoints.answers import decode, read_price, read_usage
from compozy.ocm.endpoints.calls import Call, Options, Reply
from compozy.ocm.endpoints.connection import Connection
from compozy.ocm.endpoints.errors import EndpointFailed, EndpointRefused

_TEXT_FIELDS = ("text", "output", "result", "content", "answer")


async def ask(connection: Connection, call: Call, options: Options) -> Reply:
    """Send a task.

    Raises:
        EndpointFailed, EndpointRefused: there is no answer.
    """
    body = {
        "task": call.task,
        "context": dict(call.context),
        "history": [dict(one) for one in call.history],
        "request_id": call.request_id,
    }
    if call.arguments is not None:
        body["arguments"] = dict(call.arguments)
    client, guard = connection.open()
    async with client:
        # The key lets a server that knows it notice a request it has seen.
        headers = {"content-type": "application/json", "accept": "application/json"}
        headers["idempotency-key"] = call.request_id
        response = await client.post(connection.address.url, content=encode(body), headers=headers)
    connection.check_status(response.status_code, response.headers, response.content)
    value = decode(connection, response.content)
    text = next((found for name in _TEXT_FIELDS if isinstance(found := value.get(name), str)), None)
    if text is None:
        if value.get("error"):
            told = value["error"] if isinstance(value["error"], str) else json.dumps(value["error"])[:200]
            raise EndpointFailed(f"{connection.address.origin} reports an error: {told[:200]}", code="endpoint_error")
        raise EndpointFailed(
            f"{connection.address.origin} answered an object without any of {', '.join(_TEXT_FIELDS)}",
            code="endpoint_answer",
        )
    return Reply(
        text=text,
        success=value.get("success", True) is not False,
        data=value,
        usage=read_usage(value),
        cost_usd=read_price(value),
        attempts=guard.attempts,
    )


def encode(body: object) -> bytes:
    """Return a request's JSON.

    Raises:
        EndpointRefused: context or history hold what JSON cannot carry.
    """
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise EndpointRefused(
            f"context, history and arguments must be JSON: {error}; send texts, numbers, lists and objects",
            code="endpoint_request",
        ) from error
