"""Judge the endpoints of a manifest: protocol, address, and what is unwise about it (OCM §1; decisions O3).

Opens no connection; whether an address may be called is for `endpoints/address`.
"""

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from compozy.model.diagnostic import Severity
from compozy.ocm.checks import check_text, check_word
from compozy.ocm.grammar import ENDPOINT_KEYS, PROTOCOLS, PROTOCOLS_WITH_URL
from compozy.ocm.problems import Problem
from compozy.ocm.wording import null_problem, problem_of, show, show_url, unknown_key, wrong_type

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


def check_endpoints(value: object, field: str) -> Iterator[Problem]:
    if value is None:
        yield null_problem(field)
        return
    if not isinstance(value, list):
        yield wrong_type(field, value, "a list of endpoints")
        return
    for index, endpoint in enumerate(value):
        yield from _check_endpoint(endpoint, f"{field}[{index}]")


def _check_endpoint(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield wrong_type(field, value, "a mapping")
        return
    protocol = value.get("protocol")
    if "protocol" not in value:
        yield problem_of("missing-field", f"{field}.protocol", f"{field} needs a protocol: {', '.join(PROTOCOLS)}")
    else:
        yield from check_word(protocol, f"{field}.protocol", PROTOCOLS)
    if "url" in value:
        yield from _check_url(value["url"], f"{field}.url")
    elif isinstance(protocol, str) and protocol in PROTOCOLS_WITH_URL:
        yield problem_of("url-required", f"{field}.url", f"{field} speaks {protocol} and needs a url")
    for key in ("region", "auth"):
        if key in value:
            yield from check_text(value[key], f"{field}.{key}")
    for key in value:
        if not isinstance(key, str) or key not in ENDPOINT_KEYS:
            yield unknown_key(key, field, ENDPOINT_KEYS, code="unknown-endpoint-key", severity=Severity.WARNING)


def _check_url(value: object, field: str) -> Iterator[Problem]:
    if not isinstance(value, str) or not value.startswith(("http://", "https://")):
        yield problem_of("url", field, f"{field} is {show_url(value)}: it must start with http:// or https://")
        return
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
        credentials = parts.username is not None or parts.password is not None
    except ValueError:
        # A bracket or port that cannot be read: the reference accepts it, so it stays without a verdict here.
        return
    if credentials:
        yield problem_of(
            "url-credentials",
            field,
            f"{field} carries a user name or password; take them out and name a credential where it is called",
            severity=Severity.WARNING,
        )
    if parts.scheme == "http" and host not in LOOPBACK_HOSTS:
        yield problem_of(
            "url-plain-http",
            field,
            f"{field} uses plain http to {show(host)}: use https",
            severity=Severity.WARNING,
        )
