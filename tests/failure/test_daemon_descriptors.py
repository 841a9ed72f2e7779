"""Connections that come and go, in every rude way, leave no descriptor behind (P63)."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.daemons import Daemon, make_home, wait_until


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    started = Daemon(make_home(tmp_path / "home", http=False)).start()
    yield started
    started.end()


def test_a_thousand_connections_that_end_rudely_leave_nothing_open(daemon: Daemon) -> None:
    with daemon.client() as client:
        client.request("GET", "/api/status/identity")
    before = daemon.descriptors()
    beginnings = (
        b"",
        b"GET /api/status/identity HTTP/1.1\r\n",
        b"GET /api/status/identity HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /api/drain HTTP/1.1\r\nContent-Length: 100\r\n\r\n{",
        b"\x00\xff" * 50,
    )
    for number in range(1000):
        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(str(daemon.home.socket))
            raw.sendall(beginnings[number % len(beginnings)])
    wait_until(lambda: daemon.descriptors() <= before + 5, "the connections are closed")
    with daemon.client() as client:
        assert client.request("GET", "/api/status/identity").status == 200
