"""Protocol `openai`: one chat completion by the official SDK, the extra `compozy[openai]`. Imported late.

The model is the caller's, the manifest's `metadata.model`, or the last part of its id. The manifest's instructions
are the system message. Of the SDK's own headers only those of HTTP itself leave.
"""

from typing import TYPE_CHECKING

import openai

from compozy.ocm.endpoints.address import Address
from compozy.ocm.endpoints.answers import read_usage
from compozy.ocm.endpoints.calls import Call, Options, Reply
from compozy.ocm.endpoints.connection import Connection
from compozy.ocm.endpoints.errors import EndpointFailed, EndpointRefused, own_error

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion, ChatCompletionMessageParam

_HEADERS = frozenset(("host", "accept", "connection", "content-type", "content-length", "user-agent"))
_PATH = "/chat/completions"
_ROLES = ("system", "user", "assistant")


async def ask(connection: Connection, call: Call, options: Options, *, instructions: str = "") -> Reply:
    """Ask the model.

    Raises:
        EndpointFailed, EndpointRefused: there is no answer, or the history is of another form.
    """
    client, guard = connection.open(only=_HEADERS)
    base = connection.address.url.rstrip("/").removesuffix(_PATH)
    async with client:
        # The guard sets the credential and takes everything off that the SDK reads from the environment.
        models = openai.AsyncOpenAI(
            api_key="none", base_url=base, http_client=client, max_retries=0, timeout=options.timeout
        )
        try:
            answer = await models.chat.completions.create(
                model=options.model, messages=_messages(call, instructions), stream=False
            )
        except openai.APIStatusError as error:
            connection.check_status(error.response.status_code, error.response.headers, error.response.content)
            told = connection.masked(str(error))[:200]
            raise EndpointFailed(f"{connection.address.origin} failed: {told}", code="endpoint_error") from error
        except (openai.OpenAIError, ValueError) as error:
            found = own_error(error) or guard.failure
            raise found or _no_answer(connection.address) from error
    return _reply(connection, answer, guard.attempts)


def _messages(call: Call, instructions: str) -> "list[ChatCompletionMessageParam]":
    messages: list[ChatCompletionMessageParam] = []
    if instructions:
        messages.append({"role": "system", "content": instructions})
    for one in call.history:
        role, content = one.get("role"), one.get("content")
        if role not in _ROLES or not isinstance(content, str):
            raise EndpointRefused(
                f"a message of the history is not of the form {{role, content}} with a role of {', '.join(_ROLES)}",
                code="endpoint_request",
            )
        if role == "assistant":
            messages.append({"role": "assistant", "content": content})
        elif role == "system":
            messages.append({"role": "system", "content": content})
        else:
            messages.append({"role": "user", "content": content})
    messages.append({"role": "user", "content": call.task})
    return messages


def _reply(connection: Connection, answer: "ChatCompletion", attempts: int) -> Reply:
    # The SDK takes any JSON for an answer: look before it is used.
    choices = getattr(answer, "choices", None)
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    content = getattr(message, "content", None)
    if not isinstance(content, str):
        raise _no_answer(connection.address)
    data = connection.masked_value(answer.model_dump(mode="json", exclude_none=True, warnings=False))
    usage = data.get("usage") if isinstance(data, dict) else None
    counts = read_usage(usage) if isinstance(usage, dict) else {}
    return Reply(text=connection.masked(content), data=data, usage=counts, attempts=attempts)


def _no_answer(address: Address) -> EndpointFailed:
    return EndpointFailed(
        f"{address.origin} answered no chat completion; is the url the one that ends in /v1?", code="endpoint_answer"
    )
