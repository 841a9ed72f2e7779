"""The general settings as the web page reads and writes them (shapes: onboarding, fs browse, settings)."""

from collections.abc import Mapping

import msgspec

from compozy.config.config import Config
from compozy.config.home import Home
from compozy.config.keys import Key
from compozy.model.errors import InvalidRequest
from compozy.model.settings import (
    ConfigPaths,
    DaemonSettings,
    DefaultSettings,
    GeneralConfig,
    GeneralSettings,
    HttpSettings,
    LimitSettings,
    PermissionSettings,
    RedactSettings,
    ReloadTimeouts,
    RuntimeFacts,
    SettingsAction,
    SettingsActions,
)
from compozy.runtime.status import DaemonStatus


def general_config(config: Config, home: Home) -> GeneralConfig:
    """Return the editable part of GET /api/settings/general."""
    timeouts = config.daemon.reload_timeouts
    return GeneralConfig(
        daemon=DaemonSettings(
            socket=config.daemon.socket or str(home.socket),
            memory_report_interval=config.daemon.memory_report_interval.text,
            reload_timeouts=ReloadTimeouts(
                bridges=timeouts.bridges.text, mcp=timeouts.mcp.text, providers=timeouts.providers.text
            ),
        ),
        defaults=DefaultSettings(
            agent=config.defaults.agent, provider=config.defaults.provider, sandbox=config.defaults.sandbox
        ),
        http=HttpSettings(host=config.http.host, port=config.http.port),
        limits=LimitSettings(max_concurrent_agents=config.limits.max_concurrent_agents),
        permissions=PermissionSettings(mode=config.permissions.mode),
        redact=RedactSettings(enabled=config.redact.enabled),
        session_timeout=config.session.limits.timeout.text,
    )


def general_answer(config: Config, home: Home, status: DaemonStatus, counts: Mapping[str, int]) -> GeneralSettings:
    """Return the whole answer; `counts` are the sessions by state."""
    active = counts.get("active", 0) + counts.get("starting", 0) + counts.get("stopping", 0)
    return GeneralSettings(
        section="general",
        scope="global",
        available_scopes=("global",),
        config=general_config(config, home),
        config_paths=ConfigPaths(
            home_dir=str(home.root),
            global_config=str(home.config_file),
            global_mcp_sidecar=str(home.mcp_file),
            daemon_info=str(home.record_file),
            log_file=str(home.log_file),
        ),
        runtime=RuntimeFacts(
            available=True,
            pid=status.pid,
            status=status.state,
            version=status.identity().daemon.version,
            http_host=status.host,
            http_port=status.port,
            socket=status.socket,
            started_at=status.started_at,
            uptime_seconds=status.uptime_seconds,
            active_agents=active,
            active_sessions=active,
            total_sessions=sum(counts.values()),
        ),
        # The daemon does not start itself anew; the page shows the command.
        actions=SettingsActions(restart=SettingsAction(name="restart", available=False, behavior="restart_required")),
    )


def general_changes(asked: Mapping[str, object], shown: GeneralConfig) -> dict[Key, object]:
    """Return what a PATCH changes, by key of the file: only what differs from what was shown.

    Raises:
        InvalidRequest: a field that general settings do not have.
    """
    changes: dict[Key, object] = {}
    _compare(asked, msgspec.to_builtins(shown), (), changes)
    timeout = changes.pop(("session_timeout",), None)
    if timeout is not None:
        changes["session", "limits", "timeout"] = timeout
    return changes


def _compare(
    asked: Mapping[str, object], shown: Mapping[str, object], above: Key, changes: dict[Key, object]
) -> None:
    for name, value in asked.items():
        key = (*above, name)
        if name not in shown:
            known = ", ".join(sorted(shown))
            raise InvalidRequest(f"config.{'.'.join(key)} is no general setting; known here: {known}")
        before = shown[name]
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            _compare(value, before, key, changes)
        elif value is None or isinstance(value, Mapping | list) or isinstance(before, Mapping):
            raise InvalidRequest(f"config.{'.'.join(key)} is {value!r}; write it like {before!r}")
        elif value != before:
            changes[key] = value
