"""The durable Store: one SQLite file with one writer thread and a few reader threads (design.md §2).

This module only joins the parts: `database` (the file), `writer` and `ledger` (writes), `reads`. The event loop never
waits for the disk, and nobody ever sees "database is locked" from our own doing: there is one writer.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from compozy.model.event import EventDraft, StoredEvent
from compozy.model.message import Message
from compozy.model.tool import ApprovalGrant
from compozy.model.workspace import Workspace
from compozy.store import messages, reads, retention, segments, writes
from compozy.store.codec import encode_workspace
from compozy.store.columns import microseconds
from compozy.store.database import explained, open_reader
from compozy.store.interface import (
    AgentMetrics,
    EventQuery,
    OldSession,
    ProcessRecord,
    PromptRecord,
    SessionQuery,
    SessionRecord,
    SessionRows,
    StoredMessage,
    StoreSize,
    StoreUnavailable,
    TranscriptEnd,
    TranscriptSegment,
)
from compozy.store.ledger import Ledger, prepare_session
from compozy.store.writer import Writer

T = TypeVar("T")

# Reads are short; more threads than this only compete for the interpreter.
_READERS = 3


class SqliteStore:
    """The Store in one file. `open` before use; `close` when done."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Writer | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []

    async def open(self) -> None:
        """Open the file, made or migrated where needed.

        Raises:
            ForeignStore: another program's file, or a newer release's: untouched.
            StoreUnavailable: the file cannot be used; the message says why and what to do.
        """
        if self._writer is not None:
            return
        writer = Writer(self._path)
        await writer.start()
        self._pool = ThreadPoolExecutor(_READERS, thread_name_prefix="compozy-store-reader")
        self._writer = writer

    async def close(self) -> None:
        """Finish pending writes and close the file."""
        writer, self._writer = self._writer, None
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.to_thread(pool.shutdown)
        for connection in self._readers:
            connection.close()
        self._readers.clear()
        self._local = threading.local()
        if writer is not None:
            # Last, so that closing it can carry the whole log over into the file.
            await writer.close()

    async def put_workspace(self, workspace: Workspace) -> None:
        data = encode_workspace(workspace)
        await self._write(
            lambda book: writes.put_workspace(book.connection, workspace.id, workspace.created_at, data)
        )

    async def list_workspaces(self) -> tuple[Workspace, ...]:
        return await self._read(reads.list_workspaces)

    async def delete_workspace(self, workspace_id: str) -> bool:
        return await self._write(lambda book: writes.delete_workspace(book.connection, workspace_id))

    async def put_session(self, record: SessionRecord) -> None:
        row = prepare_session(record)
        await self._write(lambda book: book.put_session(row))

    async def get_session(self, session_id: str) -> SessionRecord | None:
        return await self._read(lambda connection: reads.get_session(connection, session_id))

    async def list_sessions(self, query: SessionQuery) -> SessionRows:
        return await self._read(lambda connection: reads.list_sessions(connection, query))

    async def count_sessions(self) -> dict[str, int]:
        return await self._read(reads.count_sessions)

    async def count_attention(self) -> dict[str, tuple[int, int]]:
        return await self._read(reads.count_attention)

    async def agent_metrics(self, workspace_id: str, names: Sequence[str], *, now: str) -> dict[str, AgentMetrics]:
        moment = microseconds(now)
        return await self._read(lambda connection: reads.agent_metrics(connection, workspace_id, names, moment))

    async def active_agents(self, workspace_id: str) -> frozenset[str]:
        return await self._read(lambda connection: reads.active_agents(connection, workspace_id))

    async def delete_session(self, session_id: str) -> bool:
        writer = self._open_writer()

        def delete(book: Ledger) -> bool:
            writer.request_sweep()
            return book.delete_session(session_id)

        return await writer.submit(delete)

    async def oldest_stopped(
        self, *, shown: bool, limit: int, after: tuple[str, str] = ("", "")
    ) -> tuple[OldSession, ...]:
        return await self._read(lambda connection: retention.oldest_stopped(connection, shown, limit, after))

    async def weigh_session(self, session_id: str) -> tuple[int, int]:
        return await self._read(lambda connection: retention.weigh_session(connection, session_id))

    async def size(self) -> StoreSize:
        return await self._read(retention.measure)

    async def append_events(
        self,
        session_id: str,
        drafts: Sequence[EventDraft],
        *,
        record: SessionRecord | None = None,
        prompt: PromptRecord | None = None,
    ) -> tuple[StoredEvent, ...]:
        row = None if record is None else prepare_session(record)

        def append(book: Ledger) -> tuple[StoredEvent, ...]:
            stored = book.append_events(session_id, drafts, row)
            if prompt is not None:
                writes.put_prompt(book.connection, prompt)
            return stored

        return await self._write(append)

    async def archive_events(
        self, session_id: str, first: int, drafts: Sequence[EventDraft], *, record: SessionRecord
    ) -> tuple[int, tuple[StoredEvent, ...]]:
        row = prepare_session(record)
        return await self._write(lambda book: book.archive_events(session_id, first, drafts, row))

    async def read_events(self, session_id: str, query: EventQuery) -> tuple[StoredEvent, ...]:
        return await self._read(lambda connection: reads.read_events(connection, session_id, query))

    async def last_sequence(self, session_id: str) -> int:
        return await self._read(lambda connection: reads.last_sequence(connection, session_id))

    async def put_segment(self, session_id: str, segment: TranscriptSegment, *, mark: int) -> bool:
        return await self._write(lambda book: segments.put_segment(book.connection, session_id, segment, mark))

    async def read_segments(
        self, session_id: str, *, before_sequence: int | None = None, entries: int
    ) -> tuple[TranscriptSegment, ...]:
        return await self._read(
            lambda connection: segments.read_segments(connection, session_id, before_sequence, entries)
        )

    async def transcript_end(self, session_id: str) -> TranscriptEnd:
        return await self._read(lambda connection: segments.transcript_end(connection, session_id))

    async def put_prompt(self, prompt: PromptRecord) -> None:
        await self._write(lambda book: writes.put_prompt(book.connection, prompt))

    async def find_prompt(
        self, session_id: str, *, idempotency_key: str = "", message_id: str = ""
    ) -> PromptRecord | None:
        return await self._read(
            lambda connection: reads.find_prompt(connection, session_id, idempotency_key, message_id)
        )

    async def put_grant(self, grant: ApprovalGrant) -> None:
        await self._write(lambda book: writes.put_grant(book.connection, grant))

    async def list_grants(self, workspace_id: str) -> tuple[ApprovalGrant, ...]:
        return await self._read(lambda connection: reads.list_grants(connection, workspace_id))

    async def delete_grant(self, workspace_id: str, grant_id: str) -> bool:
        return await self._write(lambda book: writes.delete_grant(book.connection, workspace_id, grant_id))

    async def add_message(self, message: Message, *, keep: int) -> int:
        return await self._write(lambda book: messages.add_message(book.connection, message, keep))

    async def read_messages(
        self, session_id: str, *, after: int = 0, up_to: int | None = None, limit: int, newest: bool = False
    ) -> tuple[StoredMessage, ...]:
        return await self._read(
            lambda connection: messages.read_messages(connection, session_id, after, up_to, limit, newest)
        )

    async def put_process(self, process: ProcessRecord) -> None:
        await self._write(lambda book: writes.put_process(book.connection, process))

    async def delete_process(self, pid: int, start_time: str) -> None:
        await self._write(lambda book: writes.delete_process(book.connection, pid, start_time))

    async def list_processes(self) -> tuple[ProcessRecord, ...]:
        return await self._read(reads.list_processes)

    def _open_writer(self) -> Writer:
        if self._writer is None:
            raise StoreUnavailable(f"the store {str(self._path)!r} is not open; start the daemon again")
        return self._writer

    async def _write(self, run: Callable[[Ledger], T]) -> T:
        return await self._open_writer().submit(run)

    async def _read(self, run: Callable[[sqlite3.Connection], T]) -> T:
        self._open_writer()
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._run_read, run)

    def _run_read(self, run: Callable[[sqlite3.Connection], T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = open_reader(self._path)
            self._local.connection = connection
            self._readers.append(connection)
        with explained(self._path):
            return run(connection)
