"""Protocol `a2a`: JSON-RPC of A2A 1.0 (`SendMessage`, `GetTask`), or 0.3 (`message/send`) where only that is known.

The answer's text comes from its artifacts, else from its last message; never from the history, which holds our own
words. A task that waits for a person is handed back as it is.
"""

import asyncio
import uuid
from collections.abc import Mapping

import httpx2

from compozy.ocm.endpoints.answers import decode
from compozy.ocm.endpoints.calls import Call, Options, Reply
from compozy.ocm.endpoints.connection import Connection
from compozy.ocm.endpoints.errors import EndpointFailed
from compozy.ocm.endpoints.over_http import encode

_RUNNING = ("submitted", "working")
_LOST = ("failed", "rejected", "canceled", "cancelled")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 2.0
# "Method not found" and "version not supported": the message was not taken, so it may be said in the older words.
_UNKNOWN_HERE = (-32601, -32009)
_POLL_FAILURES = 3


class _Dialect:
    """How one version spells what we need."""

    def __init__(self, version: str, send: str, get: str) -> None:
        self.version = version
        self.send = send
        self.get = get

    def message(self, call: Call) -> dict[str, object]:
        is_current = self.version == "1.0"
        part = {"text": call.task} if is_current else {"kind": "text", "text": call.task}
        message: dict[str, object] = {
            "messageId": call.request_id,
            "role": "ROLE_USER" if is_current else "user",
            "parts": [part],
        }
        if not is_current:
            message["kind"] = "message"
        if call.conversation:
            message["contextId"] = call.conversation
        if call.context:
            message["metadata"] = dict(call.context)
        return message


_DIALECTS = (_Dialect("1.0", "SendMessage", "GetTask"), _Dialect("0.3", "message/send", "tasks/get"))


async def ask(connection: Connection, call: Call, options: Options) -> Reply:
    """Send a task and wait for its end.

    Raises:
        EndpointFailed, EndpointRefused: there is no answer.
    """
    client, guard = connection.open()
    async with client:
        for dialect in _DIALECTS:
            answer = await _rpc(connection, client, dialect, dialect.send, {"message": dialect.message(call)})
            if not _is_unknown(answer) or dialect is _DIALECTS[-1]:
                break
        result = _result(connection, answer)
        task = _task_of(result)
        if task is not None:
            task = await _finish(connection, client, dialect, task)
    return _reply(connection, result, task, guard.attempts)


async def _finish(
    connection: Connection, client: httpx2.AsyncClient, dialect: _Dialect, task: Mapping[str, object]
) -> Mapping[str, object]:
    pause, failures = _FIRST_PAUSE, 0
    while _state(task) in _RUNNING:
        identity = task.get("id")
        if not isinstance(identity, str) or not identity:
            raise EndpointFailed(
                f"{connection.address.origin} started a task without an id, so nobody can wait for it",
                code="endpoint_answer",
            )
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)
        try:
            result = _result(connection, await _rpc(connection, client, dialect, dialect.get, {"id": identity}))
        except EndpointFailed as error:
            # Asking how a task is doing changes nothing, so it may be asked again.
            failures += 1
            if not error.is_temporary or failures >= _POLL_FAILURES:
                raise
            continue
        task = _task_of(result) or result
    return task


async def _rpc(
    connection: Connection, client: httpx2.AsyncClient, dialect: _Dialect, method: str, params: Mapping[str, object]
) -> dict[str, object]:
    body = {"jsonrpc": "2.0", "id": uuid.uuid4().hex, "method": method, "params": params}
    headers = {"content-type": "application/json", "accept": "application/json", "a2a-version": dialect.version}
    response = await client.post(connection.address.url, content=encode(body), headers=headers)
    connection.check_status(response.status_code, response.headers, response.content)
    return decode(connection, response.content)


def _is_unknown(answer: Mapping[str, object]) -> bool:
    error = answer.get("error")
    return isinstance(error, Mapping) and error.get("code") in _UNKNOWN_HERE


def _result(connection: Connection, answer: Mapping[str, object]) -> Mapping[str, object]:
    origin = connection.address.origin
    error = answer.get("error")
    if isinstance(error, Mapping):
        raise EndpointFailed(
            f"{origin} reports error {str(error.get('code'))[:40]}: {str(error.get('message'))[:200]}",
            code="endpoint_error",
        )
    result = answer.get("result")
    if not isinstance(result, Mapping):
        raise EndpointFailed(f"{origin} answered no JSON-RPC result; does it speak A2A?", code="endpoint_answer")
    return result


def _task_of(result: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the task of a result: 1.0 wraps it, 0.3 marks it."""
    wrapped = result.get("task")
    if isinstance(wrapped, Mapping):
        return wrapped
    return result if "status" in result else None


def _state(task: Mapping[str, object]) -> str:
    status = task.get("status")
    state = status.get("state") if isinstance(status, Mapping) else None
    return str(state or "unknown").removeprefix("TASK_STATE_").lower().replace("_", "-")


def _reply(
    connection: Connection, result: Mapping[str, object], task: Mapping[str, object] | None, attempts: int
) -> Reply:
    if task is None:
        message = result.get("message", result)
        parts = _texts(message)
        if not parts:
            raise EndpointFailed(
                f"{connection.address.origin} answered neither a task nor a message with text", code="endpoint_answer"
            )
        return Reply(text="\n".join(parts), data=dict(result), conversation=_context(message), attempts=attempts)
    state = _state(task)
    status = task.get("status")
    said = _texts(status.get("message")) if isinstance(status, Mapping) else []
    if state in _LOST:
        raise EndpointFailed(
            f"{connection.address.origin} ended the task as {state}: {' '.join(said)[:200] or 'without a reason'}",
            code="endpoint_error",
        )
    artifacts = task.get("artifacts")
    made = [text for one in artifacts for text in _texts(one)] if isinstance(artifacts, list) else []
    return Reply(
        text="\n".join(made or said),
        success=state == "completed",
        data=dict(task),
        state=state,
        conversation=_context(task),
        attempts=attempts,
    )


def _context(value: object) -> str:
    found = value.get("contextId") if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def _texts(value: object) -> list[str]:
    parts = value.get("parts") if isinstance(value, Mapping) else None
    if not isinstance(parts, list):
        return []
    return [text for part in parts if isinstance(part, Mapping) and isinstance(text := part.get("text"), str)]
