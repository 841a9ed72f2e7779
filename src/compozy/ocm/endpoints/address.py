"""Whether an address may be called at all: https, or plain http to this machine; no credentials in it (decisions O3).

The host is parsed, never compared by prefix: `localhost.evil.example` is no loopback. Opens no connection.
"""

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from compozy.model.record import Record
from compozy.ocm.endpoints.errors import EndpointRefused

_NUMERIC = re.compile(r"[0-9a-fx.]+")
_PORTS = {"http": 80, "https": 443}


class Address(Record, frozen=True, kw_only=True):
    """A checked address; `origin` is what messages show and where requests must stay."""

    url: str
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{shown}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")


def check_address(url: str, *, allow_plain_http: bool = False) -> Address:
    """Return an address that may be called.

    Raises:
        EndpointRefused: code `endpoint_address`; what is wrong and what to do.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _refused(f"the address cannot be read ({error}); correct the endpoint's url") from error
    if parts.scheme not in _PORTS or not host or any(c.isspace() or ord(c) < 32 for c in url):
        raise _refused(f"{_shown(parts.scheme, host)!r} is no http or https address; correct the endpoint's url")
    if parts.username is not None or parts.password is not None:
        raise _refused(
            f"the url of {host!r} carries a user name or password: take them out of the manifest and name a "
            "credential instead (env:NAME or vault:NAME)"
        )
    if "{" in url or "}" in url:
        raise _refused(f"the url of {host!r} is a template; fill in its {{}} in the manifest")
    address = Address(url=url, scheme=parts.scheme, host=host, port=_PORTS[parts.scheme] if port is None else port)
    number = _ip(host)
    if number is not None and (number.is_link_local or number.is_unspecified or number.is_multicast):
        raise _refused(f"{host!r} is a link-local, multicast or unspecified address; nothing is sent there")
    if parts.scheme == "http" and not is_loopback(host) and not allow_plain_http:
        raise _refused(
            f"{address.origin!r} would be called without encryption: use https, or allow plain http for this call"
        )
    return address


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its very form."""
    number = _ip(host)
    return host.lower() == "localhost" if number is None else number.is_loopback


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        number = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        # 127.1, 0x7f000001 and 2130706433 are addresses to every resolver.
        if not _NUMERIC.fullmatch(host):
            return None
        try:
            number = ipaddress.IPv4Address(socket.inet_aton(host))
        except OSError:
            return None
    mapped = number.ipv4_mapped if isinstance(number, ipaddress.IPv6Address) else None
    return mapped or number


def _shown(scheme: str, host: str) -> str:
    return f"{scheme}://{host}"[:80]


def _refused(message: str) -> EndpointRefused:
    return EndpointRefused(message, code="endpoint_address")
