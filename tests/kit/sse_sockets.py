"""Many event streams read by one thread over the daemon's socket: what came on each, unchunked and split into frames.

``python -m tests.kit.sse_sockets SOCKET TARGET`` reads one stream to the event ``done`` and prints its ids: a
subscriber in a process of its own, which a test can stop.
"""

import json
import re
import selectors
import socket
import sys
import time
from pathlib import Path

PATIENCE = 60.0
_CHUNK = re.compile(rb"([0-9a-fA-F]+)\r\n")


class SseSocket:
    """One stream; `frames` are the complete ones that came so far."""

    def __init__(self, path: Path, target: str, *, buffer: int = 0) -> None:
        self.link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if buffer:
            self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.link.settimeout(PATIENCE)
        self.link.connect(str(path))
        self.link.sendall(f"GET {target} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n".encode())
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.link.recv(65536)
        head, _, self._raw = data.partition(b"\r\n\r\n")
        assert b" 200 " in head.splitlines()[0], head
        self._text = b""
        self.frames: list[tuple[str, str, str]] = []
        self.is_over = False
        self._take(b"")

    def read(self) -> None:
        """Take what is there; waits for the first byte."""
        self._take(self.link.recv(1 << 20))

    def _take(self, data: bytes) -> None:
        self._raw += data
        while (match := _CHUNK.match(self._raw)) is not None:
            size = int(match[1], 16)
            end = match.end() + size
            if len(self._raw) < end + 2:
                break
            self._text += self._raw[match.end() : end]
            self._raw = self._raw[end + 2 :]
            if size == 0:
                self.is_over = True
                break
        *blocks, self._text = self._text.split(b"\n\n")
        for block in blocks:
            fields = dict(
                line.partition(": ")[::2] for line in block.decode().split("\n") if not line.startswith(":")
            )
            if fields:
                self.frames.append((fields.get("event", ""), fields.get("id", ""), fields.get("data", "")))

    def kinds(self) -> list[str]:
        return [kind for kind, _, _ in self.frames]

    def ids(self) -> list[int]:
        return [int(number) for _, number, _ in self.frames if number]

    def close(self) -> None:
        self.link.close()


def read_until_done(streams: list[SseSocket], wanted: str) -> None:
    """Read all streams until each has seen an event of that kind, or ended."""
    deadline = time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as ready:
        for stream in streams:
            if wanted not in stream.kinds():
                ready.register(stream.link, selectors.EVENT_READ, stream)
        while ready.get_map():
            assert time.monotonic() < deadline, f"{len(ready.get_map())} streams saw no {wanted!r}"
            for key, _ in ready.select(1.0):
                stream = key.data
                stream.read()
                if stream.is_over or any(kind == wanted for kind, _, _ in stream.frames[-2000:]):
                    ready.unregister(stream.link)


if __name__ == "__main__":
    alone = SseSocket(Path(sys.argv[1]), sys.argv[2])
    print("ready", flush=True)
    read_until_done([alone], "done")
    print(json.dumps(alone.ids()), flush=True)
