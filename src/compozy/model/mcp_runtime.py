"""MCP servers that the daemon runs or reaches, and logins at remote ones, as answers show them (issue 7 item 3).

No value of `env`, of a header or of a token is ever in one of these records.
"""

from typing import Literal

from compozy.model.record import Record

McpRunState = Literal["idle", "starting", "ready", "backoff", "failed", "needs_login"]
LoginState = Literal["waiting", "done", "failed"]
AuthState = Literal["logged_in", "expired", "logged_out", "own_headers"]


class McpServerStatus(Record, frozen=True, kw_only=True):
    """One server of one workspace that a session or a person has used since the daemon started.

    `restarts` counts the starts after the first; `last_error` stays until the server is ready for a minute.
    """

    name: str
    workspace_id: str
    transport: Literal["stdio", "http"]
    state: McpRunState
    tools: tuple[str, ...]
    restarts: int
    sessions: int
    defined_in: str
    last_error: str = ""
    pid: int = 0
    started_at: str = ""
    next_try_seconds: float = 0.0
    notes: tuple[str, ...] = ()


class McpStatus(Record, frozen=True, kw_only=True):
    """Every such server."""

    servers: tuple[McpServerStatus, ...]


class McpAuthStatus(Record, frozen=True, kw_only=True):
    """Whether this daemon has a login at a remote server."""

    name: str
    url: str
    state: AuthState
    defined_in: str
    issuer: str = ""
    scopes: tuple[str, ...] = ()
    expires_at: str = ""
    can_refresh: bool = False
    note: str = ""
    """What a logout could not do at the authorization server."""


class McpAuthReport(Record, frozen=True, kw_only=True):
    """The remote servers of a place."""

    servers: tuple[McpAuthStatus, ...]


class McpLogin(Record, frozen=True, kw_only=True):
    """One login that a person is asked for: the address to open, and what became of it."""

    id: str
    server: str
    state: LoginState
    url: str
    redirect_uri: str
    expires_at: str
    error: str = ""
