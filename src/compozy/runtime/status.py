"""What the daemon says about itself: identity, health, drain state (contract §3.6).

The full status answer of the contract also reports parts this product does not have (automation, bridges, memory,
tasks); those sections are present and say so, because clients read them without asking.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from compozy import __version__
from compozy.config.config import Config
from compozy.config.detection import missing_program
from compozy.config.home import Home
from compozy.model.daemon import DaemonIdentity, DrainState, IdentityAnswer
from compozy.model.errors import Unavailable
from compozy.model.provider import Provider
from compozy.model.status import (
    Bridges,
    Failures,
    Health,
    LogTail,
    Persistence,
    Retention,
    SessionCounts,
    SessionFailure,
    Status,
    StatusAutomation,
    StatusConfig,
    StatusDaemon,
    StatusLogin,
    StatusMemory,
    StatusProvider,
    StatusSkills,
    StatusTasks,
    SubprocessHealth,
)
from compozy.model.times import now
from compozy.store.interface import SessionQuery, Store

STATUS_SCHEMA = "compozy.status.v1"
IDENTITY_SCHEMA = "compozy.identity.v1"
# The oldest desktop application the contract's clients may be; we make no demands.
_MIN_APP_VERSION = "0.0.0"
# How many stopped sessions are looked at for failures, and how many of these are shown.
_LOOKED_AT = 100
_SHOWN_FAILURES = 10


@dataclass(kw_only=True)
class DaemonStatus:
    """Identity and drain state of this process. `port` is 0 while HTTP is off."""

    home: Home
    host: str
    port: int
    socket: str
    pid: int = field(default_factory=os.getpid)
    started_at: str = field(default_factory=now)
    state: str = "starting"
    is_draining: bool = False
    # Set by the settings service: the file says something that only the next start takes over.
    restart_required: bool = False
    # Set by the sessions service: how many turns run now.
    count_executions: Callable[[], int] = lambda: 0
    # Set by retention: its settings and its last run.
    describe_retention: Callable[[], Retention] = Retention
    _started: float = field(default_factory=time.monotonic)

    def identity(self) -> IdentityAnswer:
        """Answer the cheap probe."""
        return IdentityAnswer(
            schema_version=IDENTITY_SCHEMA,
            daemon=DaemonIdentity(
                pid=self.pid,
                version=__version__,
                http_host=self.host,
                http_port=self.port,
                started_at=self.started_at,
                user_home_dir=str(Path.home()),
            ),
        )

    def drain(self) -> DrainState:
        """Admit no new work; what runs goes on."""
        self.is_draining = True
        return self.drain_state()

    def undrain(self) -> DrainState:
        """Admit work again, unless the daemon is stopping.

        Raises:
            Unavailable: it is stopping.
        """
        if self.state == "stopping":
            raise Unavailable("the daemon is stopping; start it again", code="daemon_draining", diagnostic=True)
        self.is_draining = False
        return self.drain_state()

    def drain_state(self) -> DrainState:
        """Say what still runs."""
        running = self.count_executions()
        return DrainState(
            state="draining" if self.is_draining else "active",
            admission_closed=self.is_draining,
            active_session_executions=running,
            session_execution_settled=running == 0,
            active_task_claims=0,
            authoritative_claims_settled=True,
            safe_to_stop=self.is_draining and running == 0,
        )

    @property
    def uptime_seconds(self) -> int:
        return int(time.monotonic() - self._started)


async def status_answer(status: DaemonStatus, config: Config, store: Store) -> Status:
    """Build the answer of GET /api/status."""
    counts = await store.count_sessions()
    active = counts.get("active", 0) + counts.get("starting", 0) + counts.get("stopping", 0)
    total = sum(counts.values())
    return Status(
        schema_version=STATUS_SCHEMA,
        generated_at=now(),
        daemon=_daemon(status, active, total),
        health=_health(status, active, _size(status.home.database), await _failures(store)),
        sessions=SessionCounts(active=active, total=total, by_status=dict(counts)),
        config=StatusConfig(
            status="ok",
            validated=True,
            apply_state="restart_required" if status.restart_required else "applied",
            restart_required=status.restart_required,
            config_file=str(status.home.config_file),
            home_dir=str(status.home.root),
        ),
        log_tail=LogTail(available=status.home.log_file.exists(), status="ok"),
        providers=await asyncio.to_thread(_providers, config),
        skills=StatusSkills(
            disabled_count=len(config.skills.disabled_skills), discovered_count=0, runtime_available=False
        ),
        subprocess_health=SubprocessHealth(status="ok", healthy=active, monitored=active, unhealthy=0),
        automation=StatusAutomation(),
        bridges=Bridges(),
        memory=StatusMemory(),
        tasks=StatusTasks(),
    )


def _daemon(status: DaemonStatus, active: int, total: int) -> StatusDaemon:
    return StatusDaemon(
        pid=status.pid,
        status=status.state,
        version=__version__,
        http_host=status.host,
        http_port=status.port,
        socket=status.socket,
        started_at=status.started_at,
        user_home_dir=str(Path.home()),
        min_app_version=_MIN_APP_VERSION,
        active_sessions=active,
        total_sessions=total,
        draining=status.is_draining,
        schema_streams=(),
    )


def _health(status: DaemonStatus, active: int, size: int, failures: Failures) -> Health:
    return Health(
        status="ok",
        version=__version__,
        uptime_seconds=status.uptime_seconds,
        active_agents=active,
        active_sessions=active,
        bridges=Bridges(),
        global_db_size_bytes=size,
        session_db_size_bytes=0,
        persistence=Persistence(status="ok", global_db_size_bytes=size, session_db_size_bytes=0),
        retention=status.describe_retention(),
        failures=failures,
    )


async def _failures(store: Store) -> Failures:
    """Sum up the failures among the sessions that stopped last."""
    page = await store.list_sessions(SessionQuery(state="stopped", limit=_LOOKED_AT))
    failed = [(row.session, row.session.failure) for row in page.rows if row.session.failure is not None]
    recent = tuple(
        SessionFailure(
            session_id=session.id,
            agent_name=session.agent_name,
            workspace_id=session.workspace_id,
            state=session.state,
            failure_kind=failure.kind,
            summary=failure.summary,
            updated_at=session.updated_at,
        )
        for session, failure in failed[:_SHOWN_FAILURES]
    )
    kinds = Counter(str(failure.kind) for _, failure in failed)
    return Failures(status="degraded" if failed else "ok", total=len(failed), by_kind=dict(kinds), recent=recent)


def _providers(config: Config) -> tuple[StatusProvider, ...]:
    """Describe every provider; many share one program, which is looked up once."""
    found: dict[str, str] = {}
    rows: list[StatusProvider] = []
    for row in config.providers.values():
        if row.command not in found:
            found[row.command] = missing_program(row)
        rows.append(_provider(row, config, found[row.command]))
    return tuple(rows)


def _provider(row: Provider, config: Config, missing: str) -> StatusProvider:
    return StatusProvider(
        name=row.id,
        display_name=row.display_name,
        default=row.id == config.defaults.provider,
        mode=row.auth_mode,
        env_policy=row.env_policy,
        home_policy=row.home_policy,
        state="missing_cli" if missing else ("none" if row.auth_mode == "none" else "unknown"),
        code="provider_cli_missing" if missing else "",
        message=f"program {missing!r} is not on PATH" if missing else "",
        login=StatusLogin(
            configured=bool(row.auth_login_command),
            presence="missing" if missing else "unknown",
            recommended_action="install_cli" if missing else "",
        ),
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
