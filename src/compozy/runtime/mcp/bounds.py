"""How long and how much a configured MCP server may take; every wait and every buffer has its bound here."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class McpBounds:
    """Seconds, bytes and counts. Tests make them smaller."""

    start: float = 30.0
    """From its start until a server has said hello and listed its tools."""
    settle: float = 10.0
    """How long somebody who asks for tools waits for servers that are starting."""
    call: float = 300.0
    close: float = 5.0
    term_grace: float = 2.0
    first_pause: float = 0.5
    """After the first failure; doubled with each more, up to `longest_pause`."""
    longest_pause: float = 60.0
    most_failures: int = 6
    """In a row; then nobody starts the server until somebody asks again after `longest_pause`."""
    stable: float = 60.0
    """A server that was ready this long starts from the first pause again."""
    idle: float = 300.0
    """A server nobody has used this long, and no running session has, is ended."""
    look: float = 15.0
    """Between two looks for such servers."""
    message_bytes: int = 16 << 20
    buffered: int = 64
    unasked_burst: int = 2000
    """Messages that nobody asked for: so many at once, then `unasked_rate` a second."""
    unasked_rate: float = 200.0
    most_tools: int = 2000
    most_pages: int = 100
    refresh_pause: float = 0.3
    """Announcements that tools changed, which come together, are followed once."""
