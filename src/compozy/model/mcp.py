"""The MCP servers an agent gets, after merging every place they come from, and how that is shown (decisions D19).

`ResolvedServer` is for whoever starts or reaches a server: values as they are authored, references unresolved. The
`…View` records are for answers: no value of `env` or of a header is ever in them.
"""

from typing import Literal

from compozy.model.definition import McpServer
from compozy.model.record import Record

# Whom a definition is trusted like. Across levels the later definition replaces the whole server.
McpLevel = Literal["home", "workspace", "workspace_agent", "extension", "skill"]
McpPlace = Literal["config.toml", "mcp.json", "provider", "agent", "skill"]
Standing = Literal["effective", "merged", "replaced"]
ServerState = Literal["in_force", "denied", "not_allowed", "untrusted"]
KeyState = Literal["set", "unset", "redacted"]


class McpSource(Record, frozen=True, kw_only=True):
    """One place that defines a server, lowest first in every list; of `merged` ones some fields are in use."""

    place: McpPlace
    level: McpLevel
    path: str
    standing: Standing
    trusted: bool


class ResolvedServer(Record, frozen=True, kw_only=True):
    """One server after the merge. `state` says whether the agent gets it, `reason` why not."""

    server: McpServer
    level: McpLevel
    path: str
    state: ServerState
    sources: tuple[McpSource, ...]
    reason: str = ""

    @property
    def is_remote(self) -> bool:
        """Whether it is reached over http instead of being started."""
        return not self.server.command


class ServerStart(Record, frozen=True, kw_only=True):
    """A server with every reference resolved, for the one that starts or reaches it; never stored, never answered."""

    name: str
    argv: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """The declared keys alone; see `config.environment.server_environment` for the whole."""
    url: str = ""
    headers: dict[str, str] = {}
    client_secret: str = ""


class McpKeyView(Record, frozen=True, kw_only=True):
    """One key of a server: who said it, and its value where that is no secret matter."""

    key: str
    place: str
    state: KeyState
    value: str = ""
    note: str = ""


class McpSourceView(Record, frozen=True, kw_only=True):
    """One place that defines a server, with its line where it is known."""

    place: McpPlace
    level: McpLevel
    at: str
    standing: Standing
    trusted: bool
    why: str = ""


class McpServerView(Record, frozen=True, kw_only=True):
    """One server as `compozy mcp list|explain` shows it."""

    name: str
    transport: Literal["stdio", "http"]
    state: ServerState
    tools: str
    level: McpLevel
    at: str
    sources: tuple[McpSourceView, ...]
    keys: tuple[McpKeyView, ...]
    reason: str = ""


class McpReport(Record, frozen=True, kw_only=True):
    """Every server that one place, or one agent there, is given. `problems` are files that cannot be read."""

    servers: tuple[McpServerView, ...]
    looked: tuple[str, ...]
    problems: tuple[str, ...] = ()
    workspace_id: str = ""
    agent: str = ""
    provider: str = ""
