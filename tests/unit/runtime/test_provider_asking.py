"""Asking programs and endpoints: every answer has a state, every wait an end (contract §2.3 auth states)."""

import json
import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from compozy.runtime.providers.asking import CannotAsk, Ran, classify, models_at, read_models, run
from tests.kit.leftovers import left_after


@contextmanager
def endpoint(status: int, body: bytes, headers: dict[str, str] | None = None) -> Iterator[tuple[str, list[str]]]:
    """Serve one answer on loopback; yields its address and the keys it was sent."""
    keys: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keys.append(self.headers.get("Authorization", ""))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", keys
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)


def python(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


def test_an_endpoint_lists_its_models_and_gets_the_key_as_a_header() -> None:
    body = json.dumps({"object": "list", "data": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}).encode()
    with endpoint(200, body) as (address, keys):
        assert models_at(address, "my-key") == ("a", "b")
        assert models_at(address + "/", "") == ("a", "b")
    assert keys == ["Bearer my-key", ""]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (401, "missing_credential"),
        (403, "permission_denied"),
        (429, "rate_limited"),
        (503, "transient"),
        (404, "unknown"),
    ],
)
def test_every_refusal_of_an_endpoint_has_its_state(status: int, state: str) -> None:
    with endpoint(status, b"{}") as (address, _), pytest.raises(CannotAsk) as caught:
        models_at(address, "k")
    assert caught.value.state == state and str(status) in caught.value.message


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with endpoint(200, b'{"data": []}') as (other, keys):
        with endpoint(302, b"", {"Location": f"{other}/models"}) as (address, _), pytest.raises(CannotAsk):
            models_at(address, "k")
        assert keys == []


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/v1", "http://[bad/v1"])
def test_an_endpoint_that_does_not_answer_is_a_passing_trouble(address: str) -> None:
    with pytest.raises(CannotAsk) as caught:
        models_at(address, "")
    assert caught.value.state == "transient"


def test_an_address_that_is_no_http_is_refused() -> None:
    with pytest.raises(CannotAsk, match="is no http address"):
        models_at("file:///etc", "")


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b'{"data": [{"id": "a"}]}', ("a",)),
        (b'{"models": [{"name": "a"}, {"name": "b"}]}', ("a", "b")),
        (b'["a", "b"]', ("a", "b")),
        (b"a\nb\n\n", ("a", "b")),
        (b'{"data": []}', ()),
    ],
)
def test_lists_of_models_come_in_several_forms(data: bytes, names: tuple[str, ...]) -> None:
    assert read_models(data, "it") == names


@pytest.mark.parametrize(
    "data", [b"<html>", b"{broken", b'{"x": 1}', b"[1]", b'{"data": "a"}', b"42", b"[" * 100_000]
)
def test_what_is_no_list_of_models_is_refused(data: bytes) -> None:
    with pytest.raises(CannotAsk, match="no list of models"):
        read_models(data, "it")


def test_a_program_that_hangs_is_ended_with_what_it_started() -> None:
    import os

    marker = f"asking-{os.getpid()}"
    command = python(
        "import subprocess, sys, time; sleep = 'import time; time.sleep(90)'; "
        "subprocess.Popen([sys.executable, '-c', sleep]); time.sleep(90)"
    )
    with pytest.raises(CannotAsk) as caught:
        run(command, {"PATH": os.environ["PATH"], "ASKING": marker}, seconds=1.0)
    assert caught.value.state == "transient"
    assert left_after(f"ASKING={marker}") == []


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(CannotAsk) as caught:
        run("/nowhere/at-all status", {})
    assert caught.value.state == "missing_cli" and "/nowhere/at-all" in caught.value.message


@pytest.mark.parametrize(
    ("code", "said", "state"),
    [
        (0, "", "authenticated"),
        (1, "Not logged in. Run: x login", "needs_login"),
        (1, "Error: rate limit exceeded", "rate_limited"),
        (1, "403 Forbidden", "permission_denied"),
        (1, "network unreachable", "transient"),
        (3, "boom", "unknown"),
        (3, "", "unknown"),
    ],
)
def test_what_a_status_command_says_is_read_by_exit_code_and_words(code: int, said: str, state: str) -> None:
    assert classify(Ran(code, "", said, 1))[0] == state
