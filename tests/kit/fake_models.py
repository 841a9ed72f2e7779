"""A scripted model server on loopback, so that real agents finish real turns with no network and no account.

Speaks two model APIs, streaming and not: OpenAI chat completions (`POST .../chat/completions`) and Anthropic messages
(`POST .../messages`), and lists two models. What the model does stands in the prompt, see `model_script`.
"""

import json
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.kit.model_script import Json, Plan, plan

MODELS = ("fake-model", "fake-model-2")


@contextmanager
def model_server() -> Iterator[str]:
    """Serve until the block ends; yields the base address, as `http://127.0.0.1:PORT`."""
    server = _Server(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A turn that hangs on purpose must not hold up the end of a test.
    block_on_close = False


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        if not self.path.split("?")[0].endswith("/models"):
            self._json({"error": {"message": "not found", "type": "not_found_error"}}, 404)
            return
        rows = [{"id": one, "object": "model", "type": "model", "created": 1, "display_name": one} for one in MODELS]
        self._json({"object": "list", "data": rows, "has_more": False})

    def do_POST(self) -> None:
        path = self.path.split("?")[0]
        try:
            body = json.loads(self._body() or b"{}")
            if path.endswith("/chat/completions"):
                self._openai(body)
            elif path.endswith("/messages"):
                self._anthropic(body)
            elif path.endswith("/count_tokens"):
                self._json({"input_tokens": 100})
            else:
                self._json({"error": {"message": "not found", "type": "not_found_error"}}, 404)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    # Plumbing

    def _body(self) -> bytes:
        if "chunked" not in (self.headers.get("transfer-encoding") or ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        raw = b""
        while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
            raw += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return raw

    def _json(self, value: Json, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _start_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def _event(self, value: Json | str, name: str = "") -> None:
        data = value if isinstance(value, str) else json.dumps(value)
        self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode())
        self.wfile.flush()

    def _was_unkind(self, chosen: Plan) -> bool:
        """Do what `http` and `hang` ask for; True when that was the whole answer."""
        if chosen.status:
            error = {"type": "api_error", "message": f"scripted {chosen.status}", "code": chosen.status}
            self._json({"type": "error", "error": error}, chosen.status)
        elif chosen.hang:
            self._start_stream()
            time.sleep(chosen.hang)
        return bool(chosen.status or chosen.hang)

    # OpenAI chat completions

    def _openai(self, body: Mapping[str, object]) -> None:
        functions = [one.get("function") or {} for one in _rows(body.get("tools"))]
        tools = {str(one["name"]): one.get("parameters") for one in functions if one.get("name")}
        history: list[str | None] = []
        for message in _rows(body.get("messages")):
            if message.get("role") == "user":
                history.append(_text_of(message.get("content")))
            elif message.get("role") == "tool":
                history.append(None)
        chosen = plan(history, tools)
        if self._was_unkind(chosen):
            return
        calls = [
            {
                "index": index,
                "id": f"call_{uuid.uuid4().hex[:16]}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for index, call in enumerate(chosen.calls)
        ]
        base: Json = {
            "id": f"chatcmpl-{uuid.uuid4().hex[:12]}",
            "created": int(time.time()),
            "model": body.get("model"),
        }
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        finish = "tool_calls" if calls else "stop"
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(chosen.pieces) or None, "tool_calls": calls or None}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            self._json({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        base["object"] = "chat.completion.chunk"
        self._start_stream()

        def send(delta: Json, finish: str | None = None) -> None:
            self._event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        send({"role": "assistant", "content": ""})
        if chosen.thinking:
            send({"reasoning_content": chosen.thinking})
        for piece in chosen.pieces:
            send({"content": piece})
            time.sleep(chosen.delay)
        for call in calls:
            send({"tool_calls": [call]})
        send({}, finish)
        self._event({**base, "choices": [], "usage": usage})
        self._event("[DONE]")

    # Anthropic messages

    def _anthropic(self, body: Mapping[str, object]) -> None:
        tools = {str(one["name"]): one.get("input_schema") for one in _rows(body.get("tools")) if one.get("name")}
        history: list[str | None] = []
        for message in _rows(body.get("messages")):
            content = message.get("content")
            if message.get("role") == "user" and isinstance(content, str):
                history.append(content)
            elif message.get("role") == "user":
                kinds = [one for one in _rows(content) if one.get("type") in ("tool_result", "text")]
                history += [None if one["type"] == "tool_result" else str(one.get("text")) for one in kinds]
        chosen = plan(history, tools)
        if self._was_unkind(chosen):
            return
        blocks: list[Json] = []
        if chosen.thinking:
            blocks.append({"type": "thinking", "thinking": chosen.thinking, "signature": "c2ln"})
        if chosen.pieces:
            blocks.append({"type": "text", "text": "".join(chosen.pieces)})
        for call in chosen.calls:
            name, call_id = call.name, f"toolu_{uuid.uuid4().hex[:20]}"
            blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": call.arguments})
        usage = {"input_tokens": 100, "output_tokens": 20}
        message = {"id": f"msg_{uuid.uuid4().hex[:20]}", "type": "message", "role": "assistant"}
        message |= {"model": body.get("model"), "stop_sequence": None}
        stop = "tool_use" if chosen.calls else "end_turn"
        if not body.get("stream"):
            self._json({**message, "content": blocks, "stop_reason": stop, "usage": usage})
            return
        self._start_stream()
        self._send("message_start", message={**message, "content": [], "stop_reason": None, "usage": usage})
        for index, block in enumerate(blocks):
            self._send_block(index, block, chosen)
        self._send("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
        self._send("message_stop")

    def _send(self, kind: str, /, **fields: object) -> None:
        self._event({"type": kind, **fields}, kind)

    def _send_block(self, index: int, block: Json, chosen: Plan) -> None:
        empty: dict[object, Json] = {
            "text": {"type": "text", "text": ""},
            "thinking": {"type": "thinking", "thinking": "", "signature": ""},
        }
        start = empty.get(block["type"], {**block, "input": {}})
        self._send("content_block_start", index=index, content_block=start)
        deltas: list[Json] = []
        if block["type"] == "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in chosen.pieces]
        elif block["type"] == "thinking":
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        for delta in deltas:
            self._send("content_block_delta", index=index, delta=delta)
            time.sleep(chosen.delay)
        self._send("content_block_stop", index=index)


def _rows(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
