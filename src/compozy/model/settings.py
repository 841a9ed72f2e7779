"""Settings as the daemon answers them: general settings, and what came of a change (contract §2.1, §12; shapes)."""

from typing import Literal

from compozy.model.definition import PermissionMode
from compozy.model.record import Record


class SettingsApply(Record, frozen=True, kw_only=True):
    """What a change or a reload brought: what is in force now, and what waits for a restart (SettingsApply)."""

    active_config_hash: str
    active_generation: int
    applied: bool
    apply_record_id: str
    lifecycle: Literal["live", "restart-required"]
    next_action: Literal["none", "restart-daemon"]
    restart_required: bool
    scope: Literal["global"]
    write_target: Literal["global-config"]
    warnings: tuple[str, ...]
    section: str = ""
    waiting: tuple[str, ...] | None = None
    """The keys that wait for a restart; None from a daemon that does not say (additive)."""


class ReloadTimeouts(Record, frozen=True, kw_only=True):
    """How long parts of the daemon may take to follow a change, such as ``5s``."""

    bridges: str
    mcp: str
    providers: str


class DaemonSettings(Record, frozen=True, kw_only=True):
    """The daemon's own settings."""

    socket: str
    memory_report_interval: str
    reload_timeouts: ReloadTimeouts


class DefaultSettings(Record, frozen=True, kw_only=True):
    """What is used where nobody says otherwise."""

    agent: str
    provider: str
    sandbox: str


class HttpSettings(Record, frozen=True, kw_only=True):
    """Where HTTP is served."""

    host: str
    port: int


class LimitSettings(Record, frozen=True, kw_only=True):
    """Limits of the whole daemon."""

    max_concurrent_agents: int


class PermissionSettings(Record, frozen=True, kw_only=True):
    """The home's mode."""

    mode: PermissionMode


class RedactSettings(Record, frozen=True, kw_only=True):
    """Whether secrets are masked."""

    enabled: bool


class GeneralConfig(Record, frozen=True, kw_only=True):
    """The general settings that can be changed; durations are texts such as ``30m``."""

    daemon: DaemonSettings
    defaults: DefaultSettings
    http: HttpSettings
    limits: LimitSettings
    permissions: PermissionSettings
    redact: RedactSettings
    session_timeout: str


class ConfigPaths(Record, frozen=True, kw_only=True):
    """Where the files of the home lie."""

    home_dir: str
    global_config: str
    global_mcp_sidecar: str
    daemon_info: str
    log_file: str


class RuntimeFacts(Record, frozen=True, kw_only=True):
    """The daemon that runs; `uptime_seconds` in seconds."""

    available: bool
    pid: int
    status: str
    version: str
    http_host: str
    http_port: int
    socket: str
    started_at: str
    uptime_seconds: int
    active_agents: int
    active_sessions: int
    total_sessions: int


class SettingsAction(Record, frozen=True, kw_only=True):
    """Something the page could do."""

    name: str
    available: bool
    behavior: Literal["applied_now", "restart_required", "action_trigger"]


class SettingsActions(Record, frozen=True, kw_only=True):
    """What the page of general settings could do."""

    restart: SettingsAction


class GeneralSettings(Record, frozen=True, kw_only=True):
    """The whole page of general settings."""

    section: Literal["general"]
    scope: Literal["global"]
    available_scopes: tuple[Literal["global"], ...]
    config: GeneralConfig
    config_paths: ConfigPaths
    runtime: RuntimeFacts
    actions: SettingsActions
