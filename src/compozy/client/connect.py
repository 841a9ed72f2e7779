"""Finding the daemon of a home: its record names the socket, which may lie outside the home (P65)."""

from pathlib import Path

from compozy.client.daemon_client import DaemonClient
from compozy.client.transport import Connection, TcpAddress, UnixAddress
from compozy.config.daemon_record import read_record
from compozy.config.home import Home


def connect(home: Home) -> DaemonClient:
    """Return a client that is connected to the home's daemon over its socket.

    Raises:
        DaemonUnreachable: nobody listens there; exit code 69.
    """
    record = read_record(home.record_file)
    path = Path(record.socket) if record is not None and record.socket else home.socket
    address = UnixAddress(path)
    return DaemonClient(address, connection=Connection(address))


def connect_tcp(host: str, port: int) -> DaemonClient:
    """Return a client that is connected over HTTP on loopback.

    Raises:
        DaemonUnreachable: nobody listens there.
    """
    address = TcpAddress(host, port)
    return DaemonClient(address, connection=Connection(address))
