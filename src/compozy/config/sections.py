"""The sections of config.toml as records, with their defaults and bounds (contract §2.2, §3.6; decisions D15, D16).

The records are the one list of known keys: what is not a field here is refused. Durations are seconds.
Sections of the contract that this product does not act on are listed in `OTHER_SECTIONS`: they load and are ignored,
so that a home written for another implementation stays usable.
"""

from typing import Annotated, Literal

import msgspec

from compozy.config.durations import Duration
from compozy.model.definition import PermissionMode
from compozy.model.record import Record

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]
AgentName = Annotated[str, msgspec.Meta(pattern=r"^$|^[a-z][a-z0-9_-]{0,105}$")]
Free = dict[str, object]

# Sections other implementations of the contract know; here they are read past.
OTHER_SECTIONS = frozenset(
    {
        "network",
        "task",
        "memory",
        "automation",
        "bridges",
        "gateway",
        "loops",
        "marketplace",
        "sandbox",
        "sandboxes",
        "extensions",
        "resources",
        "worktrees",
        "ui",
        "update",
    }
)


class ReloadTimeouts(Record, frozen=True, kw_only=True):
    """How long a reload of each kind may take."""

    providers: Duration = Duration(5)
    mcp: Duration = Duration(10)
    bridges: Duration = Duration(30)


class DaemonSection(Record, frozen=True, kw_only=True):
    """[daemon]; an empty `socket` means ``daemon.sock`` in the home."""

    socket: str = ""
    memory_report_interval: Duration = Duration(300)
    subprocess_health_escalation_threshold: Positive = 3
    reload_timeouts: ReloadTimeouts = ReloadTimeouts()


class HttpSection(Record, frozen=True, kw_only=True):
    """[http]; with `enabled = false` only the socket is served."""

    enabled: bool = True
    host: str = "localhost"
    port: Port = 2123


class DefaultsSection(Record, frozen=True, kw_only=True):
    """[defaults]: what a session uses when nobody says otherwise."""

    agent: AgentName = "general"
    provider: str = ""
    sandbox: str = ""


class PermissionsSection(Record, frozen=True, kw_only=True):
    """[permissions]"""

    mode: PermissionMode = "approve-all"


class LimitsSection(Record, frozen=True, kw_only=True):
    """[limits]; the contract keeps this value but caps nothing with it."""

    max_concurrent_agents: Positive = 20


class SessionLimits(Record, frozen=True, kw_only=True):
    """[session.limits]; 0 means no limit."""

    timeout: Duration = Duration(0)


class Supervision(Record, frozen=True, kw_only=True):
    """[session.supervision]"""

    activity_heartbeat_interval: Duration = Duration(30)
    progress_notify_interval: Duration = Duration(600)
    inactivity_warning_after: Duration = Duration(900)
    inactivity_timeout: Duration = Duration(1800)
    timeout_cancel_grace: Duration = Duration(30)
    prompt_deadline: Duration = Duration(0)


class RecoverySection(Record, frozen=True, kw_only=True):
    """[session.recovery]: restarts of an agent that dies during a turn."""

    delays: tuple[Duration, ...] = (Duration(1), Duration(2), Duration(4))


class BusyInput(Record, frozen=True, kw_only=True):
    """[session.busy_input]"""

    default_mode: Literal["queue", "interrupt", "steer"] = "queue"
    queue_cap: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    max_text_bytes: Annotated[int, msgspec.Meta(ge=512, le=1 << 20)] = 65536


class Compaction(Record, frozen=True, kw_only=True):
    """[session.compaction]"""

    enabled: bool = True
    pressure_threshold: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.85
    max_attempts_per_turn: NotNegative = 1
    failure_cooldown: Duration = Duration(600)


class Attachments(Record, frozen=True, kw_only=True):
    """[session.attachments]"""

    max_file_bytes: Positive = 10 * 1024 * 1024
    max_files_per_prompt: NotNegative = 10
    allowed_mime: tuple[str, ...] = (
        "image/png",
        "image/jpeg",
        "image/webp",
        "application/pdf",
        "text/markdown",
        "text/plain",
    )
    retention: Free = {}


class SessionRetention(Record, frozen=True, kw_only=True):
    """[session.retention]: which stopped sessions are removed by themselves; 0 keeps them. Home's file only."""

    max_age: Duration = Duration(0)
    max_sessions: NotNegative = 0
    max_bytes: NotNegative = 0
    interval: Duration = Duration(3600)


class SessionSection(Record, frozen=True, kw_only=True):
    """[session.*]"""

    limits: SessionLimits = SessionLimits()
    supervision: Supervision = Supervision()
    recovery: RecoverySection = RecoverySection()
    busy_input: BusyInput = BusyInput()
    compaction: Compaction = Compaction()
    attachments: Attachments = Attachments()
    retention: SessionRetention = SessionRetention()


class HostedMcp(Record, frozen=True, kw_only=True):
    """[tools.hosted_mcp]"""

    bind_nonce_ttl_seconds: Annotated[int, msgspec.Meta(ge=1, le=300)] = 30


class ToolsPolicy(Record, frozen=True, kw_only=True):
    """[tools.policy]"""

    external_default: Literal["disabled", "ask", "enabled"] = "disabled"
    approval_timeout_seconds: Annotated[int, msgspec.Meta(ge=1, le=600)] = 120
    trusted_sources: tuple[Annotated[str, msgspec.Meta(pattern="^(mcp|extension):.+$")], ...] = ()


class Clarify(Record, frozen=True, kw_only=True):
    """[tools.clarify]"""

    timeout: Duration = Duration(300)


class ToolsSection(Record, frozen=True, kw_only=True):
    """[tools]"""

    enabled: bool = True
    hosted_mcp_enabled: bool = True
    default_max_result_bytes: Annotated[int, msgspec.Meta(ge=0, le=16 << 20)] = 262144
    hosted_mcp: HostedMcp = HostedMcp()
    policy: ToolsPolicy = ToolsPolicy()
    clarify: Clarify = Clarify()
    artifacts: Free = {}


class SkillsSection(Record, frozen=True, kw_only=True):
    """[skills]"""

    enabled: bool = True
    disabled_skills: tuple[str, ...] = ()
    poll_interval: Duration = Duration(3)
    allowed_marketplace_mcp: tuple[str, ...] = ()
    allowed_marketplace_hooks: tuple[str, ...] = ()


class AgentsSection(Record, frozen=True, kw_only=True):
    """[agents.*]: soul and heartbeat, kept as written until the issue that acts on them."""

    soul: Free = {}
    heartbeat: Free = {}


class LogSection(Record, frozen=True, kw_only=True):
    """[log]"""

    level: Literal["debug", "info", "warn", "error"] = "info"
    max_size_mb: Positive = 10
    max_backups: NotNegative = 5
    max_age_days: NotNegative = 30
    compress_backups: bool = False


class RedactSection(Record, frozen=True, kw_only=True):
    """[redact]; off only stops the search for provider-token shapes, never the rest."""

    enabled: bool = True


class ObservabilitySection(Record, frozen=True, kw_only=True):
    """[observability]"""

    enabled: bool = True
    retention_days: NotNegative = 7
    max_global_bytes: NotNegative = 1 << 30


class TrustSection(Record, frozen=True, kw_only=True):
    """[trust]; read from the home's file only (D15)."""

    mode: Literal["required", "off"] = "required"


class HistorySection(Record, frozen=True, kw_only=True):
    """[history]: the kept states of agent folders; an age of 0 keeps them however old."""

    max_age: Duration = Duration(90 * 86400)
    max_bytes: Annotated[int, msgspec.Meta(ge=1 << 20)] = 256 << 20


class SelectionSection(Record, frozen=True, kw_only=True):
    """[selection]: how an agent is chosen for a task; `semantic` needs the extra `compozy[semantic]`."""

    semantic: bool = False


class ModelsDevSection(Record, frozen=True, kw_only=True):
    """[models_dev]: where facts about models are fetched from when somebody asks; empty reaches nothing."""

    url: str = ""


class HooksSection(Record, frozen=True, kw_only=True):
    """[hooks]: the declarations as written; `runtime` reads them."""

    declarations: tuple[Free, ...] = ()
