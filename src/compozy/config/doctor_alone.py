"""What the doctor can say only while no daemon runs: whose store lies in the home, and whether the port is free.

Reads the first bytes of `compozy.db` without SQLite, so that nothing appears beside another program's file
(decisions D22). Binds the port for a moment and lets it go.
"""

import shlex
import socket
from collections.abc import Iterator

from compozy.config.config import Config
from compozy.config.errors import ConfigError
from compozy.config.findings import Finding, finding
from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.model.store_mark import HEADER_BYTES, maker_of

# How far the search for a free port goes; a machine where all of these are taken has other troubles.
_PORTS_TRIED = 50
_LAST_PORT = 65535


def findings_without_daemon(home: Home) -> Iterator[Finding]:
    """Yield what would keep the next start from succeeding."""
    yield from _store(home)
    try:
        config = load_config(home)
    except ConfigError:
        # Its own finding says so.
        return
    yield from _port(config)


def _store(home: Home) -> Iterator[Finding]:
    path = home.database
    try:
        with path.open("rb") as file:
            maker = maker_of(file.read(HEADER_BYTES))
    except FileNotFoundError:
        return
    except OSError as error:
        text = f"the store {str(path)!r} cannot be read: {error.strerror}; check its owner and mode"
        yield finding("store", "store_unreadable", "error", text, command=f"ls -l {shlex.quote(str(path))}")
        return
    name = shlex.quote(str(path))
    if maker == "foreign":
        text = f"{str(path)!r} was made by another program and is left untouched; the daemon cannot start beside it"
        yield finding("store", "store_foreign", "error", text, command=f"mv {name} {name}.foreign")
    elif maker == "damaged":
        text = f"the store {str(path)!r} does not begin like a database; put a backup in its place or move it away"
        yield finding("store", "store_damaged", "error", text, command=f"mv {name} {name}.damaged")
    elif maker == "ours":
        yield finding("store", "store_found", "ok", f"the store {str(path)!r} is this program's", freshness="offline")


def _port(config: Config) -> Iterator[Finding]:
    if not config.http.enabled:
        return
    host, port = config.http.host, config.http.port
    reason = _taken(host, port)
    if not reason:
        yield finding("http", "port_free", "ok", f"port {port} is free", freshness="offline")
        return
    free = next((one for one in range(port + 1, min(port + _PORTS_TRIED, _LAST_PORT)) if not _taken(host, one)), 0)
    text = f"{host}:{port} cannot be used by the daemon: {reason}; end the other program or choose another port"
    command = f"compozy config set http.port {free}" if free else "compozy config set http.enabled false"
    yield finding("http", "port_taken", "error", text, command=command, freshness="offline")


def _taken(host: str, port: int) -> str:
    """Return why the daemon could not listen there, "" when it could; bound as it binds."""
    address = "127.0.0.1" if host.strip().lower() == "localhost" else host.strip().strip("[]")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
            # Two sockets may bind one port this way; only one may listen.
            probe.listen(1)
    except OSError as error:
        return str(error.strerror or error).lower()
    return ""
