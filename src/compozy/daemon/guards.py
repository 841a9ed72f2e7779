"""Who may call the API over TCP: bind address, Host, Origin and Sec-Fetch-Site (contract §1.3; decisions D16).

Pure functions over header values. The Unix socket is guarded by its mode and passes none of this.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from compozy.daemon.listeners import is_loopback_host
from compozy.model.errors import Forbidden, InvalidRequest

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HTTP_PORT = 80
_JUDGED_BY = frozenset({b"host", b"origin", b"sec-fetch-site"})


@dataclass(frozen=True)
class TcpGuard:
    """The rules for one bound address."""

    host: str
    port: int

    def check(self, method: str, headers: Mapping[str, str]) -> None:
        """Let a request pass or refuse it.

        Raises:
            Forbidden: which rule it breaks is in the message and the code.
        """
        if not is_loopback_host(self.host):
            raise Forbidden(
                f"the API is not served on {self.host!r}, which other machines reach; set [http] host to localhost",
                code="bind_not_loopback",
            )
        self._check_host(headers.get("host", ""))
        origin = headers.get("origin")
        if origin is not None and not self.is_own_origin(origin):
            raise Forbidden(
                f"origin {origin!r} may not call this API; use the daemon's own address", code="origin_denied"
            )
        site = headers.get("sec-fetch-site")
        if method not in _SAFE_METHODS and site is not None and site not in ("same-origin", "none"):
            raise Forbidden(
                f"a cross-site request ({site!r}) may not change anything; use the daemon's own address",
                code="cross_site_denied",
            )

    def is_own_origin(self, origin: str) -> bool:
        """Whether an Origin header names this daemon; loopback spellings count as one."""
        try:
            parts = urlsplit(origin)
            port = parts.port or _HTTP_PORT
        except ValueError:
            return False
        return (
            parts.scheme == "http"
            and parts.username is None
            and not parts.path
            and not parts.query
            and self._is_own_name(parts.hostname or "")
            and port == self.port
        )

    def _check_host(self, value: str) -> None:
        try:
            parts = urlsplit(f"//{value}")
            port = parts.port or _HTTP_PORT
        except ValueError:
            parts, port = urlsplit(""), 0
        # A name that is not ours can be made to resolve to 127.0.0.1 by any web page's DNS.
        has_more = parts.username is not None or parts.path or parts.query or parts.fragment
        if has_more or not self._is_own_name(parts.hostname or "") or port != self.port:
            raise Forbidden(
                f"host {value!r} is not an address of this daemon; call http://localhost:{self.port}",
                code="host_denied",
            )

    def _is_own_name(self, name: str) -> bool:
        return name in _LOOPBACK_NAMES or name == self.host.strip().lower().strip("[]")


def refuse_repeated(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a request that gives a header twice by which it is judged: which one counts nobody can know.

    Raises:
        InvalidRequest: naming the header.
    """
    judged = [name for name, _ in headers if name in _JUDGED_BY]
    for name in set(judged):
        if judged.count(name) > 1:
            raise InvalidRequest(f"header {name.decode()!r} is given {judged.count(name)} times; send it once")


def is_loopback_peer(client: object) -> bool:
    """Whether the ASGI `client` is on this machine; a Unix socket has none and is."""
    if not isinstance(client, tuple | list) or not client:
        return client is None
    address = str(client[0])
    return address == "::1" or address.startswith(("127.", "::ffff:127."))
