"""Calls that go wrong: nobody there, no answer, answers of strangers; and connections that are used again."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compozy.client import ApiError, ConnectionLost, DaemonClient, DaemonUnreachable, connect, connect_tcp
from compozy.client.transport import UnixAddress
from compozy.config.daemon_record import DaemonRecord, write_record
from compozy.config.home import Home

PATIENCE = 30.0
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Compozy-Version: 9.9.9\r\n\r\n{}"


@contextmanager
def peer(path: Path, behave: Callable[[socket.socket], None], *, connections: int = 1) -> Iterator[UnixAddress]:
    """A listener whose connections are handled by `behave`, one after another."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.settimeout(PATIENCE)
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            for _ in range(connections):
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(PATIENCE)
                    behave(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield UnixAddress(path)
        thread.join(PATIENCE)
        assert not thread.is_alive()


@contextmanager
def talking_to(
    path: Path, behave: Callable[[socket.socket], None], *, connections: int = 1
) -> Iterator[DaemonClient]:
    """A client of such a listener."""
    with peer(path, behave, connections=connections) as address, DaemonClient(address) as client:
        yield client


def answer(data: bytes) -> Callable[[socket.socket], None]:
    def behave(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(data)

    return behave


def test_without_a_daemon_the_error_names_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(DaemonUnreachable, match="the daemon is not running") as caught:
        connect(Home(tmp_path))
    assert (caught.value.exit_code, caught.value.hint) == (69, "compozy daemon start")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(DaemonUnreachable):
            connect_tcp("localhost", unused.getsockname()[1])


def test_the_record_leads_to_a_socket_outside_the_home(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.root.mkdir()
    elsewhere = tmp_path / "s"
    record = DaemonRecord(pid=1, port=0, started_at="", socket=str(elsewhere))
    write_record(home.record_file, record)
    with peer(elsewhere, answer(OK)), connect(home) as client:
        assert client.request("GET", "/").json() == {}


def test_the_homes_own_socket_comes_before_a_record_that_was_copied_along(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.root.mkdir()
    write_record(home.record_file, DaemonRecord(pid=1, port=0, started_at="", socket=str(tmp_path / "other")))
    with peer(home.socket, answer(OK)), connect(home) as client:
        assert client.address == UnixAddress(home.socket)
        client.request("GET", "/")


def test_an_answer_that_breaks_off_is_no_answer(tmp_path: Path) -> None:
    with (
        talking_to(tmp_path / "s", answer(OK[:-1])) as client,
        pytest.raises(ConnectionLost, match="closed the connection before its answer was complete; try again"),
    ):
        client.request("GET", "/")


def test_a_daemon_that_says_nothing_is_given_up_after_the_timeout(tmp_path: Path) -> None:
    def silent(connection: socket.socket) -> None:
        while connection.recv(65536):
            pass

    with talking_to(tmp_path / "s", silent) as client, pytest.raises(ConnectionLost, match="no answer"):
        client.request("GET", "/", timeout=0.05)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"x": 1}', b""])
def test_a_refusal_of_a_stranger_still_is_one_sentence(tmp_path: Path, body: bytes) -> None:
    data = b"HTTP/1.1 502 Bad\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with talking_to(tmp_path / "s", answer(data)) as client, pytest.raises(ApiError, match="status 502") as caught:
        client.request("GET", "/")
    assert (caught.value.status, caught.value.exit_code) == (502, 69)


def test_an_answer_that_is_no_json_or_no_http_is_said_so(tmp_path: Path) -> None:
    html = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"
    with talking_to(tmp_path / "a", answer(html)) as client, pytest.raises(ConnectionLost, match="no JSON"):
        client.request("GET", "/").json()
    with talking_to(tmp_path / "b", answer(b"SSH-2.0-x\r\n\r\n")) as client, pytest.raises(ConnectionLost):
        client.request("GET", "/")


def test_a_connection_is_used_again_and_replaced_once_the_daemon_closed_it(tmp_path: Path) -> None:
    served: list[int] = []

    def twice(connection: socket.socket) -> None:
        for _ in range(2):
            if not connection.recv(65536):
                return
            served.append(connection.fileno())
            connection.sendall(OK)

    with talking_to(tmp_path / "s", twice, connections=2) as client:
        for _ in range(2):
            client.request("GET", "/")
        first = client._connection
        assert first is not None
        while first.is_reusable:
            pass
        client.request("GET", "/")
        assert client._connection is not first
        client.close()
    assert len(served) == 3


def test_a_stream_may_be_answered_with_plain_json(tmp_path: Path) -> None:
    body = b'{"queued": true}'
    head = b"HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with (
        talking_to(tmp_path / "s", answer(head + body)) as client,
        client.stream("POST", "/prompt", body={"message": "x"}) as stream,
    ):
        assert list(stream) == []
        assert stream.answer is not None
        assert (stream.answer.status, stream.answer.json()) == (202, {"queued": True})


def test_query_values_and_bodies_are_spelled_for_the_api(tmp_path: Path) -> None:
    seen: list[bytes] = []

    def keep(connection: socket.socket) -> None:
        seen.append(connection.recv(65536))
        connection.sendall(OK)

    with talking_to(tmp_path / "s", keep) as client:
        client.request("POST", "/api/x", query={"a": True, "b": None, "c": "d e&f", "n": 3}, body={"t": "ü"})
        assert client.server_version == "9.9.9"
    head, _, body = seen[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /api/x?a=true&c=d+e%26f&n=3 HTTP/1.1")
    assert b"content-type: application/json" in head
    assert body == '{"t":"ü"}'.encode()


def test_a_queue_that_is_full_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(4)]
        for caller in waiting:
            caller.setblocking(False)
            try:
                caller.connect(str(tmp_path / "s"))
            except BlockingIOError:
                break
        else:
            pytest.fail("the queue never filled up")
        taken: list[socket.socket] = []
        # Late enough that the client meets the full queue first.
        taker = threading.Timer(0.2, lambda: taken.extend(listener.accept()[0] for _ in range(2)))
        taker.start()
        with DaemonClient(UnixAddress(tmp_path / "s")) as client:
            client.new_connection().close()
        taker.join(30)
        for opened in (*waiting, *taken):
            opened.close()
