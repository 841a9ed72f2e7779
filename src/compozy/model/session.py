"""The session payload and its parts, exactly as clients read them (shapes: Session, Runtime, Lineage, …).

Fields without default are always present on the wire. Times are RFC 3339 UTC text.
"""

from typing import Literal, get_args

from compozy.model.record import Record

SessionState = Literal["starting", "active", "stopping", "stopped"]
SessionType = Literal["user", "dream", "system", "coordinator", "spawned"]
RuntimeStatus = Literal["unbound", "binding", "ready", "reconfiguring", "recovering", "failed"]
Speed = Literal["normal", "fast"]
SpeedReason = Literal["capability_absent", "capability_ambiguous", "value_ambiguous", "provider_rejected"]
StopReason = Literal[
    "completed",
    "user_canceled",
    "max_iterations",
    "loop_detected",
    "timeout",
    "budget_exceeded",
    "error",
    "agent_crashed",
    "hook_stopped",
    "shutdown",
]
FailureKind = Literal[
    "startup_failure",
    "handshake_failure",
    "load_session_failure",
    "protocol_failure",
    "prompt_failure",
    "cancellation",
    "permission_failure",
    "provider_auth_failure",
    "process_exit",
    "transport_failure",
    "timeout",
    "unknown_failure",
]
Badge = Literal[
    "running",
    "idle",
    "unhealthy",
    "hung",
    "waiting-for-auth",
    "waiting-for-input",
    "done",
    "stopped",
    "failed",
    "unknown",
]
DefinitionState = Literal["unchanged", "changed", "capabilities_changed", "deleted", "invalid"]
BADGES: tuple[str, ...] = get_args(Badge)


class Failure(Record, frozen=True, kw_only=True):
    """Why a session or turn failed; `summary` is redacted and at most 2,048 bytes."""

    kind: FailureKind
    summary: str = ""
    crash_bundle_path: str = ""


class RuntimeSelection(Record, frozen=True, kw_only=True):
    """What a client chose (RuntimeSel)."""

    provider: str
    model: str = ""
    reasoning_effort: str = ""
    speed: Speed | None = None


class SpeedResolution(Record, frozen=True, kw_only=True):
    """What became of a speed that was asked for."""

    requested: Speed
    status: Literal["applied", "unsupported", "rejected"]
    reason: SpeedReason | None = None


class EffectiveRuntime(Record, frozen=True, kw_only=True):
    """What is in force for the session."""

    provider: str
    model: str = ""
    reasoning_effort: str = ""
    speed: Speed | None = None
    speed_resolution: SpeedResolution | None = None


class ConfigOptionValue(Record, frozen=True, kw_only=True):
    """One value an agent offers for a config option."""

    value: str
    label: str = ""
    description: str = ""


class ConfigOption(Record, frozen=True, kw_only=True):
    """One config option the agent advertises; `kind` is ``select`` or ``boolean``."""

    id: str
    kind: str
    label: str = ""
    description: str = ""
    current: str = ""
    values: tuple[ConfigOptionValue, ...] = ()


class AcpCapabilities(Record, frozen=True, kw_only=True):
    """What the agent program said it can do (AcpCaps)."""

    prompt_audio: bool
    prompt_embedded_context: bool
    prompt_image: bool
    supports_load_session: bool
    supported_modes: tuple[str, ...] = ()
    config_options: tuple[ConfigOption, ...] = ()


class RuntimeRecovery(Record, frozen=True, kw_only=True):
    """An automatic restart of an agent that died during a turn, as long as it goes on."""

    attempt: int
    max_attempts: int
    generation: int
    started_at: str
    last_attempt_at: str
    next_attempt_at: str | None = None
    last_error: str = ""


class Runtime(Record, frozen=True, kw_only=True):
    """The binding of a session to an agent process."""

    status: RuntimeStatus
    selection_revision: int
    transition: str = ""
    selected: RuntimeSelection | None = None
    effective: EffectiveRuntime | None = None
    acp_session_id: str = ""
    acp_caps: AcpCapabilities | None = None
    failure: str = ""
    failure_code: str = ""
    """Additive: the code of the error that `failure` tells of."""
    generation: int = 0
    recovery: RuntimeRecovery | None = None


class Activity(Record, frozen=True, kw_only=True):
    """What the running turn does now (shapes: Activity)."""

    elapsed_ms: int
    elapsed_seconds: int
    idle_seconds: int
    iteration_current: int
    iteration_max: int
    current_tool: str = ""
    deadline_at: str | None = None
    last_activity_at: str | None = None
    last_activity_detail: str = ""
    last_activity_kind: str = ""
    last_progress_at: str | None = None
    tool_call_id: str = ""
    turn_id: str = ""
    turn_source: str = ""
    turn_started_at: str | None = None


class PermissionPolicy(Record, frozen=True, kw_only=True):
    """What a session and its children may touch."""

    mcp_servers: tuple[str, ...]
    network_channels: tuple[str, ...]
    sandbox_profiles: tuple[str, ...]
    skills: tuple[str, ...]
    tools: tuple[str, ...]
    workspace_paths: tuple[str, ...]


class SpawnBudget(Record, frozen=True, kw_only=True):
    """How many children may follow; `ttl_seconds` in seconds, 0 for none."""

    max_children: int
    max_depth: int
    ttl_seconds: int
    max_active_per_workspace: int = 0


class Lineage(Record, frozen=True, kw_only=True):
    """Parent and root of a session."""

    auto_stop_on_parent: bool
    notify_creator: bool
    permission_policy: PermissionPolicy
    spawn_budget: SpawnBudget
    spawn_depth: int
    parent_session_id: str = ""
    root_session_id: str = ""
    spawn_role: str = ""
    ttl_expires_at: str | None = None


class Interaction(Record, frozen=True, kw_only=True):
    """A question to a person: a permission or a clarification."""

    interaction_id: str
    kind: Literal["permission", "clarify"]
    provider_request_id: str
    status: Literal["pending", "orphaned", "resolved", "timed_out", "canceled"]
    created_at: str
    title: str = ""
    turn_id: str = ""
    decisions: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    resolution: str = ""
    resolved_at: str | None = None
    resolved_by: str = ""
    expires_at: str = ""
    """Additive: when the stated default answer is given for the person."""
    default_decision: str = ""
    """Additive: the answer that is given then; empty for a clarification, which goes on without one."""
    action: str = ""
    """Additive, with `resource`: the kind of tool call that is asked about, and the paths it names."""
    resource: str = ""
    session_id: str = ""
    """Additive: the child session that asks, where questions of children are listed too."""


class SessionUsage(Record, frozen=True, kw_only=True):
    """Tokens and cost of a session so far, as its agents reported them; null where nobody said (shapes: usage)."""

    turn_count: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    total_cost: float | None = None
    cost_currency: str = ""
    cost_source: Literal["agent_reported", "none"] = "none"
    cost_status: Literal["actual", "unknown"] = "unknown"


class SessionHealth(Record, frozen=True, kw_only=True):
    """Whether a session's agent can be worked with, and why not (shapes: SessionHealth)."""

    session_id: str
    workspace_id: str
    agent_name: str
    state: Literal["idle", "prompting", "stopped", "detached"]
    health: Literal["healthy", "degraded", "stale", "dead", "unknown"]
    active_prompt: bool
    attachable: bool
    eligible_for_wake: bool
    updated_at: str
    ineligibility_reason: str = ""
    last_activity_at: str | None = None
    last_presence_at: str | None = None
    last_error: str = ""


class CommandInput(Record, frozen=True, kw_only=True):
    """The hint an agent gives for a slash command's argument."""

    hint: str


class AvailableCommand(Record, frozen=True, kw_only=True):
    """One slash command the agent advertises."""

    name: str
    description: str
    input: CommandInput | None = None


class NetworkParticipation(Record, frozen=True, kw_only=True):
    """Whether a session joins a network; always local in this product (required fields: always on the wire)."""

    version: str
    mode: str
    source: str


LOCAL_PARTICIPATION = NetworkParticipation(version="network-participation/v1", mode="local", source="built_in_local")


class Session(Record, frozen=True, kw_only=True):
    """The session payload (shapes: Session), with additive fields that are marked or digests."""

    id: str
    agent_name: str
    state: SessionState
    badge: Badge
    runtime: Runtime
    attachable: bool
    pending_interactions: tuple[Interaction, ...]
    available_commands: tuple[AvailableCommand, ...]
    archived_at: str | None
    created_at: str
    updated_at: str
    name: str = ""
    type: SessionType | None = None
    workspace_id: str = ""
    workspace_path: str = ""
    lineage: Lineage | None = None
    stop_reason: StopReason | None = None
    stop_detail: str = ""
    failure: Failure | None = None
    resolved_network_participation: NetworkParticipation | None = None
    transcript_epoch: int = 0
    definition_digest: str = ""
    capabilities_digest: str = ""
    attached_to: str = ""
    attach_expires_at: str | None = None
    attention_changed_at: str | None = None
    health: SessionHealth | None = None
    """Only where it was asked for (`include_health`)."""
    usage: SessionUsage | None = None
    """Additive: tokens and cost so far, once a turn has ended."""
    permissions: str = ""
    """Additive: the permission mode in force."""
    definition_state: DefinitionState | None = None
    """Additive, in the answer about one session: what became of the definition it began with."""
    activity: Activity | None = None
    """What the running turn does; made for each answer, never stored."""
