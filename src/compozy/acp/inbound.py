"""What an agent may ask: opens each request, calls `AgentRequests` or the terminals, and shapes the answer.

Knows no process and no policy. Methods it does not know are for the caller to refuse, so that no agent waits for ever
(seen: qwen). Contract §5.5; spec/acp.md, fault groups 4, 6, 10, 17.
"""

from collections.abc import Awaitable, Callable

from compozy.acp.answers import (
    read_elicitation,
    read_number,
    read_object,
    read_permission,
    read_terminal_request,
    read_text,
)
from compozy.acp.contract import AgentRequests, RequestRefused
from compozy.acp.peer import INVALID_PARAMS, IncomingRequest
from compozy.acp.terminals import Terminals

CANCELLED_OUTCOME: dict[str, object] = {"outcome": {"outcome": "cancelled"}}


class Inbound:
    """Answers requests of one agent process."""

    def __init__(self, requests: AgentRequests, terminals: Terminals) -> None:
        self._requests, self._terminals = requests, terminals
        self._methods: dict[str, Callable[[IncomingRequest], Awaitable[object]]] = {
            "session/request_permission": self._permission,
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "elicitation/create": self._elicit,
            "terminal/create": self._create,
            "terminal/output": self._output,
            "terminal/wait_for_exit": self._wait,
            "terminal/kill": self._kill,
            "terminal/release": self._release,
        }

    def knows(self, method: str) -> bool:
        """Tell whether the method is one of ACP's client methods that compozy offers."""
        return method in self._methods

    async def answer(self, request: IncomingRequest) -> object:
        """Return the result of a request whose method is known.

        Raises:
            RequestRefused: answered as a JSON-RPC error.
        """
        handler = self._methods[request.method]
        if not request.session_id:
            raise RequestRefused("sessionId is missing", code=INVALID_PARAMS)
        return await handler(request)

    async def _permission(self, request: IncomingRequest) -> object:
        permission = read_permission(request.params)
        chosen = await self._requests.on_permission(permission)
        if chosen is None:
            return CANCELLED_OUTCOME
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    async def _read(self, request: IncomingRequest) -> object:
        body = read_object(request.params)
        content = await self._requests.on_read_text_file(
            request.session_id, _path(body), read_number(body, "line"), read_number(body, "limit")
        )
        return {"content": content}

    async def _write(self, request: IncomingRequest) -> object:
        body = read_object(request.params)
        content = body.get("content")
        if not isinstance(content, str):
            raise RequestRefused("content is missing or no text", code=INVALID_PARAMS)
        await self._requests.on_write_text_file(request.session_id, _path(body), content)
        return {}

    async def _elicit(self, request: IncomingRequest) -> object:
        mode = read_text(read_object(request.params), "mode")
        if mode != "form":
            raise RequestRefused(f"elicitation mode {mode!r} is not offered: use form", code=INVALID_PARAMS)
        content = await self._requests.on_elicitation(read_elicitation(request.params))
        return {"action": "cancel"} if content is None else {"action": "accept", "content": content}

    async def _create(self, request: IncomingRequest) -> object:
        wanted = read_terminal_request(request.params)
        if not wanted.command.strip():
            raise RequestRefused("command is missing", code=INVALID_PARAMS)
        spec = await self._requests.on_terminal(wanted)
        return {"terminalId": await self._terminals.create(request.session_id, spec, wanted.output_byte_limit)}

    async def _output(self, request: IncomingRequest) -> object:
        return self._terminals.output(request.session_id, _terminal_id(request))

    async def _wait(self, request: IncomingRequest) -> object:
        return await self._terminals.wait_for_exit(request.session_id, _terminal_id(request))

    async def _kill(self, request: IncomingRequest) -> object:
        await self._terminals.kill(request.session_id, _terminal_id(request))
        return {}

    async def _release(self, request: IncomingRequest) -> object:
        await self._terminals.release(request.session_id, _terminal_id(request))
        return {}


def _path(body: dict[str, object]) -> str:
    path = read_text(body, "path")
    if not path:
        raise RequestRefused("path is missing or no text", code=INVALID_PARAMS)
    return path


def _terminal_id(request: IncomingRequest) -> str:
    return read_text(read_object(request.params), "terminalId")
