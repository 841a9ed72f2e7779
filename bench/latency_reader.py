"""Several subscribers of raw streams in one process: how old each update of the clock agent is when it arrives.

``python -m bench.latency_reader SOCKET COUNT TARGET…`` prints ``ready`` once all streams are open, reads until COUNT
updates came, then one JSON list of ages in milliseconds. An update arrives only after it is on the disk.
"""

import json
import re
import selectors
import socket
import sys
import time

# The event's own text, not the one in the agent's update behind it.
_SENT = re.compile(rb'"text":"@(\d+)@ ","raw"')
_PATIENCE = 60.0


def open_stream(path: str, target: str) -> socket.socket:
    """Return a socket on which frames come."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(path)
    link.sendall(f"GET {target} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += link.recv(65536)
    if b" 200 " not in head.splitlines()[0]:
        raise SystemExit(head.decode())
    return link


def main() -> None:
    """Read until enough came."""
    path, wanted, targets = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    ages: list[float] = []
    # What came of a frame that is not whole yet.
    rests: dict[int, bytes] = {}
    with selectors.DefaultSelector() as ready:
        for target in targets:
            ready.register(open_stream(path, target), selectors.EVENT_READ)
        print("ready", flush=True)
        deadline = time.monotonic() + _PATIENCE
        while len(ages) < wanted and time.monotonic() < deadline:
            for key, _ in ready.select(1.0):
                data = rests.get(key.fd, b"") + key.fileobj.recv(1 << 20)  # type: ignore[union-attr]
                now = time.monotonic_ns()
                data, _, rests[key.fd] = data.rpartition(b"\n\n")
                ages.extend((now - int(sent)) / 1e6 for sent in _SENT.findall(data))
    print(json.dumps(ages), flush=True)


if __name__ == "__main__":
    main()
