"""Retention: which stopped sessions are removed when there are too many, too old or too large, and doing it.

Nothing is removed unless `[session.retention]` or a person says so; only sessions of the daemon's own jobs go after
`[observability] retention_days`. Never touched: sessions that are not stopped, and parents of such.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from compozy.config.config import Config
from compozy.config.durations import Duration
from compozy.model import times
from compozy.model.errors import CompozyError
from compozy.model.retention import Limits, Reason, RemovedSession, RetentionReport, RetentionState
from compozy.model.status import Retention as RetentionHealth
from compozy.runtime.sessions.blobs import orphaned_folders, remove_broken_uploads, remove_folder
from compozy.runtime.sessions.service import Sessions
from compozy.store.interface import OldSession, SessionQuery, Store

log = logging.getLogger(__name__)
# Sessions of one run by itself; what is left waits for the next one. A person's run takes them all.
MOST_A_RUN = 1_000
_PAGE = 100
# The daemon starts in peace.
_FIRST_SECONDS = 60.0
# How long a run waits for the file to shrink; it goes on shrinking afterwards.
_TIDY_SECONDS = 20.0
_DAY = 86_400.0


class Retention:
    """Retention of one home; `start` lets it run by itself."""

    def __init__(self, home: Path, config: Config, store: Store, sessions: Sessions) -> None:
        self._home = home
        self._config = config
        self._store = store
        self._sessions = sessions
        self._task: asyncio.Task[None] | None = None
        # Keeps two runs from counting the same sessions.
        self._lock = asyncio.Lock()
        self.last: RetentionReport | None = None

    @property
    def limits(self) -> Limits:
        """The limits of the configuration."""
        rules = self._config.session.retention
        return Limits(max_age=float(rules.max_age), max_sessions=rules.max_sessions, max_bytes=rules.max_bytes)

    def start(self) -> None:
        """Run now and then."""
        if float(self._config.session.retention.interval) > 0:
            self._task = asyncio.get_running_loop().create_task(self._serve())

    async def close(self) -> None:
        """Stop running by itself; a removal that has begun is finished."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,), timeout=5)

    async def _serve(self) -> None:
        await asyncio.sleep(_FIRST_SECONDS)
        while True:
            try:
                await self.run(most=MOST_A_RUN)
            except CompozyError as error:
                log.warning("retention failed", extra={"reason": error.message})
            await asyncio.sleep(float(self._config.session.retention.interval))

    async def state(self) -> RetentionState:
        """Return what is in force and what there is."""
        size = await self._store.size()
        own = self._config.observability
        return RetentionState(
            limits=self.limits,
            own_jobs_days=own.retention_days if own.enabled else 0,
            interval_seconds=float(self._config.session.retention.interval),
            used_bytes=size.used,
            free_bytes=size.free,
            stopped_sessions=await self._count_stopped(),
            last=self.last,
        )

    def health(self) -> RetentionHealth:
        """Return what the daemon's status says about retention."""
        rules, last = self._config.session.retention, self.last
        told = RetentionHealth(
            enabled=float(rules.interval) > 0,
            retention_days=int(float(rules.max_age) // _DAY),
            sweep_interval_seconds=int(float(rules.interval)),
        )
        if last is None:
            return told
        return msgspec.structs.replace(
            told,
            last_sweep_status="failed" if last.problem else "ok",
            last_sweep_at=last.at,
            last_sweep_error=last.problem,
            deleted_event_summaries=last.events,
        )

    async def run(self, limits: Limits | None = None, *, dry_run: bool = False, most: int = 0) -> RetentionReport:
        """Remove what is beyond the limits, the oldest first; `most` bounds how many (0: all).

        Raises:
            StoreUnavailable: the store cannot be read. A session that cannot be removed is left to the next run.
        """
        async with self._lock:
            before = await self._store.size()
            removed: list[RemovedSession] = []
            problem, more = "", False
            async for found in self._beyond(limits or self.limits, before.used):
                if most and len(removed) == most:
                    more = True
                    break
                if not dry_run and (failure := await self._remove(found.id)):
                    problem = failure
                    continue
                removed.append(found)
            if not dry_run:
                await self._remove_orphans()
                await self._tidied()
            after = await self._store.size()
            report = RetentionReport(
                at=times.now(),
                dry_run=dry_run,
                sessions=len(removed),
                events=sum(one.events for one in removed),
                bytes_before=before.used + before.free,
                bytes_after=after.used + after.free,
                more=more,
                removed=tuple(removed),
                problem=problem,
            )
            if not dry_run:
                self.last = report
                if removed:
                    log.info("retention", extra={"sessions": report.sessions, "events": report.events})
            return report

    async def _beyond(self, limits: Limits, used: int) -> AsyncIterator[RemovedSession]:
        """Yield what is beyond the limits: the daemon's own jobs, then sessions, the longest idle first."""
        own = self._config.observability
        if own.enabled and own.retention_days:
            too_old = _ago(own.retention_days * _DAY)
            async for old in self._stopped(shown=False):
                if old.last_activity_at >= too_old:
                    break
                yield await self._weighed(old, "own_job")
        too_many = await self._count_stopped() - limits.max_sessions if limits.max_sessions else 0
        too_large = used - limits.max_bytes if limits.max_bytes else 0
        too_old = _ago(limits.max_age) if limits.max_age else ""
        async for old in self._stopped(shown=True):
            if old.last_activity_at < too_old:
                reason: Reason = "age"
            elif too_many > 0:
                reason = "count"
            elif too_large > 0:
                reason = "size"
            else:
                break
            found = await self._weighed(old, reason)
            too_many -= 1
            too_large -= found.bytes
            yield found

    async def _stopped(self, *, shown: bool) -> AsyncIterator[OldSession]:
        after = ("", "")
        while page := await self._store.oldest_stopped(shown=shown, limit=_PAGE, after=after):
            for old in page:
                yield old
            after = (page[-1].last_activity_at, page[-1].id)

    async def _weighed(self, old: OldSession, reason: Reason) -> RemovedSession:
        events, size = await self._store.weigh_session(old.id)
        return RemovedSession(
            id=old.id,
            workspace_id=old.workspace_id,
            last_activity_at=old.last_activity_at,
            reason=reason,
            events=events,
            bytes=size,
        )

    async def _count_stopped(self) -> int:
        return (await self._store.list_sessions(SessionQuery(state="stopped", archive="include", limit=1))).total

    async def _remove(self, session_id: str) -> str:
        """Remove one session unless it was started again meanwhile; return what went wrong."""
        try:
            if (await self._sessions.get(session_id)).state != "stopped":
                return f"session {session_id!r} was started again"
            await self._sessions.delete(session_id)
        except CompozyError as error:
            log.warning("retention could not remove a session", extra={"session": session_id, "why": error.message})
            return error.message
        return ""

    async def _remove_orphans(self) -> None:
        """Remove folders of sessions that are gone: a daemon that was killed may have left some."""
        for session_id, folder in await asyncio.to_thread(orphaned_folders, self._home):
            if await self._store.get_session(session_id) is None:
                await asyncio.to_thread(remove_folder, folder)
        await asyncio.to_thread(remove_broken_uploads, self._home)

    async def _tidied(self) -> None:
        """Wait until the store has given the space back, for a bounded time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _TIDY_SECONDS
        free = -1
        while loop.time() < deadline:
            size = await self._store.size()
            if not size.is_tidying and size.free == free:
                return
            free = size.free
            await asyncio.sleep(0.05)


def _ago(seconds: float) -> str:
    moment = datetime.now(UTC) - timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_age(text: str) -> float:
    """Return an age in seconds: a duration, or whole days as ``30d``.

    Raises:
        ValueError: it is neither.
    """
    text = text.strip()
    if text.endswith("d") and text[:-1].isdigit():
        return int(text[:-1]) * _DAY
    return float(Duration.read(text))
