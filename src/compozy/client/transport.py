"""One HTTP connection to the daemon over its Unix socket or TCP: h11 on a blocking socket.

Blocking on purpose: the command line needs no event loop, and its start-up time is part of the product. Knows HTTP,
not the API.
"""

import os
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import h11

from compozy.client.errors import START_COMMAND, ConnectionLost, DaemonUnreachable

CONNECT_SECONDS = 5.0
_BLOCK = 64 * 1024
# Answers of the API are small; this bounds what a wrong peer can make us keep.
MAX_ANSWER_BYTES = 256 << 20


# Between two looks at a full queue: long enough for a busy daemon to take some callers in.
_QUEUE_PAUSE = 0.01


@dataclass(frozen=True)
class UnixAddress:
    """The daemon's socket."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class TcpAddress:
    """The daemon's HTTP listener."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


Address = UnixAddress | TcpAddress


@dataclass(frozen=True, kw_only=True)
class Head:
    """Status and headers of an answer; header names are lower case."""

    status: int
    headers: dict[str, str]


class Connection:
    """One connection; requests on it follow one another."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._socket = _open(address)
        self._http = h11.Connection(h11.CLIENT)
        self._deadline = 0.0

    def close(self) -> None:
        """Close the socket; safe to call twice."""
        self._socket.close()

    @property
    def is_reusable(self) -> bool:
        """Whether another request may be sent: the last one is done and the daemon has not closed."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        if self._http.our_state is not h11.IDLE or self._http.their_state is not h11.IDLE:
            return False
        # Nothing was asked, so readable can only mean closed.
        return not select.select([self._socket], [], [], 0)[0]

    def send(self, method: str, target: str, headers: Sequence[tuple[str, str]], body: bytes, timeout: float) -> Head:
        """Send one request and return the answer's head; `timeout` bounds the whole exchange."""
        self._deadline = time.monotonic() + timeout
        request = h11.Request(method=method, target=target, headers=[("host", self._host()), *headers])
        data = (self._http.send(request) or b"") + (self._http.send(h11.Data(data=body)) or b"" if body else b"")
        data += self._http.send(h11.EndOfMessage()) or b""
        try:
            self._socket.settimeout(timeout)
            self._socket.sendall(data)
        except TimeoutError:
            raise self._too_slow() from None
        except OSError:
            # The daemon may have answered (413, say) and closed before it read everything: read that answer.
            pass
        return self._head()

    def read_body(self) -> bytes:
        """Return the rest of the answer's body."""
        blocks: list[bytes] = []
        size = 0
        while True:
            event = self._next(wait=None)
            if isinstance(event, h11.Data):
                blocks.append(bytes(event.data))
                size += len(event.data)
                if size > MAX_ANSWER_BYTES:
                    raise ConnectionLost(f"the answer of {self.address} is too large; is that the daemon?")
            elif isinstance(event, h11.EndOfMessage):
                return b"".join(blocks)

    def read_block(self, wait: float | None) -> bytes | None:
        """Return the next bytes of a streamed body: b"" at its end, None when `wait` seconds passed without any."""
        self._deadline = float("inf")
        event = self._next(wait=wait)
        if event is None:
            return None
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    def _head(self) -> Head:
        while True:
            event = self._next(wait=None)
            if isinstance(event, h11.Response):
                headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
                return Head(status=event.status_code, headers=headers)

    def _next(self, *, wait: float | None) -> h11.Event | None:
        """Return the next event; None only when `wait` is given and passed."""
        is_closed = False
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                if is_closed:
                    raise ConnectionLost(
                        f"{self.address} closed the connection before its answer was complete; try again"
                    ) from error
                raise ConnectionLost(f"the connection to {self.address} broke off: {error}; try again") from error
            if event is h11.NEED_DATA:
                if not self._wait_readable(wait):
                    return None
                data = self._receive()
                is_closed = not data
                self._http.receive_data(data)
            elif isinstance(event, h11.ConnectionClosed):
                raise ConnectionLost(f"{self.address} closed the connection without an answer; try again")
            elif not isinstance(event, h11.InformationalResponse) and not isinstance(event, type):
                return event

    def _wait_readable(self, wait: float | None) -> bool:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._too_slow()
        limit = min(left, wait) if wait is not None else left
        readable, _, _ = select.select([self._socket], [], [], None if limit == float("inf") else limit)
        if readable:
            return True
        if wait is not None and limit == wait:
            return False
        raise self._too_slow()

    def _receive(self) -> bytes:
        try:
            return self._socket.recv(_BLOCK)
        except OSError as error:
            raise ConnectionLost(
                f"the connection to {self.address} broke off: {error.strerror}; try again"
            ) from error

    def _host(self) -> str:
        return str(self.address) if isinstance(self.address, TcpAddress) else "localhost"

    def _too_slow(self) -> ConnectionLost:
        return ConnectionLost(f"no answer from {self.address} in time; look at the daemon with `compozy status`")


def _open(address: Address) -> socket.socket:
    family = socket.AF_UNIX if isinstance(address, UnixAddress) else socket.AF_INET
    if isinstance(address, TcpAddress) and ":" in address.host:
        family = socket.AF_INET6
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.settimeout(CONNECT_SECONDS)
    try:
        if isinstance(address, UnixAddress):
            _connect_when_there_is_room(connection, os.fspath(address.path))
        else:
            host = "127.0.0.1" if address.host == "localhost" else address.host.strip("[]")
            connection.connect((host, address.port))
    except OSError as error:
        connection.close()
        # Starting a daemon helps nobody whom its socket refuses.
        hint = None if isinstance(error, PermissionError) else START_COMMAND
        raise DaemonUnreachable(_unreachable(address, error), hint=hint) from error
    return connection


def _connect_when_there_is_room(connection: socket.socket, path: str) -> None:
    """Connect to a Unix socket. A blocking caller waits while the queue is full; one with a timeout is refused."""
    deadline = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            connection.connect(path)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_QUEUE_PAUSE)


def _unreachable(address: Address, error: OSError) -> str:
    if isinstance(error, FileNotFoundError | ConnectionRefusedError):
        return "the daemon is not running; start it and try again"
    if isinstance(error, PermissionError):
        return f"this user may not use the daemon's socket {str(address)!r}; run as the user who started it"
    return f"cannot reach the daemon at {str(address)!r}: {error.strerror or error}; start it and try again"


def encode_headers(headers: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """Return headers as h11 takes them."""
    return [(name.lower(), value) for name, value in (headers or {}).items()]
