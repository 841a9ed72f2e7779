"""Which process is on the other side of the Unix socket, as the kernel says it (contract §1.3, §6.4).

Read once per connection. Nobody is known over TCP.
"""

import socket
import struct
import sys

from starlette.requests import Request

from compozy.tools.hosted.launches import Peer

# The scope key under which the server hands every request its connection's peer.
PEER_KEY = "compozy.peer"
# pid, uid, gid (unix(7)).
_LINUX = struct.Struct("3i")
# macOS: SOL_LOCAL, LOCAL_PEERCRED (a version and the uid come first), LOCAL_PEERPID.
_SOL_LOCAL, _PEER_CRED, _PEER_PID = 0, 1, 2
_MAC_HEAD = struct.Struct("2I")
_MAC_SIZE = 76


def read_peer(connection: object) -> Peer | None:
    """Return the peer of a connected Unix socket, None when the system does not tell."""
    ask = getattr(connection, "getsockopt", None)
    if ask is None or getattr(connection, "family", None) != socket.AF_UNIX:
        return None
    try:
        if sys.platform == "darwin":
            _, uid = _MAC_HEAD.unpack_from(ask(_SOL_LOCAL, _PEER_CRED, _MAC_SIZE))
            return Peer(pid=int(ask(_SOL_LOCAL, _PEER_PID)), uid=int(uid))
        pid, uid, _ = _LINUX.unpack(ask(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX.size))
    except (OSError, struct.error):
        return None
    return Peer(pid=int(pid), uid=int(uid)) if pid > 0 else None


def peer_of(request: Request) -> Peer | None:
    """Return who made a request, None over TCP."""
    found = request.scope.get(PEER_KEY)
    return found if isinstance(found, Peer) else None
