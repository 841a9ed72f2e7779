"""Logins as the vault keeps them: one entry for each server and file that defines it, opened only to be used.

Every token is told to the redactor before anybody else sees it. Imports nothing of the SDK.
"""

import asyncio
import hashlib
from typing import TYPE_CHECKING

import msgspec

from compozy.config.home import Home
from compozy.config.redaction import Redactor
from compozy.config.vault import Vault
from compozy.model.record import Record
from compozy.runtime.mcp.sdk import load
from compozy.runtime.mcp.wanted import WantedServer
from compozy.tools.ids import canonical

if TYPE_CHECKING:
    import httpx2

FOLDER = "mcp/oauth"


class KeptLogin(Record, frozen=True, kw_only=True):
    """One login. Tokens, client and the server's metadata are as the SDK writes them."""

    server: str
    url: str
    defined_in: str
    tokens: dict[str, object]
    client: dict[str, object]
    metadata: dict[str, object] | None = None
    resource: dict[str, object] | None = None
    issuer: str = ""
    expires_at: float = 0.0
    """When the access token ends, in seconds since 1970; 0 when nobody said."""

    def __repr__(self) -> str:
        # It holds tokens, and records end up in logs.
        return f"KeptLogin(server={self.server!r}, url={self.url!r})"


class KeptLogins:
    """Reads and writes logins."""

    def __init__(self, home: Home, redactor: Redactor) -> None:
        self._vault, self._redactor = Vault(home), redactor

    async def get(self, wanted: WantedServer) -> KeptLogin | None:
        """Return the login at a server, None when there is none.

        Raises:
            VaultError: the vault cannot be opened.
        """
        text = await asyncio.to_thread(self._vault.get, vault_name(wanted))
        if text is None:
            return None
        try:
            kept = msgspec.json.decode(text, type=KeptLogin)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # Somebody else wrote under this name: it is no login.
            return None
        self._hide(kept)
        return kept if kept.url == wanted.server.url else None

    async def put(self, wanted: WantedServer, kept: KeptLogin) -> None:
        """Keep a login.

        Raises:
            VaultError: it cannot be written.
        """
        self._hide(kept)
        await asyncio.to_thread(self._vault.set, vault_name(wanted), msgspec.json.encode(kept).decode())

    async def delete(self, wanted: WantedServer) -> bool:
        """Forget a login; return whether there was one."""
        return await asyncio.to_thread(self._vault.delete, vault_name(wanted))

    async def auth_for(self, wanted: WantedServer, client_secret: str) -> "httpx2.Auth | None":
        """Return what signs requests to a server, None without a login."""
        kept = await self.get(wanted)
        if kept is None:
            return None
        module = await load("compozy.runtime.mcp.oauth.provider")
        made: httpx2.Auth = module.signing(self, wanted, kept, client_secret)
        return made

    def _hide(self, kept: KeptLogin) -> None:
        for value in (*kept.tokens.values(), kept.client.get("client_secret")):
            if isinstance(value, str) and len(value) > len("Bearer"):
                self._redactor.register(value)


def vault_name(wanted: WantedServer) -> str:
    """Return where a login is kept. The file is part of it: a repository cannot use the home's login by a name."""
    digest = hashlib.sha256(f"{wanted.defined_in}\0{wanted.server.url}".encode()).hexdigest()[:16]
    return f"{FOLDER}/{canonical(wanted.server.name)}.{digest}"
