"""Requests made to hurt, over a real TCP port: each gets one envelope, none is a fault, none holds anything for long
(issue 2, bad input; contract §1.3, §3.1)."""

import json
import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from compozy.client import ApiError
from compozy.daemon import body_limit, server
from compozy.daemon.messages import json_response
from compozy.daemon.routing import Route
from compozy.runtime.services import Services
from tests.kit.http_app import serving
from tests.kit.sessions import World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("hostile"), http=True).start()
    yield made
    made.end()


def exchange(port: int, data: bytes) -> tuple[int, dict[str, str]]:
    """Send bytes as they are and return the status and the envelope; the connection must then be closed for us."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        try:
            connection.sendall(data)
        except ConnectionError:
            pass  # Refused before all of it was sent: the answer is there to be read.
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), json.loads(body)


def port_of(world: World) -> int:
    assert world.daemon.record is not None
    return world.daemon.record.port


@pytest.mark.parametrize("path", ["/" + "a" * 5000, "/" + "a/" * 3000, "/a\0b", "/\ud800"])
@pytest.mark.parametrize(
    ("route", "field"),
    [
        ("/api/workspaces", "root_dir"),
        ("/api/workspaces/resolve", "path"),
        ("/api/agents/select", "workspace_path"),
        ("/api/sessions", "workspace_path"),
    ],
)
def test_a_path_that_no_file_system_holds_is_refused_by_its_field(
    world: World, route: str, field: str, path: str
) -> None:
    body = json.dumps({field: path, **({"task": "x"} if "select" in route else {})})
    request = f"POST {route} HTTP/1.1\r\nHost: localhost:{port_of(world)}\r\nConnection: close\r\n"
    status, envelope = exchange(port_of(world), f"{request}Content-Length: {len(body)}\r\n\r\n{body}".encode("ascii"))
    assert status == 400
    assert "must" in envelope["error"] or "name another" in envelope["error"] or "not valid" in envelope["error"]


def test_a_workspace_named_by_a_path_with_a_nul_is_not_found(world: World) -> None:
    with pytest.raises(ApiError) as caught:
        world.client.request("GET", f"/api/workspaces/{quote('/a' + chr(0), safe='')}")
    assert (caught.value.status, caught.value.code) == (404, "workspace_not_found")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("after_sequence", "0" * 20 + "9" * 20),
        ("after_sequence", "0" * 5000 + "1"),
        ("limit", "9" * 5000),
        ("since", "9999-12-31T23:59:59-23:59"),
        ("since", "0001-01-01T00:00:00+23:59"),
    ],
)
def test_numbers_and_times_beyond_all_bounds_are_refused_by_name(world: World, name: str, value: str) -> None:
    world.agent("idle")
    session = world.create("idle")
    with pytest.raises(ApiError) as caught:
        world.get(session, "/events", **{name: value})
    assert caught.value.status == 400
    assert name in caught.value.message and len(caught.value.message) < 300


@pytest.mark.parametrize("name", ["Host", "Origin", "Sec-Fetch-Site"])
def test_a_header_that_decides_and_is_given_twice_is_refused(world: World, name: str) -> None:
    port = port_of(world)
    own = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}", "Sec-Fetch-Site": "none"}
    evil = {"Host": "evil", "Origin": "http://evil", "Sec-Fetch-Site": "cross-site"}
    head = "".join(f"{key}: {value}\r\n" for key, value in own.items())
    request = f"POST /api/drain HTTP/1.1\r\n{head}{name}: {evil[name]}\r\nConnection: close\r\n\r\n"
    status, envelope = exchange(port, request.encode())
    assert (status, envelope["code"]) == (400, "invalid_request")


@pytest.mark.parametrize("rest", ["/x", "?x", "#x"])
def test_a_host_with_more_than_an_address_is_refused(world: World, rest: str) -> None:
    request = f"GET /api/status HTTP/1.1\r\nHost: localhost:{port_of(world)}{rest}\r\nConnection: close\r\n\r\n"
    assert exchange(port_of(world), request.encode())[1]["code"] == "host_denied"


def test_a_head_without_end_is_cut_at_its_bound(world: World) -> None:
    request = f"GET /api/status HTTP/1.1\r\nHost: localhost:{port_of(world)}\r\n".encode()
    for filler in (b"X: " + b"y" * 4_000_000, b"X: y\r\n" * 400_000):
        assert exchange(port_of(world), request + filler) == (
            431,
            {"error": "the request's head exceeds 524288 bytes; send less", "code": "head_too_large"},
        )
    assert exchange(port_of(world), request + b"Connection: close\r\n\r\n")[0] == 200


def test_trailers_without_end_do_not_fill_the_memory(world: World) -> None:
    request = f"POST /api/status HTTP/1.1\r\nHost: localhost:{port_of(world)}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port_of(world)), timeout=30) as connection:
        connection.sendall(request.encode() + b"2\r\n{}\r\n0\r\n")
        with pytest.raises(ConnectionError):
            for _ in range(2_000):
                connection.sendall(b"X: " + b"y" * 65_000 + b"\r\n")


async def read(app: Services, request: Request) -> Response:
    return json_response({"size": len(await request.body())})


ROUTES = (Route(method="POST", path="/api/read", handler=read, name="read", summary="Reads its body"),)


@pytest.mark.anyio
@pytest.mark.parametrize("half", [b"", b"\r\n", b"POST /api/re", b"POST /api/read HTTP/1.1\r\nX:"])
async def test_half_a_head_is_given_up_in_time(half: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.2)
    async with serving(ROUTES) as served:
        status, envelope = await to_thread.run_sync(exchange, served.port, half)
        assert (status, envelope["code"]) == (408, "request_timeout")


@pytest.mark.anyio
async def test_half_a_second_request_on_a_kept_connection_is_given_up_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.2)
    async with serving(ROUTES) as served:
        whole = f"POST /api/read HTTP/1.1\r\nHost: localhost:{served.port}\r\nContent-Length: 2\r\n\r\n".encode()

        def answers() -> bytes:
            with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
                connection.sendall(whole + b"{}")
                first = connection.recv(65536)
                connection.sendall(whole[:20])
                return first + b"".join(iter(lambda: connection.recv(65536), b""))

        found = await to_thread.run_sync(answers)
        assert found.startswith(b"HTTP/1.1 200") and b"HTTP/1.1 408" in found


@pytest.mark.anyio
async def test_half_a_body_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "BODY_SECONDS", 0.2)
    async with serving(ROUTES) as served:
        head = f"POST /api/read HTTP/1.1\r\nHost: localhost:{served.port}\r\nConnection: close\r\n"
        half = f"{head}Content-Length: 9\r\n\r\n{{".encode()
        status, envelope = await to_thread.run_sync(exchange, served.port, half)
        assert (status, envelope["code"]) == (408, "request_timeout")
