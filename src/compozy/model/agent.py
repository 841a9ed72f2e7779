"""The agent payload of the API (shapes: Agent), with the additive fields of decisions D2 and D8."""

from typing import Literal

from compozy.model.capability import Capability
from compozy.model.record import Record

Origin = Literal["global", "workspace"]
ValueSource = Literal["agent", "project_default", "provider_default", "model_default"]


class EffectiveRuntimeSources(Record, frozen=True, kw_only=True):
    """Where each effective value came from."""

    provider: ValueSource
    model: ValueSource | None = None
    reasoning_effort: ValueSource | None = None


class AgentRuntime(Record, frozen=True, kw_only=True):
    """`effective_runtime`: what a session of this agent would use."""

    provider: str
    sources: EffectiveRuntimeSources
    model: str = ""
    reasoning_effort: str = ""


class AgentDiagnostic(Record, frozen=True, kw_only=True):
    """Why a definition is not loadable, as the API lists it."""

    path: str
    error_kind: str
    message: str


class SkillsPolicy(Record, frozen=True, kw_only=True):
    """The agent's skills policy."""

    disabled: tuple[str, ...] = ()


class McpAuthView(Record, frozen=True, kw_only=True):
    """Authentication of a server without its secret."""

    client_secret_configured: bool
    registration: str = ""
    issuer_url: str = ""
    client_id: str = ""
    scopes: tuple[str, ...] = ()


class McpServerView(Record, frozen=True, kw_only=True):
    """A server as the API shows it; secret-looking env values read ``[REDACTED]`` (D1)."""

    name: str
    transport: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    secret_env: dict[str, str] = {}
    url: str = ""
    auth: McpAuthView | None = None


class Agent(Record, frozen=True, kw_only=True):
    """One agent row. `provider` is the authored value, "" when inherited."""

    name: str
    prompt: str
    provider: str
    origin: Origin
    definition_digest: str
    capabilities: tuple[Capability, ...]
    model: str = ""
    reasoning_effort: str = ""
    command: str = ""
    permissions: str = ""
    tools: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ()
    deny_tools: tuple[str, ...] = ()
    skills: SkillsPolicy | None = None
    category_path: tuple[str, ...] = ()
    mcp_servers: tuple[McpServerView, ...] = ()
    workspace_id: str = ""
    effective_runtime: AgentRuntime | None = None
    diagnostics: tuple[AgentDiagnostic, ...] = ()
    capabilities_digest: str = ""
    path: str = ""
    """Additive: the AGENT.md in force."""
    extension: str = ""
    """Additive: the extension that brings it."""
    warnings: tuple[AgentDiagnostic, ...] = ()
    """Additive: what is odd about a definition that is in force all the same (D5, D7)."""


class SourceState(Record, frozen=True, kw_only=True):
    """One place looked at (D8): "could not read" is never "none"."""

    path: str
    state: Literal["ok", "missing", "unreadable"]
    message: str = ""
