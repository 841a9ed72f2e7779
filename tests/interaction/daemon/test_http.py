"""What every request meets: guards, limits, envelopes, masking, admission; over real sockets."""

import http.client
import json
import socket
from pathlib import Path

import pytest

from compozy import __version__
from compozy.client import ApiError, DaemonClient
from tests.kit.daemons import Daemon, make_home


@pytest.fixture(scope="module")
def daemon(shared_daemon: Daemon) -> Daemon:
    return shared_daemon


def tcp(daemon: Daemon) -> http.client.HTTPConnection:
    assert daemon.record is not None
    return http.client.HTTPConnection("127.0.0.1", daemon.record.port, timeout=30)


def ask(
    daemon: Daemon, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None
) -> tuple[int, dict[str, str], dict[str, object]]:
    """One TCP request with full control over its headers."""
    connection = tcp(daemon)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        data = response.read()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, json.loads(data) if data else {}
    finally:
        connection.close()


def refusal(client: DaemonClient, method: str, path: str, **more: object) -> ApiError:
    with pytest.raises(ApiError) as caught:
        client.request(method, path, **more)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize("path", ["/api/status/identity", "/api/doctor?only=config"])
def test_tcp_and_socket_answer_alike(daemon: Daemon, path: str) -> None:
    with daemon.client() as unix, daemon.tcp_client() as other:
        answers = [client.request("GET", path).json() for client in (unix, other)]
    for answer in answers:
        assert isinstance(answer, dict)
        answer.pop("generated_at", None)
        answer.pop("duration_ms", None)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST:{port}"])
def test_every_loopback_spelling_of_the_address_is_a_valid_host(daemon: Daemon, host: str) -> None:
    assert daemon.record is not None
    spelled = host.format(port=daemon.record.port)
    assert ask(daemon, "GET", "/api/status/identity", {"Host": spelled})[0] == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example:{port}", "localhost", "localhost:1", "localhost.:{port}", "u@localhost:{port}", "", ":", "[::1"],
)
def test_a_foreign_host_header_is_refused(daemon: Daemon, host: str) -> None:
    assert daemon.record is not None
    spelled = host.format(port=daemon.record.port)
    status, _, body = ask(daemon, "GET", "/api/status", {"Host": spelled})
    assert (status, body["code"]) == (403, "host_denied")


def test_the_socket_does_not_ask_for_a_host(daemon: Daemon) -> None:
    with daemon.client() as client:
        assert client.request("GET", "/api/status/identity", headers={"X-Any": "1"}).status == 200


@pytest.mark.parametrize("origin", ["http://localhost:{port}", "http://127.0.0.1:{port}", "http://[::1]:{port}"])
def test_an_own_origin_may_call_and_reads_the_answer(daemon: Daemon, origin: str) -> None:
    assert daemon.record is not None
    spelled = origin.format(port=daemon.record.port)
    status, headers, _ = ask(daemon, "GET", "/api/status/identity", {"Origin": spelled})
    assert status == 200
    assert headers["access-control-allow-origin"] == spelled
    assert "x-vercel-ai-ui-message-stream" in headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://localhost:{port}",
        "http://localhost:1",
        "http://localhost:{port}@evil.example",
        "",
    ],
)
def test_a_foreign_origin_is_refused(daemon: Daemon, origin: str) -> None:
    assert daemon.record is not None
    spelled = origin.format(port=daemon.record.port)
    status, headers, body = ask(daemon, "GET", "/api/status", {"Origin": spelled})
    assert (status, body["code"]) == (403, "origin_denied")
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_a_cross_site_write_is_refused_and_a_read_is_not(daemon: Daemon, site: str) -> None:
    status, _, body = ask(daemon, "POST", "/api/drain", {"Sec-Fetch-Site": site})
    assert (status, body["code"]) == (403, "cross_site_denied")
    assert ask(daemon, "GET", "/api/status/identity", {"Sec-Fetch-Site": site})[0] == 200
    assert ask(daemon, "POST", "/api/undrain", {"Sec-Fetch-Site": "same-origin"})[0] == 200


def test_a_preflight_is_answered_with_the_allowed_headers(daemon: Daemon) -> None:
    assert daemon.record is not None
    origin = f"http://localhost:{daemon.record.port}"
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    status, answer, _ = ask(daemon, "OPTIONS", "/api/drain", headers)
    assert status == 204
    assert answer["access-control-allow-headers"] == "Content-Type, Last-Event-ID, Accept, Authorization"
    assert answer["access-control-allow-origin"] == origin


def test_a_daemon_bound_to_an_open_address_serves_the_api_on_the_socket_only(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    text = home.config_file.read_text().replace("[http]\n", '[http]\nhost = "0.0.0.0"\n')
    home.config_file.write_text(text)
    exposed = Daemon(home).start()
    try:
        status, _, body = ask(exposed, "GET", "/api/status")
        assert (status, body["code"]) == (403, "bind_not_loopback")
        with exposed.client() as client:
            assert client.request("GET", "/api/status").status == 200
    finally:
        exposed.end()


def test_an_unknown_route_and_a_wrong_method_have_the_error_envelope(daemon: Daemon) -> None:
    with daemon.client() as client:
        for path in ("/api/tasks", "/api/loops", "/", "/api", "/api/status/", "/api//status"):
            error = refusal(client, "GET", path)
            assert (error.status, error.code) == (404, "route_not_found"), path
            assert path in str(error)
        wrong = refusal(client, "DELETE", "/api/status")
    assert (wrong.status, wrong.code) == (405, "method_not_allowed")
    status, headers, _ = ask(daemon, "DELETE", "/api/status")
    assert (status, headers["allow"]) == (405, "GET")


def test_head_answers_like_get_without_a_body(daemon: Daemon) -> None:
    status, headers, body = ask(daemon, "HEAD", "/api/status/identity")
    assert (status, body) == (200, {})
    assert int(headers["content-length"]) > 0


def test_what_is_no_http_gets_the_envelope_too(daemon: Daemon) -> None:
    assert daemon.record is not None
    with socket.create_connection(("127.0.0.1", daemon.record.port), timeout=30) as raw:
        raw.sendall(b"this is no http\r\n\r\n")
        data = b""
        while block := raw.recv(4096):
            data += block
    head, _, body = data.partition(b"\r\n\r\n")
    assert b" 400 " in head
    assert "valid HTTP" in json.loads(body)["error"]


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_a_body_above_four_mib_is_refused_with_413(daemon: Daemon, transport: str) -> None:
    opener = daemon.client if transport == "unix" else daemon.tcp_client
    with opener() as client:
        error = refusal(client, "POST", "/api/drain", body=b"x" * (4 * 1024 * 1024 + 1))
        assert (error.status, str(error)) == (413, "request body too large")
        # The connection is closed after it; the client opens another one.
        assert client.request("GET", "/api/status/identity").status == 200


def test_a_declared_length_is_refused_before_anything_is_sent(daemon: Daemon) -> None:
    connection = tcp(daemon)
    try:
        connection.putrequest("POST", "/api/drain")
        connection.putheader("Content-Length", str(1 << 40))
        connection.endheaders()
        connection.sock.settimeout(30)
        head = connection.sock.recv(64)
    finally:
        connection.close()
    assert b" 413 " in head


def test_unknown_and_repeated_query_parameters_are_refused_on_writes_and_ignored_on_reads(
    daemon: Daemon,
) -> None:
    with daemon.client() as client:
        error = refusal(client, "POST", "/api/drain", query={"force": True})
        assert (error.status, error.code) == (400, "unknown_query_parameter")
        assert client.request("GET", "/api/status?a=1&a=2").status == 200


def test_drain_closes_admission_and_undrain_opens_it(daemon: Daemon) -> None:
    with daemon.client() as client:
        drained = client.request("POST", "/api/drain").json()
        assert isinstance(drained, dict)
        assert drained["state"] == "draining" and drained["admission_closed"] and drained["safe_to_stop"]
        status = client.request("GET", "/api/status").json()
        assert isinstance(status, dict) and status["daemon"]["draining"]
        opened = client.request("POST", "/api/undrain").json()
        assert isinstance(opened, dict) and opened["state"] == "active" and not opened["safe_to_stop"]


def test_every_answer_names_the_daemons_version(daemon: Daemon) -> None:
    with daemon.client() as client:
        client.request("GET", "/api/status/identity")
        assert client.server_version == __version__


def test_status_has_every_section_its_clients_read(daemon: Daemon) -> None:
    with daemon.client() as client:
        status = client.request("GET", "/api/status").json()
    assert isinstance(status, dict)
    sections = {
        "automation", "bridges", "config", "daemon", "generated_at", "health", "log_tail", "memory", "schema_version",
        "sessions", "skills", "subprocess_health", "tasks", "providers",
    }  # fmt: skip
    assert sections <= set(status)
    assert status["daemon"]["status"] == "running"
    assert status["sessions"] == {"active": 0, "total": 0, "by_status": {}} | status["sessions"]
    assert any(row["name"] == "offline" and row["default"] for row in status["providers"])


def test_the_doctor_filters_and_sums_up(daemon: Daemon) -> None:
    with daemon.client() as client:
        everything = client.request("GET", "/api/doctor").json()
        quiet = client.request("GET", "/api/doctor", query={"quiet": True}).json()
        provider = client.request("GET", "/api/doctor", query={"only": "provider"}).json()
    assert isinstance(everything, dict) and isinstance(quiet, dict) and isinstance(provider, dict)
    assert everything["summary"]["total"] == len(everything["items"])
    assert {item["severity"] for item in quiet["items"]} <= {"warn", "error", "critical"}
    assert {item["category"] for item in provider["items"]} == {"provider"}
    for item in everything["items"]:
        assert {"id", "code", "category", "title", "message", "severity", "data_freshness"} <= set(item)
