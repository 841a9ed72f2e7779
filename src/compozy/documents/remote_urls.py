"""Addresses of remote MCP servers and issuers, and the headers sent to them (formats §7.1, §7.3, §7.4)."""

import ipaddress
import re
from collections.abc import Mapping

from compozy.documents.problems import Path, Problem

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PORT = re.compile(r"[0-9]*")
_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})


def url_reason(url: str, what: str) -> str:
    """Why a text is no address of a remote server; "" when it is one. Credentials are never repeated."""
    scheme, host, userinfo, reason = _parts(url)
    if reason:
        return f"{what} is not a valid URL: {reason}"
    if scheme not in ("http", "https"):
        return f"{what} must be an http or https URL"
    if not host:
        return f"{what} must be absolute: it has no host"
    if userinfo:
        return f"{what} must not contain user information; use `auth` or `secret_headers`"
    if "#" in url:
        return f"{what} must not contain a fragment (#)"
    if scheme == "http" and not is_loopback(host):
        return f"{what} must use https (plain http is for localhost only)"
    return ""


def is_loopback(host: str) -> bool:
    """Whether a host names this machine: localhost in any case, 127/8 or ::1."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def issuer_reason(url: str) -> str:
    """Why an issuer address is refused; "" when it is fine."""
    scheme, host, userinfo, reason = _parts(url)
    if reason or scheme not in ("http", "https") or not host:
        return "auth.issuer_url must be an absolute http or https URL"
    if userinfo:
        return "auth.issuer_url must not contain credentials"
    if scheme == "http" and not is_loopback(host):
        return "auth.issuer_url must use https (plain http is for localhost only)"
    return ""


def _parts(url: str) -> tuple[str, str, str, str]:
    """Scheme (lower case), host, user information, and why the text cannot be taken apart."""
    if any(ord(c) < 0x20 or ord(c) == 0x7F for c in url):
        return "", "", "", "it holds a control character"
    scheme, colon, rest = url.partition(":")
    if not colon or "/" in scheme or "?" in scheme or "#" in scheme:
        return "", "", "", ""
    if not _SCHEME.fullmatch(scheme):
        return "", "", "", "it must begin with https://"
    rest = rest.partition("#")[0].partition("?")[0]
    if not rest.startswith("//"):
        return scheme.lower(), "", "", ""
    authority = rest[2:].partition("/")[0]
    userinfo, at, hostport = authority.rpartition("@")
    host, reason = _host(hostport)
    return scheme.lower(), host, (userinfo or "@") if at else "", reason


def _host(hostport: str) -> tuple[str, str]:
    if hostport.startswith("["):
        host, bracket, port = hostport[1:].partition("]")
        if not bracket or (port and not port.startswith(":")) or not _PORT.fullmatch(port[1:]):
            return "", "the address in brackets is broken"
        return host, ""
    host, colon, port = hostport.rpartition(":")
    if not colon:
        host, port = hostport, ""
    if not _PORT.fullmatch(port):
        return "", "the port is not a number"
    if any(c in ' "<>\\^`{|}' for c in host):
        return "", "the host holds a character that is not allowed"
    return host, ""


def header_problems(
    headers: Mapping[str, str], secret_headers: Mapping[str, str], path: Path, where: str, *, has_auth: bool
) -> list[Problem]:
    """Check both header maps together, in lower-case name order (formats §7.4)."""
    problems = []
    seen: set[str] = set()
    entries = [("headers", name, value) for name, value in headers.items()]
    entries += [("secret_headers", name, value) for name, value in secret_headers.items()]
    for group, name, value in sorted(entries, key=lambda entry: (entry[1].lower().encode(), entry[0], entry[1])):
        lower = name.lower()
        reason = "duplicate_header" if lower in seen else _header_reason(group, name, value, has_auth=has_auth)
        seen.add(lower)
        if reason:
            message = f"{where}.{group}.{name}: {reason}: {_HEADER_WORDS[reason]}"
            problems.append(Problem(code="header-policy", message=message, path=(*path, group, name), part="key"))
    return problems


def _header_reason(group: str, name: str, value: str, *, has_auth: bool) -> str:
    lower = name.lower()
    if not _TOKEN.fullmatch(name):
        return "invalid_header_name"
    if "\r" in value or "\n" in value:
        return "invalid_header_value"
    if lower == "content-type" or lower.startswith("mcp-"):
        return "reserved_header"
    if lower in _CREDENTIALS:
        if group == "headers":
            return "package_credential_forbidden"
        if lower != "authorization":
            return "operator_credential_forbidden"
        if has_auth:
            return "oauth_authorization_owned"
    return ""


_HEADER_WORDS = {
    "duplicate_header": "the header is given twice (case does not count)",
    "invalid_header_name": "a header name is a token of letters, digits and -",
    "invalid_header_value": "a header value is one line",
    "reserved_header": "the protocol sets this header itself",
    "package_credential_forbidden": "credentials go into `auth` or `secret_headers`",
    "operator_credential_forbidden": "only authorization may be given as a secret header",
    "oauth_authorization_owned": "`auth` sets the authorization header itself",
}
