"""The sessions service: the one door to every session, for routes and hosted tools alike (contract §3.5, §5).

Keeps the sessions that are alive in memory and finds the others in the store. What happens inside a session is in
`live.py`; here are creation, lookup, lists and the operations that need no process.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from weakref import WeakValueDictionary

import msgspec

from compozy.model import times
from compozy.model.errors import Conflict, Forbidden, InvalidRequest, NotFound
from compozy.model.event import SessionEvent, StoredEvent
from compozy.model.page import Page
from compozy.model.session import Interaction, Session, StopReason
from compozy.model.session_answers import ApprovalAnswer, PromptResult, QueuedInput, RewindAnswer, SessionList
from compozy.model.transcript import TranscriptPage
from compozy.model.workspace import Workspace
from compozy.runtime.fleet import Fleet, VisibleAgent
from compozy.runtime.sessions.attachments.service import SessionAttachments
from compozy.runtime.sessions.blobs import remove_blobs
from compozy.runtime.sessions.catalog_feed import CatalogFeed
from compozy.runtime.sessions.create import CreateRequest
from compozy.runtime.sessions.creating import Creator
from compozy.runtime.sessions.cursors import read_cursor, write_cursor
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.follow import follow
from compozy.runtime.sessions.health import with_health
from compozy.runtime.sessions.history import read_interactions, read_transcript, session_event
from compozy.runtime.sessions.journal import change_session
from compozy.runtime.sessions.live import LiveSession
from compozy.runtime.sessions.presence import Viewers
from compozy.runtime.sessions.prompting import PromptRequest, check_prompt
from compozy.runtime.sessions.queueing import shown
from compozy.runtime.sessions.recovery import end_old_processes, recover_sessions
from compozy.runtime.sessions.rewinding import RewindRequest, check_rewind
from compozy.runtime.sessions.segments import Folder
from compozy.runtime.sessions.session_inputs import SessionInputs
from compozy.runtime.sessions.spawning.plan import ChildPlan
from compozy.runtime.sessions.spawning.reach import ParentReach
from compozy.runtime.sessions.spawning.service import Children
from compozy.runtime.sessions.titles import AutoTitles
from compozy.runtime.sessions.transcript_feed import TranscriptFeeds
from compozy.runtime.sessions.turns import Turn
from compozy.runtime.sessions.waits import Waits
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import EventQuery, PromptRecord, SessionQuery, SessionRecord

log = logging.getLogger(__name__)
# Sessions of this type work for the daemon itself.
HIDDEN = "dream"


class Sessions:
    """All sessions of this daemon."""

    def __init__(self, deps: Deps, workspaces: Workspaces, fleet: Fleet) -> None:
        self._deps = deps
        self._store = deps.store
        self._workspaces = workspaces
        self._fleet = fleet
        self.changes = CatalogFeed()
        self._live: dict[str, LiveSession] = {}
        # Stopped sessions that somebody follows; nobody else keeps them.
        self._seen: WeakValueDictionary[str, LiveSession] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[Turn | PromptResult]] = set()
        # Keeps one object per session when two callers load it at once.
        self._loading = asyncio.Lock()
        self._is_closing = False
        self._titles = AutoTitles(deps, self)
        self._creator = Creator(deps, workspaces, fleet)
        self.children = Children(deps.store, self, ParentReach(deps, workspaces, fleet))
        self.inputs = SessionInputs(deps, self)
        self.waits = Waits()
        self._folder = Folder(deps.store)
        self.attachments = SessionAttachments(deps, self)
        self.feeds = TranscriptFeeds(self)

    # --- life

    async def start(self) -> None:
        """End what an earlier daemon left running and set right what it left open."""
        ended = await end_old_processes(self._deps)
        recovered = await recover_sessions(self._deps)
        if ended or recovered:
            log.info("recovered", extra={"processes": ended, "sessions": recovered})

    async def close(self, *, seconds: float) -> None:
        """Stop every live session with reason `shutdown`; what does not stop in time is found by the next start."""
        self._is_closing = True
        self.waits.close()
        await self._titles.close()
        await self.children.close()
        await self._folder.close()
        stops = [
            asyncio.create_task(live.stop("shutdown", "the daemon is shutting down", "interrupted"))
            for live in list(self._live.values())
        ]
        for session_id in await self._idle_in_store():
            stops.append(asyncio.create_task(self._stop_stored(session_id)))
        if not stops:
            return
        done, late = await asyncio.wait(stops, timeout=seconds)
        for task in late:
            task.cancel()
        for task in done:
            if task.exception() is not None:
                log.error("a session did not stop cleanly", exc_info=task.exception())

    async def _idle_in_store(self) -> list[str]:
        """Return the active sessions that are not in memory: created, never prompted."""
        found: list[str] = []
        after: tuple[str, ...] = ()
        while True:
            query = SessionQuery(state="active", archive="include", limit=100, after=after)
            rows = await self._store.list_sessions(query)
            found.extend(row.session.id for row in rows.rows if row.session.id not in self._live)
            after = rows.next_after
            if not after:
                return found

    async def _stop_stored(self, session_id: str) -> None:
        live = await self.live(session_id)
        await live.stop("shutdown", "the daemon is shutting down", "interrupted")

    # --- create, find, list

    async def create(self, request: CreateRequest) -> Session:
        """Create a session: active, unbound, no process; the child of another when it names one.

        Raises:
            InvalidRequest, NotFound, Gone, Conflict, Forbidden, Unprocessable: what is wrong and what to do.
        """
        if request.parent_session_id:
            return await self.children.start_for_person(request)
        return await self._kept(await self._creator.record(request))

    async def create_child(self, request: CreateRequest, plan: ChildPlan, runtime: dict[str, object]) -> Session:
        """Create what a plan of `children` says."""
        session = await self._kept(await self._creator.record(request, plan, runtime))
        self.children.watch(session)
        return session

    async def _kept(self, record: SessionRecord) -> Session:
        await self._store.put_session(record)
        self.changes.upserted(None, record.session)
        return record.session

    async def check_place(self, request: CreateRequest, parent: Session) -> None:
        """Refuse a child in another workspace than its parent's.

        Raises:
            Forbidden: it would be.
        """
        for asked in (request.workspace, request.workspace_path):
            if asked and (await self._workspaces.get(asked)).id != parent.workspace_id:
                raise Forbidden(
                    f"a child works in its parent's workspace, {parent.workspace_id!r}, not in {asked!r}: "
                    "leave it out",
                    code="spawn_workspace_foreign",
                )

    async def end_child(self, session_id: str, reason: StopReason, detail: str) -> None:
        """Stop a session whose time, or whose parent's, is over."""
        await (await self.live(session_id)).stop(reason, detail)

    async def get(self, session_id: str, workspace: str = "") -> Session:
        """Return a session; `workspace` (an id, a name or a path) must be its own when given.

        Raises:
            NotFound: no such session there.
        """
        return (await self.record(session_id, workspace)).session

    async def record(self, session_id: str, workspace: str = "") -> SessionRecord:
        """Return the newest record of a session.

        Raises:
            NotFound: no such session there.
        """
        live = self._live.get(session_id) or self._seen.get(session_id)
        record = live.shown() if live is not None else await self._store.get_session(session_id)
        if record is None or (workspace and not await self._is_in(record, workspace)):
            raise NotFound(
                f"session {session_id!r} does not exist: see `compozy session list --all`", code="session_not_found"
            )
        return record

    async def _is_in(self, record: SessionRecord, workspace: str) -> bool:
        if record.session.workspace_id == workspace:
            return True
        try:
            return (await self._workspaces.get(workspace)).id == record.session.workspace_id
        except NotFound:
            return False

    async def page(self, query: SessionQuery, *, cursor: str = "", include_health: bool = False) -> SessionList:
        """Return a page of sessions, each with its health when that is asked for.

        Raises:
            InvalidRequest: a cursor that does not fit.
        """
        if query.workspace_id:
            workspace = await self._workspaces.get(query.workspace_id)
            query = msgspec.structs.replace(query, workspace_id=workspace.id)
        asked = read_cursor(cursor, query) if cursor else query
        rows = await self._store.list_sessions(asked)
        newest = [self._newest(row) for row in rows.rows]
        sessions = tuple(with_health(row) if include_health else row.session for row in newest)
        next_cursor = write_cursor(query, rows.next_after)
        page = Page(limit=query.limit, total=rows.total, has_more=next_cursor is not None, next_cursor=next_cursor)
        return SessionList(sessions=sessions, page=page)

    def _newest(self, row: SessionRecord) -> SessionRecord:
        live = self._live.get(row.session.id)
        return live.shown() if live is not None else row

    def counts_live(self) -> int:
        """Return how many sessions have been touched since the daemon started and are not stopped."""
        return len(self._live)

    def counts_running(self) -> int:
        """Return how many turns run now, those that wait for a person included."""
        return sum(live.is_prompting for live in self._live.values())

    async def live(self, session_id: str) -> LiveSession:
        """Return the session's object, loaded when needed.

        Raises:
            NotFound: no such session.
        """
        known = self._live.get(session_id) or self._seen.get(session_id)
        if known is not None:
            return known
        async with self._loading:
            known = self._live.get(session_id) or self._seen.get(session_id)
            if known is not None:
                return known
            record = await self.record(session_id)
            last = await self._store.last_sequence(session_id)
            live = LiveSession(self._deps, record, last, await self._last_turn(session_id), self._changed)
            self._seen[session_id] = live
            if record.session.state != "stopped":
                self._live[session_id] = live
            return live

    async def _last_turn(self, session_id: str) -> str:
        newest = await self._store.read_events(session_id, EventQuery(type="user_message", limit=1))
        return newest[-1].turn_id if newest else ""

    def _changed(self, before: SessionRecord, record: SessionRecord) -> None:
        session_id = record.session.id
        if record.session.type != HIDDEN:
            self.changes.upserted(before.session, record.session)
        self.waits.changed(record)
        if not self._is_closing:
            self.children.changed(before, record)
            self._titles.consider(before, record)
            self._folder.consider(before, record, self._seen.get(session_id))
        if record.session.state == "stopped":
            self._live.pop(session_id, None)
        elif session_id not in self._live and (seen := self._seen.get(session_id)) is not None:
            self._live[session_id] = seen

    # --- prompts

    async def prompt(self, session_id: str, request: PromptRequest) -> Turn | PromptResult:
        """Start a turn, or answer a retry. Runs to its end even when the caller goes away.

        Raises:
            CompozyError: nothing was started, and why.
        """
        check_prompt(request, self._deps.config.session.busy_input.max_text_bytes)
        live = await self.live(session_id)
        request = await self.attachments.resolved(live.record.session, request)
        if self._is_closing:
            raise Conflict("the daemon is shutting down: start it again and prompt then", code="daemon_draining")
        if request.mode and live.record.session.state == "stopped":
            raise Conflict(
                f"session {session_id!r} is stopped: leave mode out to start it again", code="session_stopped"
            )

        async def start(identity: PromptRecord) -> Turn | PromptResult:
            return await live.prompt(request, identity)

        return await self.admitted(live, request, start)

    async def admitted(
        self,
        live: LiveSession,
        request: PromptRequest,
        start: Callable[[PromptRecord], Awaitable[Turn | PromptResult]],
    ) -> Turn | PromptResult:
        """Run to the end even when the caller goes away; say of a retry what became of the first attempt."""
        task = asyncio.create_task(live.admission.admit(request, start))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        accepted = await asyncio.shield(task)
        return await live.inputs.replayed(accepted) if isinstance(accepted, PromptResult) else accepted

    async def queued(self, session_id: str) -> tuple[QueuedInput, ...]:
        """Return the prompts that wait, in their order."""
        return shown((await self.live(session_id)).record)

    async def withdraw(self, session_id: str, entry_id: str) -> PromptResult:
        """Take a waiting prompt out of the queue.

        Raises:
            NotFound: it does not wait any more.
        """
        return await (await self.live(session_id)).inputs.withdraw(entry_id)

    async def rewind(self, session_id: str, request: RewindRequest) -> RewindAnswer:
        """Take a conversation back to before one of its prompts.

        Raises:
            InvalidRequest, Conflict, NotFound: it cannot be.
        """
        check_rewind(request)
        live = await self.live(session_id)
        return RewindAnswer(rewind=await live.rewinds.rewind(request), session=live.record.session)

    async def clear(self, session_id: str) -> Session:
        """Begin a conversation anew.

        Raises:
            Conflict: it is busy.
        """
        live = await self.live(session_id)
        await live.rewinds.clear()
        return live.record.session

    async def choose(self, session_id: str, given: Mapping[str, object], expected_revision: int | None) -> Session:
        """Change what a session runs with from its next turn on.

        Raises:
            Conflict, InvalidRequest, Unprocessable: it cannot be changed now, or not to that.
        """
        live = await self.live(session_id)
        await live.choose(given, expected_revision)
        return live.record.session

    async def cancel(self, session_id: str) -> tuple[str, str]:
        """Ask the running turn to end; idempotent. Returns outcome and turn id."""
        live = self._live.get(session_id)
        return await live.cancel() if live is not None else ("nothing-in-flight", "")

    async def approve(self, session_id: str, request_id: str, turn_id: str, decision: str) -> ApprovalAnswer:
        """Answer a permission request.

        Raises:
            Conflict: nothing of that kind is pending.
            InvalidRequest: not a decision the agent offers.
        """
        live = self._asker(session_id, request_id) or await self.live(session_id)
        return await live.approve(request_id, turn_id, decision)

    def _asker(self, session_id: str, request_id: str) -> LiveSession | None:
        """Return the session that asks: that one, else a descendant whose question reached nobody else (P43)."""
        asking = [live for live in self._live.values() if live.asks(request_id)]
        own = next((live for live in asking if live.record.session.id == session_id), None)
        return own or next((live for live in asking if _is_below(live.record.session, session_id)), None)

    def viewers(self, session_id: str) -> Viewers | None:
        """Return who looks at a session, None when it is not in memory."""
        live = self._live.get(session_id) or self._seen.get(session_id)
        return live.viewers if live is not None else None

    # --- ends

    async def stop(self, session_id: str) -> None:
        """Stop a session; a stopped one is fine (D23)."""
        live = await self.live(session_id)
        was_prompting = live.turn is not None
        await live.stop(
            "user_canceled" if was_prompting else "completed", "stopped during a turn" if was_prompting else "stopped"
        )

    async def delete(self, session_id: str) -> None:
        """Stop a session and remove all of it."""
        live = await self.live(session_id)
        await live.delete()
        await asyncio.to_thread(remove_blobs, self._deps.home.root, live.record.session)
        if live.record.session.type != HIDDEN:
            self.changes.deleted(live.record.session)
        self.waits.gone(session_id)
        self._live.pop(session_id, None)
        self._seen.pop(session_id, None)

    async def rename(self, session_id: str, name: str) -> Session:
        """Give a session another name."""
        if not name.strip():
            raise InvalidRequest("name must not be empty")
        live = await self.live(session_id)
        await live.journal.change(lambda record: change_session(record, name=name.strip()))
        return live.record.session

    async def add_hidden(self, record: SessionRecord) -> None:
        """Keep a session that works for the daemon itself; no list and no feed shows it."""
        await self._store.put_session(record)

    async def name_unnamed(self, session_id: str, name: str) -> None:
        """Name a session, unless somebody did meanwhile."""
        live = await self.live(session_id)
        await live.journal.change(lambda record: record if record.session.name else change_session(record, name=name))

    async def find_agent(self, name: str, workspace_id: str) -> tuple[VisibleAgent, Workspace]:
        """Return an agent as a workspace sees it, with the workspace.

        Raises:
            InvalidRequest, NotFound: there is no such agent or workspace.
        """
        workspace = await self._workspaces.get(workspace_id)
        return await self._fleet.find(name, workspace), workspace

    async def set_archived(self, session_id: str, *, archived: bool) -> Session:
        """Put a stopped session away, or take it back.

        Raises:
            Conflict: it is not stopped.
        """
        live = await self.live(session_id)
        session = live.record.session
        if archived and session.state != "stopped":
            raise Conflict(
                f"session {session_id!r} is {session.state}: stop it before you archive it", code="not_stopped"
            )
        if archived != (session.archived_at is not None):
            stamp = times.now() if archived else None
            await live.journal.change(lambda record: change_session(record, archived_at=stamp))
        return live.record.session

    # --- reads

    async def events(self, session_id: str, query: EventQuery) -> tuple[SessionEvent, ...]:
        """Return stored events."""
        session = await self.get(session_id)
        found = await self._store.read_events(session_id, query)
        return tuple(session_event(event, session) for event in found)

    async def transcript(self, session_id: str, *, limit: int, before_sequence: int | None = None) -> TranscriptPage:
        """Return a page of the transcript."""
        record = await self.record(session_id)
        return await read_transcript(self._store, record, limit=limit, before_sequence=before_sequence)

    async def interactions(
        self, session_id: str, status: str = "", *, with_children: bool = False
    ) -> tuple[Interaction, ...]:
        """Return the questions put to a person, by status; those that children ask now on request."""
        found = await read_interactions(self._store, await self.get(session_id))
        below = [live.record.session for live in self._live.values()] if with_children else []
        asked = (
            msgspec.structs.replace(question, session_id=child.id)
            for child in below
            if _is_below(child, session_id)
            for question in child.pending_interactions
        )
        return tuple(item for item in (*found, *asked) if not status or item.status == status)

    async def last_sequence(self, session_id: str) -> int:
        """Return the sequence of the newest event."""
        return await self._store.last_sequence(session_id)

    async def stored(self, session_id: str, query: EventQuery) -> tuple[StoredEvent, ...]:
        """Return events as they are stored."""
        return await self._store.read_events(session_id, query)

    async def last_stop(self, session_id: str) -> StoredEvent | None:
        """Return the event that says why the session stopped."""
        found = await self._store.read_events(session_id, EventQuery(type="session_stopped", limit=1))
        return found[-1] if found else None

    async def follow(self, session_id: str, after: int) -> AsyncIterator[tuple[StoredEvent, ...]]:
        """Yield batches of stored events after a sequence; an empty batch says that it is quiet."""
        live = await self.live(session_id)
        async for batch in follow(self._store, session_id, live.journal.ring, after):
            yield batch


def _is_below(session: Session, ancestor_id: str) -> bool:
    lineage = session.lineage
    if lineage is None or session.id == ancestor_id:
        return False
    return ancestor_id in (lineage.parent_session_id, lineage.root_session_id)
