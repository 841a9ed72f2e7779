"""What a running daemon knows about trust: what changed since it was trusted, and which sessions wait for it (D15).

Looks at a bounded number of workspaces and sessions; reads, and runs nothing.
"""

import asyncio
import shlex
from collections.abc import Iterable

from compozy.config.findings import Finding, finding
from compozy.model.errors import CompozyError
from compozy.model.trust import TrustReport
from compozy.model.workspace import Workspace
from compozy.runtime.services import Services
from compozy.runtime.trust import Trust
from compozy.store.interface import SessionQuery, SessionRecord

# A report is for reading; what lies beyond is found by `trust show` in that workspace.
_MOST_WORKSPACES = 50
_MOST_SESSIONS = 500
_PAGE = 100


async def trust_findings(app: Services) -> list[Finding]:
    """Return what asks for trust again, each with the command that shows it."""
    found: list[Finding] = []
    try:
        for workspace in (await app.workspaces.all())[:_MOST_WORKSPACES]:
            found += await _changed(app, workspace)
        found += await asyncio.to_thread(_waiting, app.trust, await _sessions(app))
    except CompozyError:
        # The home's own check names a record that cannot be read.
        return found
    return found


async def _changed(app: Services, workspace: Workspace) -> list[Finding]:
    """Name the files of a workspace that were trusted once and are not as they were."""
    try:
        agents = [(row.loaded, row.origin) for row in await app.fleet.in_force(workspace)]
        config = await app.configs.of(workspace.root_dir)
        report = await asyncio.to_thread(app.trust.report, agents, workspace, config)
        known = await asyncio.to_thread(app.trust.grants.all)
    except CompozyError as error:
        text = f"what workspace {workspace.name!r} brings cannot be looked at: {error.message}"
        command = f"compozy config validate --workspace {shlex.quote(workspace.root_dir)}"
        return [
            finding("trust", f"unreadable_{workspace.id}", "warn", text, code="trust_unreadable", command=command)
        ]
    paths = _once_trusted(report, {grant.path for grant in known})
    if not paths:
        return []
    text = f"changed since they were trusted: {_few(paths)}; sessions that need them are refused until you look again"
    return [
        finding(
            "trust",
            f"changed_{workspace.id}",
            "warn",
            text,
            code="trust_changed",
            command=_grant(workspace.root_dir),
            evidence={"workspace": workspace.root_dir, "paths": paths},
        )
    ]


def _once_trusted(report: TrustReport, paths: set[str]) -> list[str]:
    return sorted({item.path for item in report.items if not item.trusted and item.path in paths})


async def _sessions(app: Services) -> list[SessionRecord]:
    found: list[SessionRecord] = []
    after: tuple[str, ...] = ()
    while len(found) < _MOST_SESSIONS:
        rows = await app.store.list_sessions(SessionQuery(limit=_PAGE, after=after))
        found += (row for row in rows.rows if row.trust_marks)
        after = rows.next_after
        if not after:
            break
    return found


def _waiting(trust: Trust, sessions: Iterable[SessionRecord]) -> list[Finding]:
    """Name the sessions whose agent would not be started as things are."""
    by_workspace: dict[str, list[str]] = {}
    for record in sessions:
        session = record.session
        try:
            trust.look_again(record.trust_marks, session.workspace_path, session.agent_name)
        except CompozyError:
            by_workspace.setdefault(session.workspace_path, []).append(session.id)
    return [
        finding(
            "trust",
            f"sessions_waiting_{number}",
            "warn",
            f"sessions in {root!r} whose agent starts only after trust: {_few(ids)}",
            code="sessions_waiting",
            command=_grant(root),
            evidence={"workspace": root, "sessions": ids},
        )
        for number, (root, ids) in enumerate(sorted(by_workspace.items()), start=1)
    ]


def _grant(root: str) -> str:
    """Return the command that shows what is there now and asks; without a digest, since nobody looked yet."""
    return f"compozy trust grant --workspace {shlex.quote(root)}"


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
