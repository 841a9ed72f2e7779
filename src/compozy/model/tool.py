"""Tools as the API shows them: descriptors, decisions, results, toolsets, grants (contract §6; shapes, Tools).

Field names and closed sets are the contract's; what is additive says so. Knows no rule.
"""

from typing import Literal

from compozy.model.record import Record

SourceKind = Literal["builtin", "mcp", "extension", "dynamic"]
BackendKind = Literal["native_go", "extension_host", "mcp", "bridge"]
Visibility = Literal["internal", "operator", "session", "model"]
Risk = Literal["read", "mutating", "open_world", "destructive"]
ReasonCode = Literal[
    "approval_canceled",
    "approval_required",
    "approval_timed_out",
    "approval_token_expired",
    "approval_token_mismatch",
    "approval_token_missing",
    "approval_token_replayed",
    "approval_unreachable",
    "backend_not_executable",
    "backend_unhealthy",
    "call_canceled",
    "call_timed_out",
    "conflicted_id",
    "conflicted_sanitized_name",
    "dependency_missing",
    "extension_inactive",
    "handler_missing",
    "hook_denied",
    "id_empty",
    "id_empty_segment",
    "id_invalid_format",
    "id_too_long",
    "mcp_auth_expired",
    "mcp_auth_invalid",
    "mcp_auth_refresh_failed",
    "mcp_auth_required",
    "mcp_auth_unconfigured",
    "mcp_unreachable",
    "policy_denied",
    "reserved_conflict",
    "reserved_namespace",
    "result_budget_exceeded",
    "result_persistence_failed",
    "schema_invalid",
    "session_denied",
    "source_disabled",
    "tool_artifact_corrupt",
    "tool_artifact_not_found",
    "tool_unknown",
    "toolset_cycle",
    "toolset_unknown",
    "visibility_denied",
]
ErrorCode = Literal[
    "tool_not_found",
    "tool_conflict",
    "tool_unavailable",
    "tool_denied",
    "tool_approval_required",
    "tool_invalid_input",
    "tool_result_too_large",
    "tool_result_persistence_failed",
    "tool_backend_failed",
    "tool_canceled",
    "tool_timed_out",
]
LayerResult = Literal[
    "allowed", "denied", "approval_required", "disabled", "trusted", "unrestricted", "unavailable", "conflicted"
]


class ToolAccess(Record, frozen=True, kw_only=True):
    """What an agent's definition says about tools, as a session keeps it."""

    tools: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ()
    deny_tools: tuple[str, ...] = ()


class ToolBackend(Record, frozen=True, kw_only=True):
    """What runs a tool; `native_go` is the contract's word for the daemon itself."""

    kind: BackendKind
    native_name: str = ""
    mcp_server: str = ""
    mcp_tool: str = ""
    extension_id: str = ""
    handler: str = ""


class ToolOrigin(Record, frozen=True, kw_only=True):
    """Where a tool comes from; `owner` is the server's or extension's name, "compozy" for our own."""

    kind: SourceKind
    owner: str
    raw_server_name: str = ""
    raw_tool_name: str = ""
    scope: str = ""
    workspace_id: str = ""


class ToolDescriptor(Record, frozen=True, kw_only=True):
    """One tool. `input_schema` is a JSON Schema object."""

    tool_id: str
    description: str
    input_schema: dict[str, object]
    input_schema_digest: str
    source: ToolOrigin
    backend: ToolBackend
    visibility: Visibility
    risk: Risk
    read_only: bool
    destructive: bool
    open_world: bool
    requires_interaction: bool
    concurrency_safe: bool
    display_title: str = ""
    output_schema: dict[str, object] | None = None
    output_schema_digest: str = ""
    max_result_bytes: int = 0
    toolsets: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    search_hints: tuple[str, ...] = ()


class ToolAvailability(Record, frozen=True, kw_only=True):
    """Whether a tool could run now, whoever asks."""

    authorized: bool
    available: bool
    conflicted: bool
    enabled: bool
    executable: bool
    registered: bool
    reason_codes: tuple[ReasonCode, ...] = ()


class PolicyLayer(Record, frozen=True, kw_only=True):
    """What one layer said; `detail` names the entry or setting that decided."""

    layer: str
    result: LayerResult
    reason_code: ReasonCode | None = None
    detail: str = ""


class ToolDecision(Record, frozen=True, kw_only=True):
    """Whether somebody may call a tool, and what each layer said. `layers` is additive: the derivation in order."""

    visible_to_operator: bool
    visible_to_session: bool
    callable: bool
    approval_required: bool
    reason_codes: tuple[ReasonCode, ...] = ()
    registry_policy_result: LayerResult | None = None
    agent_policy_result: LayerResult | None = None
    session_policy_result: LayerResult | None = None
    source_policy_result: LayerResult | None = None
    system_permission_mode: str = ""
    availability_result: LayerResult | None = None
    hook_result: LayerResult | None = None
    layers: tuple[PolicyLayer, ...] = ()


class ToolView(Record, frozen=True, kw_only=True):
    """A tool as somebody sees it."""

    descriptor: ToolDescriptor
    availability: ToolAvailability
    decision: ToolDecision


class Toolset(Record, frozen=True, kw_only=True):
    """A named group: its own tools, the groups it includes, and what both come to."""

    id: str
    status: Literal["ok", "unknown", "cycle"]
    tools: tuple[str, ...] = ()
    toolsets: tuple[str, ...] = ()
    expanded_tools: tuple[str, ...] = ()
    reason_codes: tuple[ReasonCode, ...] = ()


class ToolContent(Record, frozen=True, kw_only=True):
    """One block of a result: `text`, or `data` with a MIME type."""

    type: str
    text: str = ""
    mime_type: str = ""
    data: object | None = None
    metadata: dict[str, object] = {}


class ToolArtifact(Record, frozen=True, kw_only=True):
    """A kept result; `uri` is `compozy-artifact:art_<64 hex>`."""

    uri: str
    bytes: int = 0
    mime_type: str = ""
    name: str = ""
    sha256: str = ""


class ArtifactPage(Record, frozen=True, kw_only=True):
    """A part of an artifact."""

    artifact: ToolArtifact
    offset: int
    bytes: int
    total_bytes: int
    next_offset: int
    eof: bool
    data_base64: str


class ToolResult(Record, frozen=True, kw_only=True):
    """What a call gave. `bytes` is the whole result's size, also where only a preview is here."""

    bytes: int
    duration_ms: int
    truncated: bool
    content: tuple[ToolContent, ...] = ()
    structured: object | None = None
    preview: str = ""
    artifacts: tuple[ToolArtifact, ...] = ()
    metadata: dict[str, object] = {}


class ToolCallEvent(Record, frozen=True, kw_only=True):
    """One step of a call, without its input."""

    kind: Literal[
        "tool.call_started", "tool.call_completed", "tool.call_failed", "tool.call_denied", "tool.result_truncated"
    ]
    tool_id: str
    read_only: bool
    destructive: bool
    open_world: bool
    truncated: bool
    agent_name: str = ""
    approval_mode: str = ""
    correlation_id: str = ""
    decision: str = ""
    display_title: str = ""
    duration_ms: int = 0
    error_code: ErrorCode | None = None
    input_digest: str = ""
    reason_codes: tuple[ReasonCode, ...] = ()
    result_bytes: int = 0
    risk: Risk | None = None
    session_id: str = ""
    source_kind: SourceKind | None = None
    source_owner: str = ""
    workspace_id: str = ""


class ToolInvocation(Record, frozen=True, kw_only=True):
    """The answer of an invocation."""

    tool_id: str
    status: str
    duration_ms: int
    truncated: bool
    events: tuple[ToolCallEvent, ...]
    result: ToolResult


class ToolError(Record, frozen=True, kw_only=True):
    """The error of the tool endpoints (contract §3.1)."""

    code: ErrorCode
    message: str
    tool_id: str = ""
    layer: str = ""
    reason_codes: tuple[ReasonCode, ...] = ()
    details: dict[str, object] = {}
    partial_result: ToolResult | None = None


class ToolErrorEnvelope(Record, frozen=True, kw_only=True):
    """A refusal of the tool endpoints."""

    error: ToolError


class ApprovalGrant(Record, frozen=True, kw_only=True):
    """A remembered answer: for an exact input, for an agent, or for everybody in the workspace."""

    id: str
    workspace_id: str
    tool_id: str
    decision: Literal["allow", "reject"]
    created_at: str
    last_used_at: str
    agent_name: str = ""
    input_digest: str = ""


class ToolApproval(Record, frozen=True, kw_only=True):
    """A single-use permission to call one tool with one input; the token is shown once."""

    approval_token: str
    expires_at: str
    input_digest: str
    tool_id: str
