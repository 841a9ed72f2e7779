"""The SDK's OAuth client with the vault behind it: signing requests, refreshing, and the login itself.

Imports the SDK: load this module when it is first needed. Discovery, registration and PKCE are the SDK's; here is
what it leaves out: that a login survives a restart with its metadata and its end, and that a running server never
asks a person by itself.
"""

import time
from collections.abc import Awaitable, Callable

import httpx2
import mcp_types as types
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl

from compozy import __version__
from compozy.model.errors import Conflict, Unprocessable
from compozy.model.mcp import ServerStart
from compozy.runtime.mcp.logins import CameBack
from compozy.runtime.mcp.oauth.kept import KeptLogin, KeptLogins
from compozy.runtime.mcp.wanted import WantedServer

_SECONDS = 20.0
# A token that ends within this is refreshed before it is used.
_EARLY = 30.0
_ERROR = 400


class NeedsLogin(Exception):
    """Only a person can go on."""


class _Shelf:
    """The SDK's storage over one entry of the vault."""

    def __init__(self, logins: KeptLogins, wanted: WantedServer, kept: KeptLogin | None) -> None:
        self._logins, self._wanted, self.kept = logins, wanted, kept
        self.provider: _Provider | None = None
        self.fixed: OAuthClientInformationFull | None = None
        """The client of a server where clients do not register themselves."""
        self._client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return OAuthToken.model_validate(self.kept.tokens) if self.kept is not None else None

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self.fixed is not None:
            return self.fixed
        if self.kept is None:
            return None
        return OAuthClientInformationFull.model_validate(self.kept.client)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info

    async def set_tokens(self, tokens: OAuthToken) -> None:
        assert self.provider is not None
        context = self.provider.context
        client = context.client_info or self._client
        metadata, resource = context.oauth_metadata, context.protected_resource_metadata
        self.kept = KeptLogin(
            server=self._wanted.server.name,
            url=self._wanted.server.url,
            defined_in=self._wanted.defined_in,
            tokens=tokens.model_dump(mode="json", exclude_none=True),
            client=client.model_dump(mode="json", exclude_none=True) if client is not None else {},
            metadata=metadata.model_dump(mode="json", exclude_none=True) if metadata is not None else None,
            resource=resource.model_dump(mode="json", exclude_none=True) if resource is not None else None,
            issuer=str(metadata.issuer) if metadata is not None else "",
            expires_at=time.time() + int(tokens.expires_in) if tokens.expires_in is not None else 0.0,
        )
        await self._logins.put(self._wanted, self.kept)


class _Provider(OAuthClientProvider):
    """Takes up what was kept, and asks for the scopes that were configured."""

    def __init__(
        self,
        shelf: _Shelf,
        wanted: WantedServer,
        redirect_uri: str,
        redirect_handler: Callable[[str], Awaitable[None]],
        callback_handler: Callable[[], Awaitable[AuthorizationCodeResult]],
    ) -> None:
        auth = wanted.server.auth
        self._scopes = " ".join(auth.scopes) if auth is not None else ""
        self._issuer = auth.issuer_url if auth is not None else ""
        self._shelf = shelf
        metadata = OAuthClientMetadata(
            redirect_uris=[AnyUrl(redirect_uri)],
            client_name="compozy",
            software_id="compozy",
            software_version=__version__,
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            scope=self._scopes or None,
        )
        super().__init__(wanted.server.url, metadata, shelf, redirect_handler, callback_handler)
        shelf.provider = self

    async def _initialize(self) -> None:
        await super()._initialize()
        kept = self._shelf.kept
        if kept is None:
            return
        if kept.expires_at:
            self.context.token_expiry_time = kept.expires_at - _EARLY
        if kept.metadata is not None:
            self.context.oauth_metadata = OAuthMetadata.model_validate(kept.metadata)
        if kept.resource is not None:
            self.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(kept.resource)
        self.context.auth_server_url = kept.issuer or None

    def _select_authorization_server(self, advertised: list[str]) -> str:
        if not self._issuer:
            return super()._select_authorization_server(advertised)
        wanted = self._issuer.rstrip("/")
        for one in advertised:
            if one.rstrip("/") == wanted:
                return one
        raise Unprocessable(
            f"the server names the authorization servers {', '.join(advertised)}, and auth.issuer_url says "
            f"{self._issuer}: correct the one that is wrong",
            code="mcp_login_failed",
        )

    async def _perform_authorization(self) -> httpx2.Request:
        if self._scopes:
            self.context.client_metadata.scope = self._scopes
        return await super()._perform_authorization()


def signing(logins: KeptLogins, wanted: WantedServer, kept: KeptLogin, client_secret: str) -> httpx2.Auth:
    """Return what signs the requests of a running server; it refreshes, and never asks a person."""

    async def ask(url: str) -> None:
        raise NeedsLogin("only a person can go on")

    async def wait() -> AuthorizationCodeResult:
        raise NeedsLogin("only a person can go on")

    shelf = _Shelf(logins, wanted, kept)
    redirects = kept.client.get("redirect_uris")
    redirect = str(redirects[0]) if isinstance(redirects, list) and redirects else "http://127.0.0.1/"
    shelf.fixed = _fixed_client(wanted, client_secret, redirect)
    return _Provider(shelf, wanted, redirect, ask, wait)


async def log_in(
    logins: KeptLogins,
    wanted: WantedServer,
    how: ServerStart,
    *,
    redirect_uri: str,
    show: Callable[[str], None],
    wait: Callable[[], Awaitable[CameBack]],
) -> None:
    """Log in at a server and keep the tokens.

    Raises:
        CompozyError: the server asks for no login, or refused this one.
    """

    async def ask(url: str) -> None:
        show(url)

    async def answer() -> AuthorizationCodeResult:
        came = await wait()
        if came.error:
            raise Unprocessable(f"the authorization server refused: {came.error}", code="mcp_login_failed")
        return AuthorizationCodeResult(code=came.code, state=came.state, iss=came.issuer or None)

    # Nothing of an earlier login: its registration may name another address to come back to.
    shelf = _Shelf(logins, wanted, None)
    shelf.fixed = _fixed_client(wanted, how.client_secret, redirect_uri)
    provider = _Provider(shelf, wanted, redirect_uri, ask, answer)
    headers = {name: value for name, value in how.headers.items() if name.lower() != "authorization"}
    async with httpx2.AsyncClient(auth=provider, timeout=_SECONDS, headers=headers) as http:
        status = await _knock(http, wanted.server.url)
    if shelf.kept is None:
        raise Conflict(
            f"MCP server {wanted.server.name!r} asks for no login: it answered with status {status}",
            code="mcp_login_not_needed",
            category="mcp",
        )


async def _knock(http: httpx2.AsyncClient, url: str) -> int:
    """Send a first message, which the server answers by asking for a login, and leave again."""
    params = types.InitializeRequestParams(
        protocol_version=types.LATEST_PROTOCOL_VERSION,
        capabilities=types.ClientCapabilities(),
        client_info=types.Implementation(name="compozy", version=__version__),
    )
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": params.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
    headers = {"accept": "application/json, text/event-stream"}
    async with http.stream("POST", url, json=message, headers=headers) as response:
        session = response.headers.get("mcp-session-id", "")
        status = response.status_code
    if session and status < _ERROR:
        await http.delete(url, headers={"mcp-session-id": session})
    return status


def _fixed_client(wanted: WantedServer, client_secret: str, redirect_uri: str) -> OAuthClientInformationFull | None:
    auth = wanted.server.auth
    if auth is None or auth.registration != "pre_registered" or not auth.client_id:
        return None
    return OAuthClientInformationFull(
        client_id=auth.client_id,
        client_secret=client_secret or None,
        redirect_uris=[AnyUrl(redirect_uri)],
        token_endpoint_auth_method="client_secret_post" if client_secret else "none",
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
    )
