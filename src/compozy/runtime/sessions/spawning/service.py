"""Children of sessions: started by their parents within limits, ended with their time or their parent (contract §9).

One lock keeps the count of children true while several are asked for at once. Timers of children whose time is
limited live here; a child that is started again after its time is refused by the session itself.
"""

import asyncio
import hashlib
import logging
from collections.abc import Coroutine
from typing import Protocol

import msgspec

from compozy.model import times
from compozy.model.errors import Conflict, Forbidden, InvalidRequest, NotFound, Unprocessable
from compozy.model.session import PermissionPolicy, Session, StopReason
from compozy.model.session_answers import SpawnAnswer
from compozy.runtime.sessions.create import CreateRequest
from compozy.runtime.sessions.spawning.limits import allowed_tools, check_policy
from compozy.runtime.sessions.spawning.plan import ChildPlan, SpawnRequest, check_parent, check_spawn, plan_child
from compozy.runtime.sessions.surface import ToolReach
from compozy.store.interface import SessionQuery, SessionRecord, Store

log = logging.getLogger(__name__)
_LIVE_STATES = ("starting", "active", "stopping")
_PAGE = 100


class ChildHost(Protocol):
    """What children need of the sessions service."""

    async def record(self, session_id: str, workspace: str = "") -> SessionRecord: ...
    async def create_child(self, request: CreateRequest, plan: ChildPlan, runtime: dict[str, object]) -> Session: ...
    async def check_place(self, request: CreateRequest, parent: Session) -> None: ...
    async def end_child(self, session_id: str, reason: StopReason, detail: str) -> None: ...


class Reach(Protocol):
    """What a parent can reach beyond what its record says."""

    async def skills(self, parent: SessionRecord) -> frozenset[str]: ...
    async def tools(self, parent: SessionRecord) -> ToolReach: ...


class Children:
    """The children of all sessions."""

    def __init__(self, store: Store, host: ChildHost, reach: Reach) -> None:
        self._store = store
        self._host = host
        self._reach = reach
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        # Keeps a count of children true until the next one is stored.
        self._counting = asyncio.Lock()

    # --- starting

    async def spawn(self, parent_id: str, request: SpawnRequest) -> SpawnAnswer:
        """Start a child for a session; asked again with the same key, the first one is answered.

        Raises:
            Forbidden: it would be wider than its parent, or in another workspace.
            Conflict: too many children, too deep, a key used for another one, or trust is missing.
            Unprocessable: the request breaks a rule.
        """
        check_spawn(request)
        parent = await self._host.record(parent_id)
        digest = hashlib.sha256(msgspec.json.encode(request)).hexdigest()
        async with self._counting:
            children = await self.of(parent_id)
            known = _same_key(children, request.idempotency_key, digest)
            if known is not None:
                return _answer(known.session)
            check_parent(parent, _live(children))
            await self._check(parent, request.permissions)
            if request.workspace and request.workspace not in (parent.session.workspace_id, parent.cwd):
                raise Forbidden(
                    f"a child works in its parent's workspace {parent.session.workspace_id!r}, not in "
                    f"{request.workspace!r}: leave workspace out",
                    code="spawn_workspace_foreign",
                )
            plan = plan_child(
                parent,
                request.permissions,
                role=request.spawn_role.strip(),
                ttl_seconds=request.ttl_seconds,
                auto_stop=request.auto_stop_on_parent,
                notify=bool(request.notify_creator),
                overlay=request.prompt_overlay,
                key=request.idempotency_key,
                digest=digest,
            )
            return _answer(await self._created(request, plan))

    async def _created(self, request: SpawnRequest, plan: ChildPlan) -> Session:
        wanted = {"provider": request.provider, "model": request.model, "speed": request.speed}
        create = CreateRequest(
            agent_name=request.agent_name.strip(), name=request.name, workspace=plan.parent.session.workspace_id
        )
        try:
            return await self._host.create_child(create, plan, {key: value for key, value in wanted.items() if value})
        except InvalidRequest as error:
            # An agent that does not exist is no malformed request here (shapes: no 400).
            raise Unprocessable(error.message, code=error.code, hint=error.hint) from error

    async def start_for_person(self, request: CreateRequest) -> Session:
        """Start a child on a person's behalf: it may what its parent may, and no more.

        Raises:
            NotFound, Forbidden, Conflict: there is no such parent, it works elsewhere, or has children enough.
        """
        async with self._counting:
            plan = await self._inherited(request.parent_session_id)
            await self._host.check_place(request, plan.parent.session)
            return await self._host.create_child(request, plan, {})

    async def skills(self, record: SessionRecord) -> frozenset[str]:
        """Return the names of the skills a session can use, and hand on."""
        return await self._reach.skills(record)

    async def _inherited(self, parent_id: str) -> ChildPlan:
        parent = await self._host.record(parent_id)
        check_parent(parent, _live(await self.of(parent_id)))
        lineage = parent.session.lineage
        own = lineage.permission_policy if lineage else None
        policy = PermissionPolicy(
            mcp_servers=own.mcp_servers if own else (),
            network_channels=own.network_channels if own else (),
            sandbox_profiles=own.sandbox_profiles if own else (),
            skills=tuple(sorted(await self._reach.skills(parent))),
            tools=allowed_tools(parent, (await self._reach.tools(parent)).members),
            workspace_paths=(parent.cwd, *parent.additional_dirs),
        )
        return plan_child(parent, policy)

    async def _check(self, parent: SessionRecord, wanted: PermissionPolicy) -> None:
        tools = await self._reach.tools(parent)
        skills = await self._reach.skills(parent) if wanted.skills else frozenset[str]()
        check_policy(parent, wanted, members=tools.members, known=tools.known, skills=skills)

    async def of(self, parent_id: str) -> list[SessionRecord]:
        """Return the children of a session, archived ones included."""
        found: list[SessionRecord] = []
        after: tuple[str, ...] = ()
        while True:
            query = SessionQuery(parent=parent_id, archive="include", limit=_PAGE, after=after)
            rows = await self._store.list_sessions(query)
            found.extend(rows.rows)
            after = rows.next_after
            if not after:
                return found

    # --- ending

    def changed(self, before: SessionRecord, record: SessionRecord) -> None:
        """Take note of a session's change: a parent that stopped, a child whose time runs."""
        session = record.session
        if session.state == "stopped":
            timer = self._timers.pop(session.id, None)
            if timer is not None:
                timer.cancel()
            if before.session.state != "stopped":
                self._start(self._parent_stopped(session.id))
        else:
            self.watch(session)

    def watch(self, session: Session) -> None:
        """End a child when its time is over."""
        expires = session.lineage.ttl_expires_at if session.lineage else None
        if not expires or session.id in self._timers:
            return
        loop = asyncio.get_running_loop()
        left = max(0.0, times.seconds_until(expires))
        self._timers[session.id] = loop.call_later(left, lambda: self._start(self._expired(session.id)))

    async def _expired(self, session_id: str) -> None:
        self._timers.pop(session_id, None)
        await self._end(session_id, "timeout", "its time to live is over")

    async def _parent_stopped(self, parent_id: str) -> None:
        for child in await self.of(parent_id):
            lineage = child.session.lineage
            if child.session.state != "stopped" and lineage is not None and lineage.auto_stop_on_parent:
                await self._end(child.session.id, "user_canceled", f"its parent session {parent_id} stopped")

    async def _end(self, session_id: str, reason: StopReason, detail: str) -> None:
        try:
            await self._host.end_child(session_id, reason, detail)
        except NotFound:
            # Deleted meanwhile: it has ended.
            return
        except Exception:
            log.exception("child session %s could not be ended", session_id)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop watching; the sessions themselves are stopped by their service."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)


def _live(children: list[SessionRecord]) -> int:
    return sum(child.session.state in _LIVE_STATES for child in children)


def _same_key(children: list[SessionRecord], key: str, digest: str) -> SessionRecord | None:
    if not key:
        return None
    for child in children:
        if child.spawn_key == key:
            if child.spawn_digest == digest:
                return child
            raise Conflict(
                f"idempotency_key {key!r} was used for another child: choose a new one",
                code="spawn_idempotency_conflict",
                category="session",
                diagnostic=True,
            )
    return None


def _answer(session: Session) -> SpawnAnswer:
    assert session.lineage is not None, "a child has a lineage"
    return SpawnAnswer(lineage=session.lineage, permissions=session.lineage.permission_policy, session=session)
