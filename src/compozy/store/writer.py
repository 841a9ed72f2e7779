"""The writer thread of the SQLite store: one queue, one connection, many callers' jobs in one commit.

While one commit waits for the disk the next group collects, so that `synchronous=FULL` costs a wait per group and not
per caller. A job that fails is found by halving its group: the others are committed without it. Knows no tables.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from compozy.store import writes
from compozy.store.database import explained, open_writer
from compozy.store.interface import StoreUnavailable
from compozy.store.ledger import Ledger

T = TypeVar("T")
_log = logging.getLogger(__name__)

# Jobs that may wait at a time; further callers wait for room, which slows down who writes too fast.
_QUEUE_JOBS = 2_048
# Jobs in one commit: enough to share the disk's wait, few enough that a commit stays below some 20 ms.
_GROUP_JOBS = 512
# Pages given back to the disk at a time after a removal; 4 MiB move in a few milliseconds.
_VACUUM_PAGES = 1_000


class _Job(NamedTuple):
    run: Callable[[Ledger], object]
    future: "asyncio.Future[object]"


class _Outcome(NamedTuple):
    job: _Job
    result: object = None
    problem: Exception | None = None


class Writer:
    """Runs jobs in order, durably. Bound to the event loop that started it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._room = asyncio.Semaphore(_QUEUE_JOBS)
        self._loop = asyncio.get_running_loop()
        self._stopped = self._loop.create_future()
        self._is_closing = False
        self._has_sweep = True
        self._connection: sqlite3.Connection | None = None
        self._thread = threading.Thread(target=self._serve, name="compozy-store-writer", daemon=True)

    async def start(self) -> None:
        """Open the file, making or migrating it, and start the thread.

        Raises:
            ForeignStore, StoreUnavailable: as `open_writer`.
        """
        self._connection = await asyncio.to_thread(open_writer, self._path)
        self._thread.start()

    async def submit(self, run: Callable[[Ledger], T]) -> T:
        """Run the job in a transaction and return its result once that is durable.

        A caller that is cancelled meanwhile does not stop the job.

        Raises:
            StoreUnavailable: the store is closed, or the file cannot be written.
        """
        await self._room.acquire()
        if self._is_closing:
            self._room.release()
            raise StoreUnavailable(f"the store {str(self._path)!r} is closed; start the daemon again")
        future: asyncio.Future[object] = self._loop.create_future()
        self._jobs.put(_Job(run, future))
        return await future  # type: ignore[return-value]  # the future carries what `run` returned

    async def close(self) -> None:
        """Finish what was submitted, end the thread and close the file. May be called twice."""
        if not self._is_closing:
            self._is_closing = True
            if self._thread.ident is None:
                return
            self._jobs.put(None)
        if self._thread.ident is not None:
            await asyncio.shield(self._stopped)

    def _serve(self) -> None:
        assert self._connection is not None, "start() opened it"
        ledger = Ledger(self._connection)
        while True:
            group, is_last = self._take(ledger)
            if group:
                self._tell(self._settle, self._commit(ledger, group))
            if is_last:
                break
        try:
            self._connection.close()
        except sqlite3.Error as problem:
            _log.warning("store.close_failed", extra={"path": str(self._path), "reason": str(problem)})
        self._tell(self._finish)

    def _take(self, ledger: Ledger) -> tuple[list[_Job], bool]:
        """Wait for a job and take what else is there; tidy up as long as nothing is."""
        while self._has_sweep and self._jobs.empty():
            self._sweep(ledger)
        group: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            group.append(job)
            if len(group) == _GROUP_JOBS:
                return group, False
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return group, False
        return group, True

    def _commit(self, ledger: Ledger, group: Sequence[_Job]) -> list[_Outcome]:
        try:
            with explained(self._path):
                ledger.begin()
                results = [job.run(ledger) for job in group]
                ledger.commit()
        except Exception as problem:  # noqa: BLE001 - the thread serves every caller: each failure goes to whose it is
            self._undo(ledger)
            if len(group) == 1 or isinstance(problem, StoreUnavailable):
                return [_Outcome(job, problem=problem) for job in group]
            half = len(group) // 2
            return self._commit(ledger, group[:half]) + self._commit(ledger, group[half:])
        return [_Outcome(job, result) for job, result in zip(group, results, strict=True)]

    def _undo(self, ledger: Ledger) -> None:
        try:
            ledger.rollback()
        except sqlite3.Error as problem:
            _log.warning("store.rollback_failed", extra={"path": str(self._path), "reason": str(problem)})

    def _sweep(self, ledger: Ledger) -> None:
        """Take one short step of tidying up; on any trouble leave the rest to the next removal or start."""
        try:
            ledger.begin()
            has_more = writes.sweep_removed(ledger.connection)
            ledger.commit()
            if not has_more:
                # A script, because one `execute` of this pragma gives back one page only.
                ledger.connection.executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")
            free = int(ledger.connection.execute("PRAGMA freelist_count").fetchone()[0])
            self._has_sweep = has_more or free >= _VACUUM_PAGES
            if not self._has_sweep:
                # The file itself shrinks when the log is carried over; passive, because nobody shall wait.
                ledger.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error as problem:
            self._has_sweep = False
            self._undo(ledger)
            _log.warning("store.sweep_failed", extra={"path": str(self._path), "reason": str(problem)})

    def request_sweep(self) -> None:
        """Tidy up when there is nothing else to do. Called by a job, hence in the thread."""
        self._has_sweep = True

    def _tell(self, function: Callable[..., None], *values: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *values)
        except RuntimeError:
            # The loop is gone, and with it everyone who waited; what was committed stays committed.
            pass

    def _settle(self, outcomes: list[_Outcome]) -> None:
        for job, result, problem in outcomes:
            self._room.release()
            if job.future.done():
                continue
            if problem is None:
                job.future.set_result(result)
            else:
                job.future.set_exception(problem)

    def _finish(self) -> None:
        if not self._stopped.done():
            self._stopped.set_result(None)
