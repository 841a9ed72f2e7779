"""A guarded client for one endpoint, its credential, and what its status codes mean (issue 8 item 6).

The credential is a reference that the *caller* names: a manifest is written by others, and one that could name a
variable of yours would send it to an address of theirs. Knows no protocol.
"""

import json
import math
import re
import ssl
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx2

from compozy.ocm.endpoints.address import Address
from compozy.ocm.endpoints.calls import Options, SecretResolver
from compozy.ocm.endpoints.choice import Choice
from compozy.ocm.endpoints.errors import EndpointFailed, EndpointRefused
from compozy.ocm.endpoints.guard import Guard, retry_after

_AUTH_WORDS = ("", "none", "bearer", "api-key", "mtls")
_CONNECT_SECONDS = 10.0
_UNAVAILABLE = (408, 429, 500, 502, 503, 504)
_EXCERPT = 200
_MASK = "[REDACTED]"


class Connection:
    """An open client; use it as an async context manager."""

    def __init__(self, address: Address, options: Options, secret: str, headers: Mapping[str, str]) -> None:
        self.address = address
        self._secret = spellings(secret) if secret else None
        self._options = options
        self._headers = headers

    def open(self, only: Collection[str] | None = None) -> tuple[httpx2.AsyncClient, Guard]:
        """Return a client and its guard; the caller closes the client. `only` are the headers a library may send."""
        _check_agreement(self.address)
        # Nothing of the environment (proxies, .netrc) has a say: the address was checked, and no other is called.
        inner = httpx2.AsyncHTTPTransport(verify=_trust(self._options), trust_env=False)
        guard = Guard(
            self.address,
            inner,
            max_bytes=self._options.max_answer_bytes,
            headers=self._headers,
            only=only,
            masked=self.masked,
        )
        timeout = httpx2.Timeout(self._options.timeout, connect=min(_CONNECT_SECONDS, self._options.timeout))
        return httpx2.AsyncClient(transport=guard, timeout=timeout, follow_redirects=False, trust_env=False), guard

    def masked(self, text: str) -> str:
        """Return a text of the other side without our credential, should it echo it."""
        return self._secret.sub(_MASK, text) if self._secret else text

    def masked_value(self, value: object) -> object:
        """Return decoded JSON without our credential, and with null where a number is none that JSON can carry."""
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, dict):
            return {self.masked(str(key)): self.masked_value(item) for key, item in value.items()}
        return [self.masked_value(item) for item in value] if isinstance(value, list) else value

    def check_status(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Accept a success.

        Raises:
            EndpointFailed: `endpoint_denied`, `endpoint_unavailable` or `endpoint_error`.
        """
        if 200 <= status < 300:
            return
        # Masked before it is cut: half of a credential is a secret too. And on one line, which may put it together.
        told = self.masked(" ".join(self.masked(body.decode("utf-8", "replace")).split()))[:_EXCERPT]
        words = f": {told}" if told else ""
        origin = self.address.origin
        if status in (401, 403):
            given = (
                "the credential was not accepted" if self._secret else "it wants a credential (env:NAME, vault:NAME)"
            )
            raise EndpointFailed(f"{origin} answered {status}; {given}{words}", code="endpoint_denied")
        if status in _UNAVAILABLE:
            pause = retry_after(headers.get("retry-after"))
            again = f", and asks to be called again in {pause:.0f} s" if pause is not None else ""
            raise EndpointFailed(
                f"{origin} answered {status}{again}{words}", code="endpoint_unavailable", is_temporary=True
            )
        raise EndpointFailed(f"{origin} answered {status}{words}", code="endpoint_error")


def prepare(choice: Choice, address: Address, options: Options, secrets: SecretResolver) -> Connection:
    """Return the connection of an endpoint with the credential that its `auth` asks for; sends nothing.

    Raises:
        EndpointRefused: code `endpoint_auth`; the endpoint asks for what was not given, or for a way nobody knows.
    """
    word = choice.auth.casefold()
    if word not in _AUTH_WORDS:
        raise _auth(f"its auth is {choice.auth[:40]!r}; only bearer, api-key, mtls and none are known here", address)
    secret = _secret(options, secrets)
    if word in ("bearer", "api-key") and not secret:
        raise _auth(f"it wants {word}: name a credential (env:NAME or vault:NAME)", address)
    if word == "mtls" and options.certificate is None:
        raise _auth("it wants mtls: name a certificate and its key", address)
    if secret and word == "none":
        raise _auth("its auth is none: it takes no credential, so none is sent", address)
    headers: dict[str, str] = {}
    if secret:
        # Azure's and most gateways' spelling for models, the usual one for everything else.
        key_name = "api-key" if choice.protocol == "openai" else "x-api-key"
        headers = {key_name: secret} if word == "api-key" else {"authorization": f"Bearer {secret}"}
    return Connection(address, options, secret, headers)


def spellings(secret: str) -> re.Pattern[str]:
    """Return a pattern that finds a secret also as JSON, an address or a host name would spell it."""
    quoted = json.dumps(secret)[1:-1]
    forms = {secret, " ".join(secret.split()), quoted, quoted.replace("/", "\\/")}
    forms |= {quote(secret), quote(secret, safe=""), quote_plus(secret)}
    return re.compile("|".join(map(re.escape, sorted(forms - {""}, key=len, reverse=True))), re.IGNORECASE)


def _check_agreement(address: Address) -> None:
    """Refuse an address that the library would read in another way than the rules did."""
    try:
        sent = httpx2.URL(address.url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise EndpointRefused(f"the address cannot be read ({error}); correct it", code="endpoint_address") from error
    port = sent.port or (443 if sent.scheme == "https" else 80)
    spellings = (sent.host.strip("[]"), sent.raw_host.decode("ascii", "replace").strip("[]"))
    if sent.scheme != address.scheme or port != address.port or address.host not in spellings:
        raise EndpointRefused(
            f"the address of {address.host!r} can be read in two ways; correct it", code="endpoint_address"
        )


def _secret(options: Options, secrets: SecretResolver) -> str:
    if not options.credential:
        return ""
    found = secrets(options.credential)
    if not found:
        kind, colon, name = options.credential.partition(":")
        known = colon and kind in ("env", "vault")
        # Not quoted when it is no reference: it may be the secret itself.
        what = f"{kind} has no {name!r}" if known else "the credential is no reference"
        raise EndpointRefused(f"{what}; name one as env:NAME or vault:NAME", code="endpoint_auth")
    if not found.isascii() or not found.isprintable():
        raise EndpointRefused(
            "the credential holds characters that no header can carry (perhaps a line end); store it again",
            code="endpoint_auth",
        )
    return found


def _trust(options: Options) -> ssl.SSLContext | bool:
    if options.certificate is None and options.ca_file is None:
        return True
    try:
        context = ssl.create_default_context(cafile=_text(options.ca_file))
        if options.certificate is not None:
            # Answering "" keeps OpenSSL from asking a person for the key's password.
            context.load_cert_chain(options.certificate, _text(options.certificate_key), password=lambda: b"")
    except OSError as error:
        raise EndpointRefused(
            f"the certificate cannot be used: {error}; give PEM files without a password", code="endpoint_auth"
        ) from error
    return context


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _auth(what: str, address: Address) -> EndpointRefused:
    return EndpointRefused(f"{address.origin}: {what}", code="endpoint_auth")
