"""A remote MCP server that asks for a login, with its own OAuth authorization server, by the SDK.

    python -m tests.kit.mcp_oauth PORT TOKEN_SECONDS LOG [deny] [fixed] [no-revocation|bad-revocation]

Whoever is sent to its login page is let in at once (or refused). LOG gets one line for each registration, login,
refresh and revocation, and every token, so that tests can look for them elsewhere. `POST /revoke-all` makes every
token useless. With `fixed` nobody can register: there is one client, `FIXED_CLIENT` with `FIXED_SECRET`.
"""

import secrets
import sys
import time

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

PORT, SECONDS, LOG = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
WORDS = sys.argv[4:]
DENIES, IS_FIXED = "deny" in WORDS, "fixed" in WORDS
FIXED_CLIENT, FIXED_SECRET = "compozy-desk", "fix-planted-client-secret-31"
BASE = f"http://127.0.0.1:{PORT}"


def log(*words: str) -> None:
    with open(LOG, "a") as file:
        file.write(" ".join(words) + "\n")


class Desk(OAuthClientInformationFull):
    """The client that was registered by hand; it comes back to any loopback port (RFC 8252, 7.3)."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        assert redirect_uri is not None and redirect_uri.host == "127.0.0.1"
        return redirect_uri


class Authority:
    """Clients, codes and tokens, in memory."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        if IS_FIXED:
            self.clients[FIXED_CLIENT] = Desk(
                client_id=FIXED_CLIENT,
                client_secret=FIXED_SECRET,
                redirect_uris=[AnyUrl("http://127.0.0.1/")],
                token_endpoint_auth_method="client_secret_post",
                grant_types=["authorization_code", "refresh_token"],
                scope="use",
            )
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        log("registered", str(client_info.client_name))
        self.clients[str(client_info.client_id)] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if DENIES:
            return construct_redirect_uri(str(params.redirect_uri), error="access_denied", state=params.state)
        code = "code-" + secrets.token_hex(16)
        self.codes[code] = AuthorizationCode(
            code=code,
            client_id=str(client.client_id),
            scopes=params.scopes or ["use"],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client: object, authorization_code: str) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: object, authorization_code: AuthorizationCode) -> OAuthToken:
        log("logged-in", authorization_code.resource or "no-resource")
        self.codes.pop(authorization_code.code)
        return self._grant(authorization_code.client_id, authorization_code.scopes)

    async def load_refresh_token(self, client: object, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: object, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        log("refreshed")
        self.refresh.pop(refresh_token.token)
        return self._grant(refresh_token.client_id, scopes or refresh_token.scopes)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        if "bad-revocation" in WORDS:
            raise RuntimeError("not now")
        log("revoked", token.token)
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def _grant(self, client_id: str, scopes: list[str]) -> OAuthToken:
        access, refresh = "acc-" + secrets.token_hex(20), "ref-" + secrets.token_hex(20)
        log("token", access)
        log("token", refresh)
        ends = int(time.time()) + SECONDS
        self.access[access] = AccessToken(token=access, client_id=client_id, scopes=scopes, expires_at=ends)
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes)
        return OAuthToken(
            access_token=access,
            token_type="Bearer",
            expires_in=SECONDS,
            refresh_token=refresh,
            scope=" ".join(scopes),
        )


def make() -> MCPServer:
    authority = Authority()
    server = MCPServer(
        "guarded",
        auth_server_provider=authority,
        auth=AuthSettings(
            issuer_url=BASE,
            resource_server_url=f"{BASE}/mcp",
            required_scopes=["use"],
            validate_token_resource=False,
            client_registration_options=ClientRegistrationOptions(
                enabled=not IS_FIXED, valid_scopes=["use", "more"], default_scopes=["use"]
            ),
            revocation_options=RevocationOptions(enabled="no-revocation" not in WORDS),
        ),
    )

    @server.tool()
    def whisper(text: str) -> str:
        """Say it quietly."""
        return text.lower()

    @server.custom_route("/revoke-all", methods=["POST"])
    async def revoke(request: Request) -> Response:
        authority.access.clear()
        authority.refresh.clear()
        return JSONResponse({})

    return server


if __name__ == "__main__":
    app = make().streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=PORT, log_level="error")).run()
