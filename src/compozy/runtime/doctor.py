"""The doctor's report of a running daemon: the home's checks plus store, log, socket and agents (contract §3.6)."""

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from compozy.config.doctor import check_home
from compozy.config.errors import ConfigError
from compozy.config.findings import Finding, finding, report
from compozy.config.keys import Key, join_key
from compozy.config.live import differing_keys
from compozy.config.load import load_config
from compozy.model.doctor import Report
from compozy.model.errors import CompozyError
from compozy.runtime.doctor_trust import trust_findings
from compozy.runtime.services import Services


async def doctor_report(app: Services, *, only: str = "", exclude: str = "", quiet: bool = False) -> Report:
    """Run every check and sum up."""
    started = time.monotonic()
    # Looks at PATH and folders: not in the loop.
    items = await asyncio.to_thread(check_home, app.home)
    items += [
        *_listeners(app),
        *await asyncio.to_thread(lambda: list(_settings(app))),
        *_log(app),
        *await _store(app),
        *await _agents(app),
        *await trust_findings(app),
        *_servers(app),
    ]
    duration = round((time.monotonic() - started) * 1000)
    return report(items, duration, only=only, exclude=exclude, quiet=quiet)


def _listeners(app: Services) -> Iterator[Finding]:
    usual = str(app.home.socket)
    if app.status.socket != usual and not app.config.daemon.socket:
        text = f"{usual!r} is too long for a socket; the daemon listens on {app.status.socket!r}"
        yield finding("daemon", "socket_elsewhere", "info", text)
    if app.status.is_draining:
        text = "the daemon is draining and admits no new work"
        yield finding("daemon", "daemon_draining", "warn", text, command="compozy undrain")
    yield finding("daemon", "running", "ok", f"daemon {app.status.pid} serves {app.status.socket!r}")


def _settings(app: Services) -> Iterator[Finding]:
    """What the file says and the daemon does not do yet; a file that cannot be read is the home's finding."""
    try:
        differing = differing_keys(app.config, load_config(app.home))
    except ConfigError:
        return
    if differing:
        text = f"config.toml changed after the daemon started: restart it to use the new {_few(differing)}"
        command = "compozy daemon stop && compozy daemon start"
        yield finding("config", "restart_required", "warn", text, command=command)


def _few(keys: Sequence[Key]) -> str:
    named = ", ".join(join_key(key) for key in keys[:3])
    return named if len(keys) <= 3 else f"{named} and {len(keys) - 3} more"


def _log(app: Services) -> Iterator[Finding]:
    path = app.home.log_file
    if not os.access(path, os.W_OK):
        yield finding("log", "log_not_writable", "error", f"the log {str(path)!r} cannot be written; check its owner")
    crash = path.with_name("daemon-crash.log")
    if _size(crash):
        text = f"the interpreter wrote to {str(crash)!r}; that is a fault, please report it"
        yield finding("log", "crash_log", "warn", text)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


async def _store(app: Services) -> list[Finding]:
    try:
        counts = await app.store.count_sessions()
    except CompozyError as error:
        return [finding("store", "store_unavailable", "error", error.message)]
    return [finding("store", "store_ready", "ok", f"the store answers; sessions in it: {sum(counts.values())}")]


def _servers(app: Services) -> Iterator[Finding]:
    """Name the MCP servers that were used and do not work."""
    rows = app.mcp_servers.status().servers
    for number, row in enumerate(rows, start=1):
        if row.state not in ("backoff", "failed", "needs_login"):
            continue
        command = f"compozy mcp auth login {row.name}" if row.state == "needs_login" else "compozy mcp status"
        text = f"MCP server {row.name!r} does not work: {row.last_error}"
        code = f"mcp_{row.state}"
        yield finding("mcp", f"server_{number}", "warn", text, code=code, command=command)
    ready = sum(row.state == "ready" for row in rows)
    if ready:
        yield finding("mcp", "servers_ready", "ok", f"MCP servers that are ready: {ready}")


async def _agents(app: Services) -> list[Finding]:
    """Findings about the definitions of the home; those of workspaces are the business of `agent check`."""
    listed = await app.fleet.visible(None)
    broken = [agent for agent in listed.agents if agent.diagnostics]
    findings = [
        finding(
            "agents",
            f"invalid_{agent.name or number}",
            "error",
            f"agent {agent.name!r} does not load: {agent.diagnostics[0].message}",
            code=agent.diagnostics[0].error_kind or "agent_invalid",
            command=f"compozy agent check {agent.diagnostics[0].path}",
        )
        for number, agent in enumerate(broken, start=1)
    ]
    findings += [
        finding("agents", "source_unreadable", "error", f"{source.path!r} cannot be read: {source.message}")
        for source in listed.sources
        if source.state == "unreadable"
    ]
    good = len(listed.agents) - len(broken)
    return [*findings, finding("agents", "loaded", "ok", f"agents of this home that load: {good}")]
