"""Finding the daemon of a home: its socket in the home, or the one its record names (P65)."""

from pathlib import Path

from compozy.client.daemon_client import DaemonClient
from compozy.client.errors import DaemonUnreachable
from compozy.client.transport import Connection, TcpAddress, UnixAddress
from compozy.config.daemon_record import read_record
from compozy.config.home import Home


def connect(home: Home) -> DaemonClient:
    """Return a client that is connected to the home's daemon over its socket.

    The home's own socket comes first: a copied home brings a record that names another home's socket.

    Raises:
        DaemonUnreachable: nobody listens; exit code 69.
    """
    if home.socket.exists():
        try:
            return _connected(home.socket)
        except DaemonUnreachable:
            elsewhere = _recorded_socket(home)
            if elsewhere in (None, home.socket):
                raise
    elsewhere = _recorded_socket(home)
    return _connected(elsewhere or home.socket)


def connect_tcp(host: str, port: int) -> DaemonClient:
    """Return a client that is connected over HTTP on loopback.

    Raises:
        DaemonUnreachable: nobody listens there.
    """
    address = TcpAddress(host, port)
    return DaemonClient(address, connection=Connection(address))


def _connected(path: Path) -> DaemonClient:
    address = UnixAddress(path)
    return DaemonClient(address, connection=Connection(address))


def _recorded_socket(home: Home) -> Path | None:
    record = read_record(home.record_file)
    return Path(record.socket) if record is not None and record.socket else None
