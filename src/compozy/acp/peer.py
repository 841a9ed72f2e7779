"""A JSON-RPC 2.0 peer on a byte stream: our requests, the agent's requests, notifications, cancellation both ways.

Protocol-blind: it knows no ACP method but `session/update`, whose envelope it opens because speed matters there, and
`$/cancel_request`. It starts no process and owns no pipe; bytes come in through `feed` and leave through `send`.
spec/acp.md: fault groups 1, 7, 10; JSON-RPC errors per the JSON-RPC 2.0 specification.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Protocol

import msgspec

from compozy.acp.contract import AgentError, AgentProtocolError, AgentTimeout, RequestRefused
from compozy.acp.wire import (
    NULL,
    LineSplitter,
    Message,
    Noise,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    own_request_id,
    read_line,
    show,
)

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
SERVER_BUSY = -32000

# An agent with more open questions than this asks in a loop; further ones are refused, none is forgotten.
MOST_INCOMING = 256

_log = logging.getLogger(__name__)


class _UpdateParams(msgspec.Struct, gc=False):
    sessionId: str
    update: msgspec.Raw


class _UpdateHead(msgspec.Struct, gc=False):
    sessionUpdate: str = ""


class _SessionOf(msgspec.Struct, gc=False):
    sessionId: str = ""


class _CancelParams(msgspec.Struct, gc=False):
    requestId: msgspec.Raw


class _ErrorBody(msgspec.Struct, gc=False):
    code: int | float = INTERNAL_ERROR
    message: str = ""
    data: object = None


_decode_update = msgspec.json.Decoder(_UpdateParams).decode
_decode_head = msgspec.json.Decoder(_UpdateHead).decode
_decode_session = msgspec.json.Decoder(_SessionOf).decode
_decode_cancel = msgspec.json.Decoder(_CancelParams).decode
_decode_error = msgspec.json.Decoder(_ErrorBody).decode


class IncomingRequest:
    """A request of the agent that is being answered."""

    def __init__(self, request_id: msgspec.Raw, method: str, params: msgspec.Raw, session_id: str) -> None:
        self.id, self.method, self.params, self.session_id = request_id, method, params, session_id
        self.task: asyncio.Task[None] | None = None
        self.is_started = self.is_cancelled = False
        self.outcome: object = None
        """What to answer when the request is cancelled by us instead of withdrawn by the agent."""
        self.before: asyncio.Future[None] | None = None
        """Done when the updates that came before this request were handled."""

    def cancel(self, outcome: object = None) -> None:
        """Stop the handler; answer `outcome`, or error -32800 when there is none."""
        self.outcome = outcome
        self.is_cancelled = True
        # A task that is cancelled before its first step would never answer.
        if self.task is not None and self.is_started:
            self.task.cancel()


class PeerHandler(Protocol):
    """What the peer's owner does with what arrives."""

    def on_update(self, session_id: str, kind: str, raw: msgspec.Raw, size: int) -> None: ...

    def before_request(self, session_id: str) -> asyncio.Future[None]: ...

    async def on_request(self, request: IncomingRequest) -> object: ...

    def on_notification(self, method: str, params: msgspec.Raw) -> None: ...

    def on_note(self, kind: str, text: str) -> None: ...

    def on_broken(self, error: AgentProtocolError) -> None: ...


class _Pending:
    """A request of ours that waits for its answer."""

    def __init__(self, method: str, on_answer: Callable[[msgspec.Raw], None] | None) -> None:
        self.method, self.on_answer = method, on_answer
        self.future: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()


class Peer:
    """One side of the conversation.

    Args:
        send: writes bytes without blocking; silently drops them when the other side is gone.
        writable: waits until the other side reads again, at most `write_stall` seconds. Raises TimeoutError.
    """

    def __init__(
        self,
        handler: PeerHandler,
        *,
        send: Callable[[bytes], None],
        writable: Callable[[], Coroutine[None, None, None]],
        line_limit: int,
        write_stall: float,
    ) -> None:
        self._handler = handler
        self._send, self._writable = send, writable
        self._splitter = LineSplitter(line_limit)
        self._line_limit = line_limit
        self._write_stall = write_stall
        self._pending: dict[int, _Pending] = {}
        self._incoming: list[IncomingRequest] = []
        self._last_id = 0
        self._ended: Exception | None = None
        self._is_broken = False

    # ---- ours ---------------------------------------------------------------------------------------------------
    async def request(
        self,
        method: str,
        params: object,
        *,
        timeout: float | None,
        on_answer: Callable[[msgspec.Raw], None] | None = None,
    ) -> msgspec.Raw:
        """Send a request and return its result as JSON text; `on_answer` sees it before any later message is read.

        Raises:
            AgentError: the agent answered an error.
            AgentTimeout: no answer within `timeout` seconds, or the agent does not read its input.
            AgentDied, AgentProtocolError: the connection ended first.
        """
        if self._ended is not None:
            raise self._ended
        self._last_id += 1
        request_id = self._last_id
        pending = self._pending[request_id] = _Pending(method, on_answer)
        try:
            self._send(encode_request(request_id, method, params))
            return await self._answer_to(pending, timeout)
        except TimeoutError:
            self._withdraw(request_id)
            raise AgentTimeout(method, self._write_stall if timeout is None else timeout) from None
        except asyncio.CancelledError:
            self._withdraw(request_id)
            raise
        finally:
            del self._pending[request_id]

    async def _answer_to(self, pending: _Pending, timeout: float | None) -> msgspec.Raw:
        async with asyncio.timeout(timeout):
            writing = asyncio.ensure_future(self._writable())
            waited: list[asyncio.Future[None] | asyncio.Future[msgspec.Raw]] = [writing, pending.future]
            try:
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                if writing.done() and not pending.future.done():
                    writing.result()
            finally:
                writing.cancel()
            return await pending.future

    def _withdraw(self, request_id: int) -> None:
        if self._ended is None:
            self.notify("$/cancel_request", {"requestId": request_id})

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send(encode_notification(method, params))

    def end(self, error: Exception) -> None:
        """Fail every pending request of ours with `error`, and every later one at once; the first call counts."""
        if self._ended is not None:
            return
        self._ended = error
        for pending in self._pending.values():
            if not pending.future.done():
                pending.future.set_exception(error)
                # Whoever waits gets it; a waiter that left must not leave a warning.
                pending.future.exception()

    # ---- the agent's requests ------------------------------------------------------------------------------------
    def incoming(self, *, session_id: str | None = None, method: str | None = None) -> list[IncomingRequest]:
        """Return the agent's unanswered requests, filtered."""
        return [
            request
            for request in self._incoming
            if (session_id is None or request.session_id == session_id)
            and (method is None or request.method == method)
        ]

    async def cancel_incoming(self, timeout: float) -> None:
        """Stop every handler of a request, at most `timeout` seconds."""
        tasks = [request.task for request in self._incoming if request.task is not None]
        for request in list(self._incoming):
            request.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)

    async def _answer(self, request: IncomingRequest) -> None:
        request.is_started = True
        try:
            if request.is_cancelled:
                raise asyncio.CancelledError
            result = await self._handler.on_request(request)
            answer = encode_result(request.id, result)
        except RequestRefused as refused:
            answer = encode_error(request.id, refused.code, str(refused), refused.data)
        except asyncio.CancelledError:
            if request.outcome is None:
                answer = encode_error(request.id, REQUEST_CANCELLED, "request cancelled")
            else:
                answer = encode_result(request.id, request.outcome)
        except Exception:  # noqa: BLE001 - supervisor: a fault of ours must not leave the agent waiting for ever
            _log.exception("the request %r of an agent failed", request.method)
            answer = encode_error(request.id, INTERNAL_ERROR, f"{request.method} failed inside the client")
        finally:
            self._incoming.remove(request)
        if self._ended is None:
            self._send(answer)

    # ---- reading -------------------------------------------------------------------------------------------------
    def feed(self, chunk: bytes) -> None:
        """Take what the agent wrote; after a broken message nothing is taken any more."""
        for line in self._splitter.feed(chunk):
            if self._is_broken:
                return
            self._take_line(line)
        if self._splitter.is_exceeded and not self._is_broken:
            text = f"the agent wrote a line of more than {self._line_limit} bytes; its stream was closed"
            self._break(AgentProtocolError(text))

    def feed_eof(self) -> None:
        """Take the end of the stream; a last line without newline still counts."""
        for line in self._splitter.finish():
            if not self._is_broken:
                self._take_line(line)

    def _break(self, error: AgentProtocolError) -> None:
        self._is_broken = True
        self._handler.on_broken(error)

    def _take_line(self, line: bytes) -> None:
        try:
            message, before = read_line(line)
        except Noise as noise:
            self._handler.on_note("stdout_noise", noise.text)
            return
        except AgentProtocolError as error:
            self._break(error)
            return
        if before:
            self._handler.on_note("stdout_noise", before)
        if message is not None:
            self._take(message, len(line))

    def _take(self, message: Message, size: int) -> None:
        if message.method == "session/update":
            self._take_update(message, size)
        elif message.method is None:
            self._take_answer(message)
        elif message.id and message.id != NULL:
            self._take_request(message, message.method)
        elif message.method == "$/cancel_request":
            self._take_cancel(message)
        else:
            self._handler.on_notification(message.method, message.params)

    def _take_update(self, message: Message, size: int) -> None:
        try:
            params = _decode_update(message.params)
        except msgspec.MsgspecError as error:
            self._handler.on_note(
                "protocol", f"session/update without session or update ({error}): {show(message.params, 300)}"
            )
            return
        try:
            kind = _decode_head(params.update).sessionUpdate
        except msgspec.MsgspecError:
            kind = ""
        self._handler.on_update(params.sessionId, kind, params.update, size)
        if message.id and message.id != NULL:
            # Some agents send it as a request and wait for an answer.
            self._send(encode_result(message.id, None))

    def _take_answer(self, message: Message) -> None:
        number = own_request_id(message.id)
        pending = self._pending.get(number) if number is not None else None
        if pending is None or pending.future.done():
            self._handler.on_note("protocol", f"an answer to no open request, id {show(message.id, 100)}")
            return
        if message.error and message.error != NULL:
            pending.future.set_exception(_read_error(pending.method, message.error))
            pending.future.exception()
            return
        result = message.result or NULL
        pending.future.set_result(result)
        if pending.on_answer is not None:
            pending.on_answer(result)

    def _take_request(self, message: Message, method: str) -> None:
        if self._ended is not None:
            return
        if len(self._incoming) >= MOST_INCOMING:
            self._send(encode_error(message.id, SERVER_BUSY, f"more than {MOST_INCOMING} requests are open"))
            return
        try:
            session_id = _decode_session(message.params).sessionId
        except msgspec.MsgspecError:
            session_id = ""
        request = IncomingRequest(message.id, method, message.params, session_id)
        request.before = self._handler.before_request(session_id)
        self._incoming.append(request)
        request.task = asyncio.get_running_loop().create_task(self._answer(request))

    def _take_cancel(self, message: Message) -> None:
        try:
            wanted = _decode_cancel(message.params).requestId
        except msgspec.MsgspecError:
            return
        for request in self._incoming:
            if request.id == wanted:
                request.cancel()


def _read_error(method: str, raw: msgspec.Raw) -> AgentError:
    try:
        body = _decode_error(raw)
        code = int(body.code)
    except (msgspec.MsgspecError, RecursionError, OverflowError, ValueError):
        return AgentError(method, INTERNAL_ERROR, show(raw, 500))
    return AgentError(method, code, body.message or "the agent gave no message", body.data)
