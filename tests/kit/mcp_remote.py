"""Programs of the SDK's server side that tests reach over http, and a browser that is a handful of redirects."""

import contextlib
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tests.kit.daemons import free_port, wait_until

_ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def program(module: str, *arguments: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until left; it accepts connections when this returns."""
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], cwd=_ROOT)
    try:
        wait_until(lambda: _accepts(port), f"{module} accepts connections")
        yield process
    finally:
        process.kill()
        process.wait(30)


@contextlib.contextmanager
def guarded_server(folder: Path, *how: str, seconds: int = 3600) -> Iterator[tuple[str, Path]]:
    """Run a server that asks for a login (`how`: see `mcp_oauth.py`); give its address and its log."""
    port, log = free_port(), folder / "authority.log"
    words = [str(port), str(seconds), str(log), *how]
    with program("tests.kit.mcp_oauth", *words, port=port):
        yield f"http://127.0.0.1:{port}/mcp", log


def browse(url: str) -> str:
    """Follow the login's redirects as a browser would; return the last page."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            found: bytes = answer.read()
    except urllib.error.HTTPError as error:
        found = error.read()
    return found.decode()


def post(url: str) -> None:
    """Tell a server something."""
    request = urllib.request.Request(url, data=b"", method="POST")
    urllib.request.urlopen(request, timeout=30).close()


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
