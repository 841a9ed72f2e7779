"""Calls of the API: one request and its answer, or a stream of events (contract §3, §4).

Synchronous, over the Unix socket first. Answers that are no success raise `ApiError` with the daemon's envelope.
A stream that breaks off can be resumed where it stood, because its ids are stored sequences.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urlencode

from compozy.client.errors import ApiError, ConnectionLost, DaemonUnreachable
from compozy.client.sse import ServerSentEvent, SseParser
from compozy.client.transport import Address, Connection, Head, encode_headers

Query = Mapping[str, str | int | bool | None]
# How often and how patiently a broken stream is taken up again.
RESUME_ATTEMPTS = 6
_RESUME_PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A complete answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    def json(self) -> object:
        """Return the decoded body; None for an empty one.

        Raises:
            ConnectionLost: the body is no JSON, so it was not our daemon that answered.
        """
        if not self.body:
            return None
        try:
            value: object = json.loads(self.body)
        except ValueError as error:
            raise ConnectionLost("the answer is no JSON; is another program listening there?") from error
        return value


class EventStream:
    """The events of one answer, in order; `answer` is set instead when the daemon answered with plain JSON."""

    def __init__(self, client: "DaemonClient", request: "_Request", *, tick: float | None, resume: bool) -> None:
        self._client = client
        self._request = request
        self._tick = tick
        self._resume = resume
        self._parser = SseParser()
        self.answer: Answer | None = None
        self.headers: Mapping[str, str] = {}
        self._connection = self._open()

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the stream; what it shows goes on in the daemon."""
        self._connection.close()

    @property
    def last_id(self) -> str:
        """The id of the last event, to resume after it."""
        return self._parser.last_id

    def __iter__(self) -> Iterator[ServerSentEvent | None]:
        """Yield events until the stream ends; None after each `tick` seconds without one.

        Raises:
            ConnectionLost: the stream broke off and was not, or could not be, resumed.
        """
        if self.answer is not None:
            return
        while True:
            try:
                block = self._connection.read_block(self._tick)
            except ConnectionLost as error:
                yield from self._take_up(error)
                continue
            if block is None:
                yield None
            elif not block:
                return
            else:
                yield from self._parser.feed(block)

    def _take_up(self, error: ConnectionLost) -> Iterator[None]:
        """Connect again after the last event that arrived."""
        if not self._resume:
            raise error
        for pause in _RESUME_PAUSES[:RESUME_ATTEMPTS]:
            self._connection.close()
            deadline = time.monotonic() + pause
            while (left := deadline - time.monotonic()) > 0:
                time.sleep(min(left, self._tick or left))
                yield None
            try:
                self._connection = self._open()
                return
            except (ConnectionLost, DaemonUnreachable):
                continue
        raise error

    def _open(self) -> Connection:
        headers = dict(self._request.headers)
        headers.setdefault("accept", "text/event-stream")
        if self._parser.last_id:
            headers["last-event-id"] = self._parser.last_id
            self._parser = SseParser(self._parser.last_id)
        connection = self._client.new_connection()
        try:
            head = self._client.exchange(connection, self._request, headers)
            self.headers = head.headers
            if head.headers.get("content-type", "").startswith("text/event-stream"):
                return connection
            self.answer = self._client.finish(connection, head)
        except BaseException:
            connection.close()
            raise
        return connection


@dataclass(frozen=True, kw_only=True)
class _Request:
    method: str
    target: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    timeout: float = 30.0


class DaemonClient:
    """Talks to one daemon. `server_version` is known after the first answer."""

    def __init__(self, address: Address, *, connection: Connection | None = None) -> None:
        self.address = address
        self.server_version = ""
        self._connection = connection

    def __enter__(self) -> "DaemonClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the kept connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30,
    ) -> Answer:
        """Make one call; `body` is encoded as JSON, bytes are sent as they are, None sends nothing.

        Raises:
            ApiError: the answer is no success.
            DaemonUnreachable: no daemon answers.
            ConnectionLost: the answer broke off or took longer than `timeout` seconds.
        """
        prepared = _prepare(method, path, query=query, body=body, headers=headers, timeout=timeout)
        connection = self._kept_connection()
        try:
            head = self.exchange(connection, prepared, prepared.headers)
            return self.finish(connection, head)
        except ConnectionLost:
            self.close()
            raise

    def stream(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        tick: float | None = None,
        resume: bool = False,
        timeout: float = 30,
    ) -> EventStream:
        """Open a stream of events on a connection of its own; use it as a context manager and iterate.

        Args:
            tick: yield None after this many seconds without an event, so that a status line can move.
            resume: take a broken stream up again after its last id. For GET streams only.
            timeout: seconds until the head of the answer; the stream itself has no limit.
        """
        prepared = _prepare(method, path, query=query, body=body, headers=headers, timeout=timeout)
        return EventStream(self, prepared, tick=tick, resume=resume and method == "GET")

    def new_connection(self) -> Connection:
        """Open a connection.

        Raises:
            DaemonUnreachable: nobody listens.
        """
        return Connection(self.address)

    def exchange(self, connection: Connection, request: _Request, headers: Mapping[str, str]) -> Head:
        """Send a request and read the answer's head; a refusal is read completely and raised."""
        head = connection.send(
            request.method, request.target, encode_headers(headers), request.body, timeout=request.timeout
        )
        self.server_version = head.headers.get("x-compozy-version", self.server_version)
        if head.status >= 400:
            raise ApiError(head.status, _envelope(head, connection.read_body()), head.headers)
        return head

    def finish(self, connection: Connection, head: Head) -> Answer:
        """Read the body of an answer."""
        return Answer(status=head.status, headers=head.headers, body=connection.read_body())

    def _kept_connection(self) -> Connection:
        if self._connection is not None and not self._connection.is_reusable:
            self.close()
        if self._connection is None:
            self._connection = self.new_connection()
        return self._connection


def _prepare(
    method: str,
    path: str,
    *,
    query: Query | None,
    body: object,
    headers: Mapping[str, str] | None,
    timeout: float,
) -> _Request:
    pairs = {name: _text(value) for name, value in (query or {}).items() if value is not None}
    sent = {name.lower(): value for name, value in (headers or {}).items()}
    data = b""
    if isinstance(body, bytes):
        data = body
    elif body is not None:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        sent.setdefault("content-type", "application/json")
    sent["content-length"] = str(len(data))
    target = f"{path}?{urlencode(pairs)}" if pairs else path
    return _Request(method=method, target=target, body=data, headers=sent, timeout=timeout)


def _text(value: str | int | bool) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _envelope(head: Head, body: bytes) -> dict[str, object]:
    try:
        raw: object = json.loads(body)
    except ValueError:
        raw = None
    if isinstance(raw, dict) and "error" in raw:
        return raw
    return {
        "error": f"the daemon answered with status {head.status} and no reason; is another program listening there?"
    }
