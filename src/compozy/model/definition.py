"""An agent definition as loaded: AGENT.md's header and prompt, servers and hooks (formats §4, §7, §8).

Values are normalised the way the loader does it (trimmed, later duplicates dropped); nothing is defaulted.
The records know nothing of files, positions or YAML.
"""

from typing import Literal

from compozy.model.capability import Capability
from compozy.model.record import Record

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
PermissionMode = Literal["deny-all", "approve-reads", "approve-all"]

REASONING_EFFORTS: tuple[str, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
# From the strictest to the widest; the order is used to cap one mode by another.
PERMISSION_MODES: tuple[str, ...] = ("deny-all", "approve-reads", "approve-all")
RESERVED_AGENT_NAMES: tuple[str, ...] = ("coordinator", "dreaming-curator")


class McpAuth(Record, frozen=True, kw_only=True):
    """How a remote MCP server authenticates (formats §7.1)."""

    registration: str = ""
    issuer_url: str = ""
    client_id: str = ""
    client_secret_ref: str = ""
    scopes: tuple[str, ...] = ()


class McpServer(Record, frozen=True, kw_only=True):
    """One MCP server, inline or from mcp.json (formats §7). `env` values are literals."""

    name: str
    transport: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    secret_env: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}
    secret_headers: dict[str, str] = {}
    auth: McpAuth | None = None
    catalog_entry: str = ""
    catalog_version: str = ""


class HookDeclaration(Record, frozen=True, kw_only=True):
    """One hook of an agent (formats §8). `timeout_ns` is in nanoseconds; matcher values are text or bool."""

    name: str
    event: str
    mode: str = ""
    enabled: bool | None = None
    required: bool = False
    priority: int | None = None
    timeout_ns: int | None = None
    matcher: dict[str, str | bool] = {}
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    secret_env: dict[str, str] = {}
    metadata: dict[str, str] = {}
    executor_kind: str = ""


class AgentDefinition(Record, frozen=True, kw_only=True):
    """What one AGENT.md with its mcp.json and capability catalog says.

    `capabilities` is None when the folder has no catalog and empty when the catalog is empty (formats §9.1).
    """

    name: str
    prompt: str
    provider: str = ""
    command: str = ""
    model: str = ""
    reasoning_effort: str = ""
    tools: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ()
    deny_tools: tuple[str, ...] = ()
    permissions: str = ""
    skills_disabled: tuple[str, ...] = ()
    category_path: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
    hooks: tuple[HookDeclaration, ...] = ()
    capabilities: tuple[Capability, ...] | None = None
