"""Telling an authorization server that a login is over (RFC 7009): its tokens are worth nothing from then on.

A best effort with a bound: a login is forgotten here whatever the server says. Load this module when it is first
needed; its client takes a moment.
"""

import asyncio
from urllib.parse import quote, urlsplit

import httpx2

from compozy.runtime.mcp.oauth.kept import KeptLogin

SECONDS = 10.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_DONE = 200


async def revoke(kept: KeptLogin) -> str:
    """Revoke the tokens of a login; return why the server still takes them, "" when it does not."""
    address = (kept.metadata or {}).get("revocation_endpoint")
    if not isinstance(address, str) or not address:
        return "the authorization server offers no revocation: its tokens go on until they end"
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        return f"the address for revocation is not https and was not used: {address}"
    try:
        async with asyncio.timeout(SECONDS), httpx2.AsyncClient(timeout=SECONDS) as http:
            # The longer lived one first; a server may end the other with it.
            for kind in ("refresh_token", "access_token"):
                token = kept.tokens.get(kind)
                if isinstance(token, str) and token:
                    said = await _send(http, address, kept, kind, token)
                    if said != _DONE:
                        return f"the authorization server did not revoke the {kind.replace('_', ' ')}: status {said}"
    except TimeoutError:
        return f"the authorization server did not answer the revocation within {SECONDS:g} s"
    except httpx2.HTTPError as error:
        return f"the authorization server could not be asked to revoke: {str(error) or type(error).__name__}"
    return ""


async def _send(http: httpx2.AsyncClient, address: str, kept: KeptLogin, kind: str, token: str) -> int:
    form = {"token": token, "token_type_hint": kind, "client_id": _of_client(kept, "client_id")}
    secret, method = _of_client(kept, "client_secret"), _of_client(kept, "token_endpoint_auth_method")
    auth: httpx2.Auth | None = None
    if secret and method == "client_secret_basic":
        auth = httpx2.BasicAuth(quote(form["client_id"], safe=""), quote(secret, safe=""))
    elif secret:
        form["client_secret"] = secret
    request = http.build_request("POST", address, data=form)
    return (await http.send(request, auth=auth)).status_code


def _of_client(kept: KeptLogin, name: str) -> str:
    found = kept.client.get(name)
    return found if isinstance(found, str) else ""
