"""GET /api/status: health, sessions, providers, and sections of parts this product does not have (contract §3.6).

Clients read those sections without asking, so they are always there, empty and switched off.
"""

from compozy.model.record import Record


class StatusDaemon(Record, frozen=True, kw_only=True):
    """The process."""

    pid: int
    status: str
    version: str
    http_host: str
    http_port: int
    socket: str
    started_at: str
    user_home_dir: str
    min_app_version: str
    active_sessions: int
    total_sessions: int
    draining: bool
    schema_streams: tuple[str, ...]


class BridgeCounts(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Bridges by state."""

    auth_required: int = 0
    degraded: int = 0
    disabled: int = 0
    error: int = 0
    ready: int = 0
    starting: int = 0


class Bridges(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Bridges to chat programs: none here."""

    auth_failures_total: int = 0
    delivery_backlog: int = 0
    delivery_dropped_total: int = 0
    delivery_failures_total: int = 0
    route_count: int = 0
    total_instances: int = 0
    status_counts: BridgeCounts = BridgeCounts()


class Persistence(Record, frozen=True, kw_only=True):
    """Sizes in bytes."""

    status: str
    global_db_size_bytes: int
    session_db_size_bytes: int


class Retention(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Removal of old sessions: its settings and its last run; the deleted events stand under summaries."""

    enabled: bool = False
    retention_days: int = 0
    sweep_interval_seconds: int = 0
    last_sweep_status: str = "never"
    last_sweep_at: str | None = None
    last_sweep_error: str = ""
    deleted_event_summaries: int = 0
    deleted_permission_log_rows: int = 0
    deleted_token_stats: int = 0
    deleted_token_usage_daily: int = 0


class SessionFailure(Record, frozen=True, kw_only=True):
    """One session that failed lately."""

    session_id: str
    agent_name: str
    workspace_id: str
    state: str
    failure_kind: str
    summary: str
    updated_at: str


class Failures(Record, frozen=True, kw_only=True):
    """Failures among the sessions that stopped last."""

    status: str
    total: int
    by_kind: dict[str, int]
    recent: tuple[SessionFailure, ...]


class Health(Record, frozen=True, kw_only=True):
    """How the daemon is; sizes in bytes."""

    status: str
    version: str
    uptime_seconds: int
    active_agents: int
    active_sessions: int
    bridges: Bridges
    global_db_size_bytes: int
    session_db_size_bytes: int
    persistence: Persistence
    retention: Retention
    failures: Failures


class SessionCounts(Record, frozen=True, kw_only=True):
    """Sessions by state."""

    active: int
    total: int
    by_status: dict[str, int]


class StatusConfig(Record, frozen=True, kw_only=True):
    """Whether the files are valid and in force."""

    status: str
    validated: bool
    apply_state: str
    restart_required: bool
    config_file: str
    home_dir: str


class LogTail(Record, frozen=True, kw_only=True):
    """Whether there is a log."""

    available: bool
    status: str


class StatusLogin(Record, frozen=True, kw_only=True):
    """Whether a provider has a login command, and what to do next."""

    configured: bool
    presence: str
    recommended_action: str = ""


class StatusProvider(Record, frozen=True, kw_only=True):
    """A provider in short."""

    name: str
    display_name: str
    default: bool
    mode: str
    env_policy: str
    home_policy: str
    state: str
    login: StatusLogin
    code: str = ""
    message: str = ""


class StatusSkills(Record, frozen=True, kw_only=True):
    """Skills in numbers."""

    disabled_count: int
    discovered_count: int
    runtime_available: bool


class SubprocessHealth(Record, frozen=True, kw_only=True):
    """Agent programs that run."""

    status: str
    healthy: int
    monitored: int
    unhealthy: int


class EnabledCount(Record, frozen=True, kw_only=True, omit_defaults=False):
    """How many of how many are on."""

    enabled: int = 0
    total: int = 0


class StatusAutomation(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Scheduled jobs: none here."""

    enabled: bool = False
    jobs: EnabledCount = EnabledCount()
    triggers: EnabledCount = EnabledCount()
    scheduler_running: bool = False


class StatusMemory(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Memory: none here."""

    configured: bool = False
    enabled: bool = False
    dream_enabled: bool = False
    status: str = "disabled"
    last_consolidation: str | None = None
    last_operation_at: str | None = None
    last_reindex: str | None = None
    workspace_count: int = 0
    workspace_files: int = 0
    global_files: int = 0
    indexed_files: int = 0
    operation_count: int = 0
    orphaned_files: int = 0


class TaskRecovery(Record, frozen=True, kw_only=True, omit_defaults=False):
    """Tasks taken up again since the start."""

    failed: int = 0
    marked_running: int = 0
    requeued: int = 0


class StatusTasks(Record, frozen=True, kw_only=True, omit_defaults=False):
    """A queue of tasks: none here."""

    status: str = "disabled"
    active_orphan_runs: int = 0
    channel_mismatch_since_start: int = 0
    duplicate_ingress_since_start: int = 0
    forced_stops_since_start: int = 0
    oldest_queue_age_ms: int = 0
    queue_depth_total: int = 0
    recovery_since_start: TaskRecovery = TaskRecovery()


class Status(Record, frozen=True, kw_only=True):
    """The whole answer."""

    schema_version: str
    generated_at: str
    daemon: StatusDaemon
    health: Health
    sessions: SessionCounts
    config: StatusConfig
    log_tail: LogTail
    providers: tuple[StatusProvider, ...]
    skills: StatusSkills
    subprocess_health: SubprocessHealth
    automation: StatusAutomation
    bridges: Bridges
    memory: StatusMemory
    tasks: StatusTasks
