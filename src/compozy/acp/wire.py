"""Frames of the ACP wire: bytes to lines to JSON-RPC messages, and messages to bytes.

Knows newline-delimited JSON and nothing of sessions, tasks or processes. What agents really print on stdout is
tolerated (banners, progress bars, blank lines, bare scalars); only a line that was meant as a message and cannot be
read is an error, because its loss would leave somebody waiting. spec/acp.md, fault group 7; reports P49–P51.
"""

import json
import re

import msgspec

from compozy.acp.contract import AgentProtocolError

NO_VALUE = msgspec.Raw()
NULL = msgspec.Raw(b"null")

# A half of a surrogate pair written as an escape: legal in JSON text, but no decoder after us would take it.
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class Message(msgspec.Struct, gc=False):
    """One JSON-RPC message; `id`, `params`, `result` and `error` stay bytes, empty when the member is absent."""

    jsonrpc: msgspec.Raw = NO_VALUE
    id: msgspec.Raw = NO_VALUE
    method: str | None = None
    params: msgspec.Raw = NO_VALUE
    result: msgspec.Raw = NO_VALUE
    error: msgspec.Raw = NO_VALUE

    @property
    def is_json_rpc(self) -> bool:
        if self.method is not None:
            return True
        # A log line may have an `id` too. JavaScript agents leave out a `result` that is undefined.
        return bool(self.id) and bool(self.result or self.error or self.jsonrpc)


class Noise(Exception):
    """The line is no message; `text` shows what it was."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


_decode = msgspec.json.Decoder(Message).decode
_encode = msgspec.json.Encoder().encode


class LineSplitter:
    """Cut a byte stream into lines, holding at most `limit` bytes of an unfinished one."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._held = 0
        self.is_exceeded = False
        """Set once a line grew above the limit; what was held is gone and nothing more is returned."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that `chunk` completes, without their newline."""
        if self.is_exceeded:
            return []
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines and self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
            self._parts.clear()
            self._held = 0
        if rest:
            self._parts.append(rest)
            self._held += len(rest)
        if self._held > self._limit or any(len(line) > self._limit for line in lines):
            self._exceed()
            lines = [line for line in lines if len(line) <= self._limit]
        return lines

    def finish(self) -> list[bytes]:
        """Return the last line when the stream ended without a newline."""
        rest = b"".join(self._parts)
        self._parts.clear()
        self._held = 0
        return [rest] if rest else []

    def _exceed(self) -> None:
        self.is_exceeded = True
        self._parts.clear()
        self._held = 0


def read_line(line: bytes) -> tuple[Message | None, str]:
    """Read one line as a message and the noise before it; no message for a line without content.

    Raises:
        Noise: the line is no JSON-RPC message.
        AgentProtocolError: the line was meant as a message but cannot be read.
    """
    try:
        if (line.isascii() or _is_utf8(line)) and not _SURROGATE_ESCAPE.search(line):
            message = _decode(line)
            if message.is_json_rpc:
                return message, ""
            raise Noise(show(line))
    except (msgspec.MsgspecError, RecursionError):
        pass
    return _read_odd_line(line)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read_odd_line(line: bytes) -> tuple[Message | None, str]:
    if not line.strip():
        return None, ""
    if b'"jsonrpc"' not in line:
        raise Noise(show(line))
    # A progress bar without newline shares its line with the next message.
    start = line.find(b"{")
    message = _salvage(line[start:])
    if message is None and (start := line.find(b'{"jsonrpc"')) > 0:
        message = _salvage(line[start:])
    if message is None:
        raise AgentProtocolError(
            f"the agent sent a broken JSON-RPC message of {len(line)} bytes: {show(line, 200)!r}"
        )
    return message, show(line[:start]) if line[:start].strip() else ""


def _salvage(text: bytes) -> Message | None:
    """Read a message whose JSON is not strict: invalid UTF-8, NaN, halves of surrogate pairs."""
    try:
        value: object = json.loads(text.decode("utf-8", "replace"), parse_constant=lambda _: None)
        clean = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        message = _decode(clean)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return None
    return message if message.is_json_rpc else None


def show(data: bytes | msgspec.Raw, limit: int = 2000) -> str:
    """Return bytes as text for a diagnostic, cut to `limit` characters."""
    text = bytes(data)[: limit * 4].decode("utf-8", "replace").strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def encode_request(request_id: int, method: str, params: object) -> bytes:
    """Return the line of a request of ours."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}) + b"\n"


def encode_notification(method: str, params: object) -> bytes:
    """Return the line of a notification of ours."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params}) + b"\n"


def encode_result(request_id: msgspec.Raw, result: object) -> bytes:
    """Return the answer to a request of the agent; its id goes back exactly as it came."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "result": result}) + b"\n"


def encode_error(request_id: msgspec.Raw, code: int, message: str, data: object = None) -> bytes:
    """Return the error answer to a request of the agent."""
    error: dict[str, object] = {"code": code, "message": message}
    if data:
        error["data"] = data
    return _encode({"jsonrpc": "2.0", "id": request_id, "error": error}) + b"\n"


def own_request_id(raw: msgspec.Raw) -> int | None:
    """Return the number of a request of ours, also when the agent echoed it as a string (or as 3.0)."""
    text = bytes(raw).strip(b' "')
    if text.endswith(b".0"):
        text = text[:-2]
    return int(text) if text.isdigit() and len(text) < 19 else None
