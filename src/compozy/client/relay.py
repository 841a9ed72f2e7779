"""The stdio side of our MCP servers: messages between a client's pipes and the daemon's socket (contract §6.4).

Forwards lines and understands none of them; the MCP server lives in the daemon, so that this process starts in a
blink and imports nothing of an SDK. Ends with its standard input, or when the daemon ends the connection.
"""

import json
import threading
from collections.abc import Callable
from typing import BinaryIO

from compozy.client.connect import connect
from compozy.client.daemon_client import DaemonClient
from compozy.client.errors import ApiError
from compozy.config.home import Home
from compozy.model.errors import LocalError

_HOSTED, _FLEET = "/api/internal/hosted-mcp", "/api/internal/mcp-serve"
# The first message may wait for the daemon to load its MCP server; later ones are taken at once.
_TAKE_SECONDS = 60.0
_INTERNAL_ERROR = -32603


def relay_fleet(home: Home, workspace: str, source: BinaryIO, sink: BinaryIO, *, read_only: bool) -> None:
    """Open a connection for a client outside and forward until one side ends.

    Raises:
        ApiError: there is no such workspace, or too many are connected.
        DaemonUnreachable, ConnectionLost: the daemon cannot be reached.
    """
    _relay(home, _FLEET, "open", {"workspace": workspace, "read_only": read_only}, source, sink)


def relay(home: Home, session_id: str, nonce: str, source: BinaryIO, sink: BinaryIO) -> None:
    """Bind with the launch's nonce and forward until one side ends.

    Raises:
        ApiError: the daemon refuses the bind.
        DaemonUnreachable, ConnectionLost: it cannot be reached.
    """
    _relay(home, _HOSTED, "bind", {"session_id": session_id, "bind_nonce": nonce}, source, sink)


def _relay(home: Home, base: str, opening: str, body: dict[str, object], source: BinaryIO, sink: BinaryIO) -> None:
    client = connect(home)
    answer = client.request("POST", f"{base}/{opening}", body=body).json()
    bind_id = str(answer["bind_id"]) if isinstance(answer, dict) else ""
    lock = threading.Lock()

    def write(line: bytes) -> None:
        with lock:
            sink.write(line + b"\n")
            sink.flush()

    with client.stream("GET", f"{base}/messages/stream", query={"bind_id": bind_id}) as stream:
        # A thread of its own, never joined: nothing wakes a read of a pipe whose other end stays open.
        threading.Thread(target=_forward, args=(client, base, bind_id, source, write), daemon=True).start()
        for event in stream:
            if event is not None and event.event == "message":
                write(event.data.encode())


def _forward(client: DaemonClient, base: str, bind_id: str, source: BinaryIO, write: Callable[[bytes], None]) -> None:
    """Hand each line to the daemon, in order; at the end of the input release the binding."""
    try:
        while line := source.readline():
            if line.strip():
                _hand_over(client, base, bind_id, line, write)
        client.request("POST", f"{base}/release", body={"bind_id": bind_id})
    except LocalError:
        # The daemon or the binding is gone; the stream's end says so to the main thread.
        return


def _hand_over(client: DaemonClient, base: str, bind_id: str, line: bytes, write: Callable[[bytes], None]) -> None:
    message = {"bind_id": bind_id, "message": line.decode("utf-8", "replace").strip()}
    try:
        client.request("POST", f"{base}/messages", body=message, timeout=_TAKE_SECONDS)
    except ApiError as error:
        if error.status in (403, 503):
            raise
        # Too large, say: whoever asked gets an answer and the connection goes on.
        asked = _request_id(line)
        if asked is not None:
            fault = {"code": _INTERNAL_ERROR, "message": error.message}
            write(json.dumps({"jsonrpc": "2.0", "id": asked, "error": fault}).encode())


def _request_id(line: bytes) -> str | int | None:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, str | int) else None
