"""Logins at remote MCP servers, for operators alone (contract §6.2): begin one, receive its answer, end one, look.

A login is begun here and finished by a person's browser, which comes back to the daemon's own loopback address. Each
wait is bounded; what goes wrong is in the login's record. Imports nothing of the SDK.
"""

import asyncio
import contextlib
import secrets as randomness
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import msgspec

from compozy.config.secrets import Secrets
from compozy.model.errors import CompozyError, Conflict, NotFound, Unprocessable
from compozy.model.mcp_runtime import McpAuthReport, McpAuthStatus, McpLogin
from compozy.model.workspace import Workspace
from compozy.runtime.mcp.oauth.kept import KeptLogin, KeptLogins
from compozy.runtime.mcp.sdk import load
from compozy.runtime.mcp.wanted import WantedServer, Wishes, wanted
from compozy.runtime.mcp_servers import start_of
from compozy.runtime.status import DaemonStatus
from compozy.runtime.workspaces import Workspaces

CALLBACK = "/api/mcp/oauth/callback"
PERSON_SECONDS = 600.0
_ADDRESS_SECONDS = 30.0
_MOST_KEPT = 50


@dataclass(frozen=True, kw_only=True)
class CameBack:
    """What the browser brought."""

    code: str
    state: str
    issuer: str
    error: str


@dataclass(kw_only=True)
class _Login:
    id: str
    wanted: WantedServer
    redirect_uri: str
    ends_at: float
    url: str = ""
    state: str = ""
    error: str = ""
    has_url: asyncio.Event = field(default_factory=asyncio.Event)
    answer: "asyncio.Future[CameBack]"
    task: "asyncio.Task[None] | None" = None

    def record(self) -> McpLogin:
        is_over = self.task is not None and self.task.done()
        return McpLogin(
            id=self.id,
            server=self.wanted.server.name,
            state="failed" if self.error else "done" if is_over else "waiting",
            url="" if is_over else self.url,
            redirect_uri=self.redirect_uri,
            expires_at=_time(self.ends_at),
            error=self.error,
        )


class McpLogins:
    """The logins of one daemon."""

    def __init__(
        self,
        wishes: Wishes,
        workspaces: Workspaces,
        kept: KeptLogins,
        secrets: Secrets,
        status: DaemonStatus,
        on_change: Callable[[str, str], None],
    ) -> None:
        self._wishes, self._workspaces, self._kept = wishes, workspaces, kept
        self._secrets, self._status, self._on_change = secrets, status, on_change
        self._logins: dict[str, _Login] = {}

    async def begin(self, name: str, workspace: str = "", agent: str = "") -> McpLogin:
        """Ask a server for a login; return the address that a person must open.

        Raises:
            NotFound: no such remote server.
            Conflict: the daemon serves no loopback address, or the server asks for no login.
            Unprocessable: the server or its authorization server cannot be used; the message says why.
        """
        if not self._status.port:
            raise Conflict(
                "a login comes back to the daemon's own address, and [http] is off: set enabled = true and restart",
                code="mcp_login_needs_http",
                category="mcp",
            )
        one = await self._find(name, workspace, agent)
        for login in [known for known in self._logins.values() if known.wanted.key == one.key]:
            await self._drop(login)
        loop = asyncio.get_running_loop()
        login = _Login(
            id=f"mcl_{randomness.token_hex(8)}",
            wanted=one,
            redirect_uri=f"http://127.0.0.1:{self._status.port}{CALLBACK}",
            ends_at=time.time() + PERSON_SECONDS,
            answer=loop.create_future(),
        )
        self._logins[login.id] = login
        login.task = asyncio.create_task(self._run(login), name=f"mcp-login-{name}")
        while len(self._logins) > _MOST_KEPT:
            await self._drop(next(iter(self._logins.values())))
        waiting = asyncio.ensure_future(login.has_url.wait())
        await asyncio.wait((waiting, login.task), timeout=_ADDRESS_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not login.has_url.is_set():
            login.task.cancel()
            why = login.error or f"it did not answer within {_ADDRESS_SECONDS:g} s"
            raise Unprocessable(f"MCP server {name!r}: {why}", code="mcp_login_failed", category="mcp")
        return login.record()

    def get(self, login_id: str) -> McpLogin:
        """Return a login.

        Raises:
            NotFound: there is none of that id.
        """
        login = self._logins.get(login_id)
        if login is None:
            raise NotFound(f"login {login_id!r} does not exist: begin another", code="mcp_login_not_found")
        return login.record()

    def receive(self, came: CameBack) -> str:
        """Take what the browser brought; return the name of the server.

        Raises:
            NotFound: nobody waits for it.
        """
        for login in self._logins.values():
            is_waiting = login.state and not login.answer.done()
            if is_waiting and randomness.compare_digest(login.state, came.state):
                login.answer.set_result(came)
                return login.wanted.server.name
        raise NotFound(
            "no login waits for this answer: it is over, or was begun by another daemon; begin another",
            code="mcp_login_not_found",
        )

    async def forget(self, name: str, workspace: str = "", agent: str = "") -> McpAuthStatus:
        """Forget the login at a server, and have its tokens revoked there; the note says when they could not be.

        Raises:
            NotFound: no such remote server, or no login at it.
        """
        one = await self._find(name, workspace, agent)
        kept = await self._kept.get(one)
        if not await self._kept.delete(one):
            raise NotFound(f"there is no login at MCP server {name!r}", code="mcp_not_logged_in", category="mcp")
        self._on_change(name, one.defined_in)
        note = ""
        if kept is not None:
            module = await load("compozy.runtime.mcp.oauth.revoking")
            note = await module.revoke(kept)
        return msgspec.structs.replace(await self._status_of(one), note=note)

    async def report(self, workspace: str = "", agent: str = "") -> McpAuthReport:
        """Return the remote servers of a place, each with its login."""
        return McpAuthReport(
            servers=tuple([await self._status_of(one) for one in await self._remote(workspace, agent)])
        )

    async def close(self) -> None:
        """End every login that waits."""
        for login in list(self._logins.values()):
            await self._drop(login)

    # --- inside

    async def _run(self, login: _Login) -> None:
        try:
            module = await load("compozy.runtime.mcp.oauth.provider")
            how = await asyncio.to_thread(start_of, login.wanted.server, self._secrets)
            async with asyncio.timeout(PERSON_SECONDS):
                await module.log_in(
                    self._kept,
                    login.wanted,
                    how,
                    redirect_uri=login.redirect_uri,
                    show=lambda url: self._show(login, url),
                    wait=lambda: _answer(login),
                )
        except asyncio.CancelledError:
            login.error = login.error or "it was called off"
            raise
        except TimeoutError:
            login.error = f"nobody finished it within {PERSON_SECONDS:g} s"
        except CompozyError as error:
            login.error = error.message
        except Exception as error:  # noqa: BLE001 - supervisor: what a foreign server answers can fail in any way
            login.error = _words(error)
        else:
            self._on_change(login.wanted.server.name, login.wanted.defined_in)

    def _show(self, login: _Login, url: str) -> None:
        login.url = url
        login.state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        login.has_url.set()

    async def _drop(self, login: _Login) -> None:
        self._logins.pop(login.id, None)
        if login.task is not None and not login.task.done():
            login.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait((login.task,), timeout=5)

    async def _find(self, name: str, workspace: str, agent: str) -> WantedServer:
        rows = await self._remote(workspace, agent)
        for one in rows:
            if one.server.name == name:
                return one
        known = ", ".join(repr(one.server.name) for one in rows) or "none"
        raise NotFound(
            f"no remote MCP server {name!r} is given here; given are: {known}",
            code="mcp_server_not_found",
            category="mcp",
        )

    async def _remote(self, workspace: str, agent: str) -> list[WantedServer]:
        place: Workspace | None = await self._workspaces.get(workspace) if workspace else None
        rows = await self._wishes.resolved(place, agent)
        return [
            wanted(row.server, place.id if place else "", place.root_dir if place else "", row.path)
            for row in rows
            if row.is_remote and row.state == "in_force"
        ]

    async def _status_of(self, one: WantedServer) -> McpAuthStatus:
        server = one.server
        shown = McpAuthStatus(name=server.name, url=server.url, state="logged_out", defined_in=one.defined_in)
        names = (*server.headers, *server.secret_headers)
        kept = await self._kept.get(one)
        if kept is None:
            has_own = any(name.lower() == "authorization" for name in names)
            return McpAuthStatus(
                name=server.name,
                url=server.url,
                state="own_headers" if has_own else "logged_out",
                defined_in=one.defined_in,
            )
        return _shown(shown, kept)


async def _answer(login: _Login) -> CameBack:
    return await login.answer


def _shown(shown: McpAuthStatus, kept: KeptLogin) -> McpAuthStatus:
    can_refresh = bool(kept.tokens.get("refresh_token"))
    is_over = bool(kept.expires_at) and kept.expires_at < time.time()
    return McpAuthStatus(
        name=shown.name,
        url=shown.url,
        state="expired" if is_over and not can_refresh else "logged_in",
        defined_in=shown.defined_in,
        issuer=kept.issuer,
        scopes=tuple(str(kept.tokens.get("scope") or "").split()),
        expires_at=_time(kept.expires_at) if kept.expires_at else "",
        can_refresh=can_refresh,
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _words(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{str(error)[:600] or type(error).__name__}"
