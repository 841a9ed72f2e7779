"""The two listening sockets: how they are made, guarded against leftovers, and removed (contract §1.3, §1.4; P65).

Makes and removes sockets; what is served on them is the business of `server.py`.
"""

import contextlib
import errno
import os
import socket
import stat
from pathlib import Path

from compozy.config.errors import HomeError
from compozy.model.errors import LocalError

# What the kernel queues while the loop is busy.
BACKLOG = 1024
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class PortTaken(LocalError):
    """The HTTP port cannot be bound."""

    default_code = "port_unavailable"


def bind_tcp(host: str, port: int) -> socket.socket:
    """Bind the HTTP address without listening yet, so that a taken port is known before anything is opened.

    Raises:
        PortTaken: the port is in use, forbidden, or the host is not an address of this machine.
    """
    address = "127.0.0.1" if host.strip().lower() == "localhost" else host.strip().strip("[]")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # IPPROTO_TCP must be named: without it asyncio does not set TCP_NODELAY and answers wait 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        # Two sockets may bind one port with SO_REUSEADDR; only one may listen.
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise PortTaken(_bind_message(host, port, error)) from error
    listener.setblocking(False)
    return listener


def _bind_message(host: str, port: int, error: OSError) -> str:
    advice = "set another [http] port in config.toml, or [http] enabled = false to serve the socket only"
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host!r} is in use by another program; stop it, {advice}"
    if error.errno == errno.EACCES:
        return f"port {port} on {host!r} may not be used by this user; {advice}"
    return f"cannot listen on {host!r} port {port}: {error.strerror}; {advice}"


def bind_unix(path: Path) -> socket.socket:
    """Listen on the Unix socket, 0600. The caller holds the daemon lock, so a socket nobody serves is a leftover.

    Raises:
        HomeError: something else lies there, another program serves it, or it cannot be made.
    """
    _remove_leftover(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Between bind and chmod nobody else may connect.
    before = os.umask(0o177)
    try:
        listener.bind(os.fspath(path))
        path.chmod(0o600)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise HomeError(
            f"cannot listen on socket {str(path)!r}: {error.strerror}; check its folder, or set [daemon] socket"
        ) from error
    finally:
        os.umask(before)
    listener.setblocking(False)
    return listener


def _remove_leftover(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise HomeError(f"cannot look at {str(path)!r}: {error.strerror}; check its folder") from error
    if not stat.S_ISSOCK(found.st_mode):
        raise HomeError(f"{str(path)!r} is not a socket and is left alone; move it away and start again")
    if is_served(path):
        raise HomeError(
            f"another program serves socket {str(path)!r}; stop it, or set [daemon] socket to another path"
        )
    path.unlink(missing_ok=True)


def is_served(path: Path) -> bool:
    """Whether somebody accepts connections on this socket now."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError as error:
            # A full queue or a timeout means that somebody is there.
            return error.errno not in (errno.ENOTSOCK, errno.EPROTOTYPE)
    return True


def socket_identity(path: Path) -> tuple[int, int]:
    """Return device and inode, to tell our socket from a later one at the same path."""
    found = path.lstat()
    return found.st_dev, found.st_ino


def remove_unix(path: Path, identity: tuple[int, int]) -> None:
    """Remove the socket if it is still the one we made."""
    with contextlib.suppress(OSError):
        if socket_identity(path) == identity:
            path.unlink()


def is_loopback_host(host: str) -> bool:
    """Whether a configured host keeps the listener on this machine."""
    text = host.strip().lower().strip("[]")
    return text in _LOOPBACK or (text.startswith("127.") and text.replace(".", "").isdigit())
