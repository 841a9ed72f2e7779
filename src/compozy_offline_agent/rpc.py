"""JSON-RPC over two byte streams, one JSON object a line: our requests out, the client's requests in.

One thread reads; work that takes time runs in threads of its own and calls `request`, which blocks until the answer
comes, the stop event is set, or the bound is over. Knows nothing of ACP methods.
"""

import json
import os
import threading
import time
from collections.abc import Mapping
from typing import BinaryIO, Protocol

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR, REQUEST_CANCELLED = -32602, -32603, -32800

# How often a blocked request looks at its stop event: short enough that a cancel feels immediate.
STOP_CHECK_SECONDS = 0.02


class RpcError(Exception):
    """A request failed: raised by handlers to answer one, and by `request` when the other side answered one."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Stopped(Exception):
    """The turn was cancelled, or the client went away, while something was awaited."""


class Handler(Protocol):
    """What serves the client's calls. `answer` may be kept and called later, once, from any thread."""

    def on_request(self, method: str, params: Mapping[str, object], answer: "Answer") -> None: ...

    def on_notification(self, method: str, params: Mapping[str, object]) -> None: ...

    def on_close(self) -> None: ...


class Answer:
    """The one answer to a request of the client."""

    def __init__(self, peer: "Peer", request_id: object) -> None:
        self.request_id = request_id
        self._peer = peer

    def result(self, value: Mapping[str, object]) -> None:
        """Answer with a result."""
        self._peer.send({"jsonrpc": "2.0", "id": self.request_id, "result": value})

    def error(self, code: int, message: str) -> None:
        """Answer with an error."""
        self._peer.send({"jsonrpc": "2.0", "id": self.request_id, "error": {"code": code, "message": message}})


class _Pending:
    """A request of ours that waits for its answer."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: Mapping[str, object] = {}


class Peer:
    """One end of the wire. `send` and `request` are safe from any thread."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._writing = threading.Lock()  # one line at a time on the wire
        self._waiting = threading.Lock()  # protects _pending and _next_id
        self._pending: dict[int, _Pending] = {}
        self._next_id = 0

    def serve(self, handler: Handler) -> None:
        """Read until the client closes its end, then end the process's work."""
        for line in self._incoming:
            if line.strip():
                self._take(line, handler)
        handler.on_close()

    def send(self, message: Mapping[str, object]) -> None:
        """Write one message. A client that is gone ends the process: nobody is left to talk to."""
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        try:
            with self._writing:
                self._outgoing.write(data)
                self._outgoing.flush()
        except (BrokenPipeError, ValueError):
            os._exit(0)

    def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(
        self, method: str, params: Mapping[str, object], *, stop: threading.Event, seconds: float
    ) -> Mapping[str, object]:
        """Call the client and return its result (an empty mapping for null).

        Raises:
            RpcError: the client answered an error, or nothing within `seconds`.
            Stopped: `stop` was set meanwhile; a late answer is dropped.
        """
        pending = _Pending()
        with self._waiting:
            self._next_id += 1
            number = self._next_id
            self._pending[number] = pending
        try:
            self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            self._await(pending, method, stop, seconds)
        finally:
            with self._waiting:
                self._pending.pop(number, None)
        error = pending.answer.get("error")
        if isinstance(error, Mapping):
            code = error.get("code")
            raise RpcError(code if isinstance(code, int) else INTERNAL_ERROR, str(error.get("message", "no reason")))
        result = pending.answer.get("result")
        return result if isinstance(result, Mapping) else {}

    def _await(self, pending: _Pending, method: str, stop: threading.Event, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not pending.done.wait(STOP_CHECK_SECONDS):
            if stop.is_set():
                raise Stopped
            if time.monotonic() > end:
                raise RpcError(INTERNAL_ERROR, f"the client did not answer {method} within {seconds:g} s")
        if stop.is_set():
            raise Stopped

    def _take(self, line: bytes, handler: Handler) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            Answer(self, None).error(PARSE_ERROR, "not a line of JSON")
            return
        if not isinstance(message, dict):
            Answer(self, None).error(INVALID_REQUEST, "a message is a JSON object")
            return
        method, has_id = message.get("method"), "id" in message
        if isinstance(method, str):
            params = message.get("params")
            self._dispatch(method, params if isinstance(params, dict) else {}, message.get("id"), has_id, handler)
        elif has_id and ("result" in message or "error" in message):
            self._settle(message)
        elif has_id:
            Answer(self, message["id"]).error(INVALID_REQUEST, "neither a call nor an answer")

    def _dispatch(
        self, method: str, params: Mapping[str, object], request_id: object, has_id: bool, handler: Handler
    ) -> None:
        if not has_id:
            handler.on_notification(method, params)
            return
        answer = Answer(self, request_id)
        try:
            handler.on_request(method, params, answer)
        except RpcError as error:
            answer.error(error.code, error.message)

    def _settle(self, message: Mapping[str, object]) -> None:
        number = message["id"]
        with self._waiting:
            pending = self._pending.get(number) if isinstance(number, int) else None
        if pending is not None:
            pending.answer = message
            pending.done.set()
