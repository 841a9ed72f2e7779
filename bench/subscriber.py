"""One subscriber of a session's raw stream, in a process of its own and with as little work as possible.

``python -m bench.subscriber SOCKET TARGET`` prints ``ready`` once its stream is open, keeps all bytes until the
event ``done`` of the turn, then one JSON line: how many events came, whether their ids were consecutive, and when.
"""

import json
import re
import socket
import sys
import time

_END = b"\nevent: done\n"
_BLOCK = 1 << 20


def read_stream(path: str, target: str) -> dict[str, object]:
    """Read the stream to the end of the turn and count."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(path)
        link.sendall(f"GET {target} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n".encode())
        data = bytearray()
        while b"\r\n\r\n" not in data:
            data += link.recv(_BLOCK)
        head, _, rest = bytes(data).partition(b"\r\n\r\n")
        if b" 200 " not in head.splitlines()[0]:
            raise SystemExit(head.decode())
        print("ready", flush=True)
        blocks, tail, first = [rest], rest, 0.0
        while _END not in tail:
            block = link.recv(_BLOCK)
            if not block:
                break
            first = first or time.monotonic()
            blocks.append(block)
            tail = tail[-len(_END) :] + block
        last = time.monotonic()
    ids = [int(number) for number in re.findall(rb"^id: (\d+)$", dechunk(b"".join(blocks)), re.MULTILINE)]
    return {
        "events": len(ids),
        "consecutive": ids == list(range(ids[0], ids[0] + len(ids))) if ids else False,
        "first": first,
        "last": last,
    }


def dechunk(data: bytes) -> bytes:
    """Take HTTP's chunk lengths out; an unfinished last chunk is kept as far as it came."""
    parts, place = [], 0
    while place < len(data):
        end = data.find(b"\r\n", place)
        if end < 0:
            break
        size = int(data[place:end].split(b";")[0], 16)
        parts.append(data[end + 2 : end + 2 + size])
        place = end + 2 + size + 2
    return b"".join(parts)


if __name__ == "__main__":
    print(json.dumps(read_stream(sys.argv[1], sys.argv[2])), flush=True)
