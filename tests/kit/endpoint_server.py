"""A server on loopback that behaves as endpoints of strangers do: well, slowly, rudely, or not at all.

The path says what it does. Every request is kept, with its headers, so that a test can see what was sent.
"""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

BIG = 50 << 20


class Seen(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: object


class EndpointServer(ThreadingHTTPServer):
    """`seen` holds the requests in order; `elsewhere` is where redirects to another host lead,
    `alias` what the path of a model's answers does."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[Seen] = []
        self.elsewhere = ""
        self.alias = ""
        self.released = threading.Event()
        self.sent_bytes = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Callers that hang up are what these tests are about."""

    def count(self, path: str) -> int:
        return sum(one.path == path for one in self.seen)


@contextmanager
def endpoint_server() -> Iterator[EndpointServer]:
    server = EndpointServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join(30)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: EndpointServer

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.seen.append(Seen("GET", self.path, dict(self.headers), None))
        self._json({"text": "a redirect lost the request"})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body: object = json.loads(raw)
        except ValueError:
            body = raw
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append(Seen("POST", self.path, headers, body))
        path = self.server.alias if self.path == "/chat/completions" else self.path
        name = path.strip("/").replace("-", "_") or "html"
        try:
            getattr(self, f"_{name}")(body, headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    # Good ones

    def _echo(self, body: dict[str, object], headers: dict[str, str]) -> None:
        task = body.get("task", "nothing")
        usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
        self._json({"text": f"you said {task}", "usage": usage, "cost_usd": 0.02})

    def _wants_bearer(self, body: object, headers: dict[str, str]) -> None:
        if headers.get("authorization") != "Bearer s3cret-value":
            self._json({"error": "who are you"}, 401)
        else:
            self._json({"text": f"welcome {headers['authorization']}"})

    def _wants_key(self, body: object, headers: dict[str, str]) -> None:
        self._json({"text": "in"} if headers.get("x-api-key") == "s3cret-value" else {}, 200)

    def _unsuccessful(self, body: object, headers: dict[str, str]) -> None:
        self._json({"output": "half of it", "success": False})

    # Those that ask to come back

    def _busy_once(self, body: object, headers: dict[str, str]) -> None:
        self._first(429, {"Retry-After": "0"})

    def _unavailable_once(self, body: object, headers: dict[str, str]) -> None:
        self._first(503, {"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"})

    def _unavailable_silently(self, body: object, headers: dict[str, str]) -> None:
        self._json({"error": "down"}, 503)

    def _busy_for_an_hour(self, body: object, headers: dict[str, str]) -> None:
        self._json({"error": "later"}, 429, {"Retry-After": "3600"})

    def _always_busy(self, body: object, headers: dict[str, str]) -> None:
        self._json({"error": "later"}, 429, {"Retry-After": "0"})

    def _gateway(self, body: object, headers: dict[str, str]) -> None:
        self._json({"error": "upstream"}, 502)

    def _teapot(self, body: object, headers: dict[str, str]) -> None:
        self._json({"error": "short and stout"}, 418)

    def _first(self, status: int, headers: dict[str, str]) -> None:
        if self.server.count(self.path) == 1:
            self._json({"error": "busy"}, status, headers)
        else:
            self._json({"text": "now it works"})

    # Redirects

    def _moved_here(self, body: object, headers: dict[str, str]) -> None:
        self._json({}, 307, {"Location": "/echo"})

    def _moved_away(self, body: object, headers: dict[str, str]) -> None:
        self._json({}, 307, {"Location": f"{self.server.elsewhere}/echo"})

    def _found(self, body: object, headers: dict[str, str]) -> None:
        self._json({}, 302, {"Location": "/echo"})

    def _round(self, body: object, headers: dict[str, str]) -> None:
        self._json({}, 308, {"Location": "/round"})

    # Rude ones

    def _hang(self, body: object, headers: dict[str, str]) -> None:
        self.server.released.wait(60)
        self.close_connection = True

    def _drip(self, body: object, headers: dict[str, str]) -> None:
        self._start(200, {"Content-Type": "application/json", "Connection": "close"})
        while not self.server.released.wait(0.05):
            self.wfile.write(b" ")
        self.close_connection = True

    def _big(self, body: object, headers: dict[str, str]) -> None:
        # No length told: only counting finds out.
        self._start(200, {"Content-Type": "application/json", "Connection": "close"})
        self.close_connection = True
        while self.server.sent_bytes < BIG:
            self.server.sent_bytes += self.wfile.write(b" " * (1 << 16))

    def _big_told(self, body: object, headers: dict[str, str]) -> None:
        self._start(200, {"Content-Length": str(BIG)})
        self.close_connection = True

    def _packed(self, body: object, headers: dict[str, str]) -> None:
        data = gzip.compress(b'{"text": "' + b"a" * (1 << 20) + b'"}')
        self._start(200, {"Content-Encoding": "gzip", "Content-Length": str(len(data))})
        self.wfile.write(data)

    def _cut(self, body: object, headers: dict[str, str]) -> None:
        self._start(200, {"Content-Length": "1000"})
        self.wfile.write(b'{"text": ')
        self.close_connection = True

    def _html(self, body: object, headers: dict[str, str]) -> None:
        self._raw(b"<!doctype html><title>Sign in</title>")

    def _empty(self, body: object, headers: dict[str, str]) -> None:
        self._raw(b"")

    def _list(self, body: object, headers: dict[str, str]) -> None:
        self._raw(b"[1, 2]")

    def _nan(self, body: object, headers: dict[str, str]) -> None:
        self._raw(b'{"text": "x", "cost_usd": NaN}')

    def _deep(self, body: object, headers: dict[str, str]) -> None:
        self._raw(b'{"text": "x", "more": ' + b"[" * 300 + b"]" * 300 + b"}")

    def _deeper(self, body: object, headers: dict[str, str]) -> None:
        self._raw(b"[" * 100_000)

    def _no_text(self, body: object, headers: dict[str, str]) -> None:
        self._json({"answer": 5})

    def _error_in_answer(self, body: object, headers: dict[str, str]) -> None:
        self._json({"error": "no such order s3cret-value"})

    # A2A, by the method

    def _a2a(self, body: dict[str, object], headers: dict[str, str]) -> None:
        self._rpc(body, _A2A_CURRENT)

    def _a2a_old(self, body: dict[str, object], headers: dict[str, str]) -> None:
        self._rpc(body, _A2A_OLD)

    def _a2a_message(self, body: dict[str, object], headers: dict[str, str]) -> None:
        message = {"messageId": "m", "role": "ROLE_AGENT", "contextId": "c9", "parts": [{"text": "hello back"}]}
        self._rpc(body, {"SendMessage": {"message": message}})

    def _a2a_failed(self, body: dict[str, object], headers: dict[str, str]) -> None:
        status = {"state": "TASK_STATE_FAILED", "message": {"parts": [{"text": "the printer is on fire"}]}}
        self._rpc(body, {"SendMessage": {"task": {"id": "t", "status": status}}})

    def _a2a_asks(self, body: dict[str, object], headers: dict[str, str]) -> None:
        status = {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"parts": [{"text": "which order?"}]}}
        self._rpc(body, {"SendMessage": {"task": {"id": "t", "contextId": "c1", "status": status}}})

    def _a2a_array(self, body: object, headers: dict[str, str]) -> None:
        self._raw(b"[]")

    def _a2a_endless(self, body: dict[str, object], headers: dict[str, str]) -> None:
        task = {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}
        self._rpc(body, {"SendMessage": {"task": task}, "GetTask": task})

    def _a2a_flaky(self, body: dict[str, object], headers: dict[str, str]) -> None:
        if body["method"] == "GetTask" and self.server.count(self.path) == 2:
            self._json({}, 502)
        else:
            self._rpc(body, _A2A_CURRENT)

    def _rpc(self, body: dict[str, object], answers: dict[str, object]) -> None:
        answer: dict[str, object] = {"jsonrpc": "2.0", "id": body["id"]}
        if body["method"] in answers:
            answer["result"] = answers[str(body["method"])]
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        self._json(answer)

    # Plumbing

    def _json(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._raw(json.dumps(value).encode(), status, {"Content-Type": "application/json", **(headers or {})})

    def _raw(self, data: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._start(status, {"Content-Length": str(len(data)), **(headers or {})})
        self.wfile.write(data)

    def _start(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


_DONE = {
    "id": "t1",
    "contextId": "c1",
    "status": {"state": "TASK_STATE_COMPLETED"},
    "history": [{"role": "ROLE_USER", "parts": [{"text": "OUR OWN WORDS"}]}],
    "artifacts": [{"parts": [{"text": "order 12"}, {"data": {"n": 12}}]}, {"parts": [{"text": "paid back"}]}],
}
_A2A_CURRENT: dict[str, object] = {
    "SendMessage": {"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}},
    "GetTask": _DONE,
}
_A2A_OLD: dict[str, object] = {
    "message/send": {"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "submitted"}},
    "tasks/get": {
        "kind": "task",
        "id": "t1",
        "contextId": "c1",
        "status": {"state": "completed"},
        "artifacts": [{"parts": [{"kind": "text", "text": "in the old words"}]}],
    },
}
