"""The daemon's client: transports, calls, and a reader for event streams that can resume."""

from compozy.client.connect import connect, connect_tcp
from compozy.client.daemon_client import Answer, DaemonClient, EventStream
from compozy.client.errors import ApiError, ConnectionLost, DaemonUnreachable
from compozy.client.sse import ServerSentEvent

__all__ = [
    "Answer",
    "ApiError",
    "ConnectionLost",
    "DaemonClient",
    "DaemonUnreachable",
    "EventStream",
    "ServerSentEvent",
    "connect",
    "connect_tcp",
]
