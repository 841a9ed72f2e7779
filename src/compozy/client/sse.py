"""Reading server-sent events: bytes in, events out (the WHATWG rules for `data`, `event`, `id`, comments)."""

from collections.abc import Iterator
from dataclasses import dataclass

# A frame of the API holds one event; more than this without its end is no stream of ours.
MAX_EVENT_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class ServerSentEvent:
    """One event: `event` is ``message`` when the server named none; `id` is the last id seen on the stream."""

    event: str
    id: str
    data: str


class SseParser:
    """Feeds on blocks as they arrive; keeps what is not complete yet."""

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id
        self._rest = b""
        self._data: list[str] = []
        self._event = ""

    def feed(self, block: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events this block completes.

        Raises:
            ValueError: one event is larger than 64 MiB.
        """
        buffer = self._rest + block
        lines = buffer.replace(b"\r\n", b"\n").split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > MAX_EVENT_BYTES:
            raise ValueError("an event of the stream is larger than 64 MiB")
        for line in lines:
            if line:
                self._field(line.decode("utf-8", "replace"))
            elif self._data or self._event:
                event = self._take()
                if event is not None:
                    yield event

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self.last_id = value

    def _take(self) -> ServerSentEvent | None:
        data, name = self._data, self._event
        self._data, self._event = [], ""
        if not data:
            return None
        return ServerSentEvent(event=name or "message", id=self.last_id, data="\n".join(data))
