"""Answers that attack the caller, byte by byte as they come: one error of ours, in time, without the credential."""

import json
import math
import socket
import threading
import zlib
from collections.abc import Iterator

import msgspec
import pytest

from compozy.ocm import bind_endpoint
from compozy.ocm.endpoints.calls import Options, Reply
from compozy.ocm.endpoints.errors import EndpointFailed
from compozy.ocm.endpoints.guard import retry_after

SECRET = "s3cret/value +x"
PROTOCOLS = ("http", "a2a", "openai", "mcp")


class RawServer:
    """Answers every request with the same bytes and hangs up."""

    def __init__(self) -> None:
        self.answer = b""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                try:
                    self._answer(connection)
                except OSError:
                    continue

    def _answer(self, connection: socket.socket) -> None:
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += connection.recv(1 << 16)
        head, _, body = asked.partition(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), 0)
        while len(body) < length:
            body += connection.recv(1 << 16)
        connection.sendall(self.answer)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(30)


@pytest.fixture
def raw() -> Iterator[RawServer]:
    server = RawServer()
    yield server
    server.close()


def answer(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    lines = [b"HTTP/1.1 " + status, b"content-length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def call(raw: RawServer, sent: bytes, protocol: str = "http") -> Reply:
    raw.answer = sent
    document = {
        "ocm": "1",
        "id": "acme/x",
        "kind": "tool",
        "description": "d",
        "endpoints": [{"protocol": protocol, "url": raw.url}],
        "metadata": {"mcp": {"name": "t"}},
    }
    return bind_endpoint(document, options=Options(timeout=20.0, credential="env:K"), secrets=lambda _: SECRET)("pay")


def failure(raw: RawServer, sent: bytes, protocol: str = "http") -> str:
    with pytest.raises(EndpointFailed) as caught:
        call(raw, sent, protocol)
    return caught.value.message


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("charset", ["zlib", "hex", "rot13", "undefined", "idna", "punycode"])
def test_a_charset_is_never_taken_for_a_codec(raw: RawServer, protocol: str, charset: str) -> None:
    # Decoded by the codec of that name, the first would unpack, the next four fail, and the last take minutes.
    body = zlib.compress(b"a" * 4_000) if charset == "zlib" else b"-" + b"a" * 1_000_000
    kind = b"content-type: text/plain; charset=" + charset.encode()
    told = failure(raw, answer(body, kind, status=b"500 E"), protocol)
    assert told.startswith(raw.url.rstrip("/")) and len(told) < 1_000


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "sent",
    [
        answer(b"", b"retry-after: \xb2", status=b"503 E"),
        answer(b"", b"retry-after: Mon, 99999999999999999999 Jan 2020 00:00:00 GMT", status=b"503 E"),
        answer(b"", b"location: /" + b"a" * 70_000, status=b"307 R"),
        answer(b"", b"location: http://[/x", status=b"307 R"),
        answer(b"", b"location: file:///etc/passwd", status=b"307 R"),
        answer(b"", b"location: http://169.254.169.254/latest", status=b"307 R"),
        b"HTTP/1.1 200 OK\r\ncontent-length: " + b"9" * 5_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 50_000,
        b"",
        answer(b'{"choices": {"a": 1}}', b"content-type: application/json"),
        answer(b'{"choices": "abc", "usage": 5, "result": 5}', b"content-type: application/json"),
    ],
    ids=range(12),
)
def test_what_no_library_expects_is_still_one_error_of_ours(raw: RawServer, protocol: str, sent: bytes) -> None:
    assert len(failure(raw, sent, protocol)) < 1_000


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 200 OK\r\nbad header " + SECRET.encode() + b"\r\n\r\n",
        b"HTTP/9 " + SECRET.encode() + b"\r\n\r\n",
        answer(b"", b"content-encoding: " + SECRET.upper().encode()),
        answer(b"", b"location: https://s3cret%2Fvalue%20%2Bx.example/", status=b"307 R"),
        answer(b"x" * 192 + SECRET.encode(), status=b"500 E"),
        answer(b"x" * 192 + SECRET.encode(), status=b"401 E"),
        answer(b"x " + SECRET.replace(" ", "  ").encode(), status=b"500 E"),
        answer(json.dumps({"e": SECRET}).replace("/", "\\/").encode(), status=b"500 E"),
        answer(b"<x>" + b"x" * 48 + SECRET.encode()),
    ],
    ids=range(9),
)
def test_the_credential_is_masked_wherever_it_is_echoed_also_cut_or_spelled_anew(
    raw: RawServer, protocol: str, sent: bytes
) -> None:
    assert "s3cret" not in failure(raw, sent, protocol).lower()


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        ("http", b'{"text": "x", "cost_usd": 1e999, "more": [1e999]}'),
        ("http", b'{"text": "x", "cost_usd": 1' + b"0" * 400 + b"}"),
        ("http", b'{"text": "x", "usage": {"total_tokens": 1' + b"0" * 4_000 + b"}}"),
        ("openai", b'{"choices": [{"message": {"content": "x"}}], "usage": "many"}'),
        (
            "openai",
            b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": {}, "total_tokens": 1e999}}',
        ),
    ],
)
def test_numbers_nobody_can_hold_are_left_out_and_the_answer_stays(
    raw: RawServer, protocol: str, body: bytes
) -> None:
    reply = call(raw, answer(body, b"content-type: application/json"), protocol)
    assert (reply.text, reply.usage, reply.cost_usd) == ("x", {}, None)
    json.dumps(msgspec.structs.asdict(reply), allow_nan=False)


def test_a_pause_that_cannot_be_read_is_none() -> None:
    for text in ("\xb2", "\u0663", "1e999", "nan", ";", "Mon, 99999999999999999999 Jan 2020 00:00:00 GMT", "-5"):
        assert retry_after(text) is None, text
    assert retry_after("9" * 5_000) == 999_999_999.0
    assert math.isfinite(retry_after("Fri, 31 Dec 9999 23:59:59 -2359") or 0.0)
