"""session_*: looking at sessions of the caller's workspace; changing its own and its descendants (D28).

Whose sessions a caller reaches is in `access.py`; a session never answers its own permission questions.
"""

import asyncio
from typing import Annotated, Literal

from msgspec import Meta

from compozy.model import ids
from compozy.model.session import Session
from compozy.runtime.sessions import Sessions
from compozy.runtime.sessions.prompting import PromptRequest
from compozy.runtime.sessions.turns import Turn
from compozy.runtime.tools.native.access import SessionReach
from compozy.runtime.tools.native.kit import SESSIONS, Actor, Arguments, NativeTool, native, refuse
from compozy.store.interface import EventQuery, SessionQuery

_Id = Annotated[str, Meta(min_length=1, description='The session\'s id, "sess-…".')]
_Own = Annotated[str, Meta(description="The session's id; this session's own when left out.")]
_WAIT = ("waiting-for-input", "waiting-for-auth", "idle", "done", "stopped", "failed")


class SessionList(Arguments, frozen=True, kw_only=True):
    state: Literal["", "starting", "active", "stopping", "stopped"] = ""
    agent: str = ""
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class SessionRead(Arguments, frozen=True, kw_only=True):
    session_id: _Own = ""


class SessionEvents(Arguments, frozen=True, kw_only=True):
    session_id: _Own = ""
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    after_sequence: Annotated[int, Meta(ge=0)] | None = None
    type: str = ""


class SessionHistory(Arguments, frozen=True, kw_only=True):
    session_id: _Own = ""
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class SessionPrompt(Arguments, frozen=True, kw_only=True):
    session_id: _Id
    message: Annotated[str, Meta(min_length=1)]
    mode: Literal["queue", "interrupt"] = "queue"
    expected_turn_id: str = ""


class SessionWait(Arguments, frozen=True, kw_only=True):
    session_id: _Id
    timeout_seconds: Annotated[float, Meta(gt=0, le=300)] = 60.0


class SessionOne(Arguments, frozen=True, kw_only=True):
    session_id: _Id


class SessionRename(Arguments, frozen=True, kw_only=True):
    session_id: _Own = ""
    name: Annotated[str, Meta(min_length=1, max_length=200)]


class SessionApprove(Arguments, frozen=True, kw_only=True):
    session_id: _Id
    request_id: Annotated[str, Meta(min_length=1)]
    decision: Literal["allow-once", "allow-always", "reject-once", "reject-always"]
    turn_id: str = ""


class InputCancel(Arguments, frozen=True, kw_only=True):
    session_id: _Id
    entry_id: Annotated[str, Meta(min_length=1)]


class SessionTools:
    """The tools about sessions."""

    def __init__(self, sessions: Sessions, reach: SessionReach) -> None:
        self._sessions = sessions
        self._reach = reach

    def tools(self) -> tuple[NativeTool, ...]:
        """Return them."""
        return (*self._reading(), *self._changing())

    def _reading(self) -> tuple[NativeTool, ...]:
        group = (SESSIONS,)
        return (
            native(
                "session_list",
                SessionList,
                self._list,
                "List the sessions of this workspace, the newest first.",
                title="List sessions",
                toolsets=group,
            ),
            native(
                "session_status",
                SessionRead,
                self._status,
                "Show whether a session runs, waits for a person, or has stopped, and why.",
                title="Session status",
                toolsets=group,
            ),
            native(
                "session_describe",
                SessionRead,
                self._describe,
                "Show everything stored about one session.",
                title="Describe a session",
                toolsets=group,
            ),
            native(
                "session_history",
                SessionHistory,
                self._history,
                "Read a session's transcript: what was asked and answered, the newest messages.",
                title="Read a transcript",
                toolsets=group,
                hints=("transcript", "conversation"),
            ),
            native(
                "session_events",
                SessionEvents,
                self._events,
                "Read a session's stored events.",
                title="Read events",
                toolsets=group,
            ),
            native(
                "session_inputs_list",
                SessionOne,
                self._inputs,
                "List the prompts that wait for a session's turn to end.",
                title="List waiting prompts",
                toolsets=group,
            ),
            native(
                "session_wait",
                SessionWait,
                self._wait,
                "Wait until a session is idle, waits for a person, or has stopped.",
                title="Wait for a session",
                toolsets=group,
            ),
        )

    def _changing(self) -> tuple[NativeTool, ...]:
        group = (SESSIONS,)
        return (
            native(
                "session_prompt",
                SessionPrompt,
                self._prompt,
                "Send a message to this session or one it started. A busy session takes it after its turn.",
                title="Prompt a session",
                toolsets=group,
                risk="mutating",
                hints=("send a message", "ask another agent"),
            ),
            native(
                "session_prompt_cancel",
                SessionOne,
                self._cancel,
                "Ask a session's running turn to end.",
                title="Cancel a turn",
                toolsets=group,
                risk="mutating",
            ),
            native(
                "session_input_cancel",
                InputCancel,
                self._input_cancel,
                "Take a waiting prompt out of a session's queue.",
                title="Withdraw a waiting prompt",
                toolsets=group,
                risk="mutating",
            ),
            native(
                "session_approve",
                SessionApprove,
                self._approve,
                "Answer a permission question of a session that this one started.",
                title="Answer a permission question",
                toolsets=group,
                risk="destructive",
            ),
            native(
                "session_rename",
                SessionRename,
                self._rename,
                "Give a session another name.",
                title="Rename a session",
                toolsets=group,
                risk="mutating",
            ),
            native(
                "session_archive",
                SessionOne,
                self._archive,
                "Put a stopped session away.",
                title="Archive a session",
                toolsets=group,
                risk="mutating",
            ),
            native(
                "session_unarchive",
                SessionOne,
                self._unarchive,
                "Take a session back that was put away.",
                title="Unarchive a session",
                toolsets=group,
                risk="mutating",
            ),
            native(
                "session_stop",
                SessionOne,
                self._stop,
                "Stop a session: its turn and its agent's process end.",
                title="Stop a session",
                toolsets=group,
                risk="destructive",
            ),
        )

    # --- reading

    async def _list(self, actor: Actor, given: SessionList) -> object:
        workspace = actor.workspace.id if actor.workspace is not None else ""
        query = SessionQuery(workspace_id=workspace, state=given.state, agent=given.agent, limit=given.limit)
        page = await self._sessions.page(query)
        return {"sessions": [_row(session) for session in page.sessions], "total": page.page.total}

    async def _status(self, actor: Actor, given: SessionRead) -> object:
        session = await self._reach.seen(actor, given.session_id)
        waiting = await self._sessions.interactions(session.id, "pending")
        return {**_row(session), "pending_interactions": waiting, "stop_detail": session.stop_detail}

    async def _describe(self, actor: Actor, given: SessionRead) -> object:
        return {"session": await self._reach.seen(actor, given.session_id)}

    async def _history(self, actor: Actor, given: SessionHistory) -> object:
        session = await self._reach.seen(actor, given.session_id)
        return await self._sessions.transcript(session.id, limit=given.limit)

    async def _events(self, actor: Actor, given: SessionEvents) -> object:
        session = await self._reach.seen(actor, given.session_id)
        query = EventQuery(after_sequence=given.after_sequence, type=given.type, limit=given.limit)
        return {"events": await self._sessions.events(session.id, query)}

    async def _inputs(self, actor: Actor, given: SessionOne) -> object:
        session = await self._reach.seen(actor, given.session_id)
        return {"inputs": await self._sessions.queued(session.id)}

    async def _wait(self, actor: Actor, given: SessionWait) -> object:
        session = await self._reach.seen(actor, given.session_id)
        if session.id == actor.scope.session_id:
            raise refuse("a session cannot wait for itself: its turn would never end")
        last = await self._sessions.last_sequence(session.id)
        try:
            async with asyncio.timeout(given.timeout_seconds):
                session = await self._settled(session.id, last)
        except TimeoutError:
            return {"outcome": "timeout", **_row(await self._sessions.get(session.id))}
        return {"outcome": "state-reached", **_row(session)}

    async def _settled(self, session_id: str, last: int) -> Session:
        session = await self._sessions.get(session_id)
        if session.badge in _WAIT:
            return session
        async for _ in self._sessions.follow(session_id, last):
            session = await self._sessions.get(session_id)
            if session.badge in _WAIT:
                return session
        return await self._sessions.get(session_id)

    # --- changing

    async def _prompt(self, actor: Actor, given: SessionPrompt) -> object:
        session = await self._reach.own(actor, given.session_id)
        identity = ids.new_request_id()
        is_stopped = session.state == "stopped"
        outcome = await self._sessions.prompt(
            session.id,
            PromptRequest(
                message=given.message,
                message_id=f"tool-{identity}",
                idempotency_key=f"tool-{identity}",
                mode="" if is_stopped else given.mode,
                expected_turn_id=given.expected_turn_id,
            ),
        )
        if isinstance(outcome, Turn):
            return {"session_id": session.id, "status": "accepted", "turn_id": outcome.id}
        return {"session_id": session.id, "prompt": outcome}

    async def _cancel(self, actor: Actor, given: SessionOne) -> object:
        session = await self._reach.own(actor, given.session_id)
        outcome, turn_id = await self._sessions.cancel(session.id)
        return {"session_id": session.id, "outcome": outcome, "turn_id": turn_id}

    async def _input_cancel(self, actor: Actor, given: InputCancel) -> object:
        session = await self._reach.own(actor, given.session_id)
        return {"prompt": await self._sessions.withdraw(session.id, given.entry_id)}

    async def _approve(self, actor: Actor, given: SessionApprove) -> object:
        session = await self._reach.own(actor, given.session_id)
        if session.id == actor.scope.session_id:
            raise refuse("a session does not answer its own permission questions: a person does")
        return await self._sessions.approve(session.id, given.request_id, given.turn_id, given.decision)

    async def _rename(self, actor: Actor, given: SessionRename) -> object:
        session = await self._reach.own(actor, given.session_id)
        return {"session": _row(await self._sessions.rename(session.id, given.name))}

    async def _archive(self, actor: Actor, given: SessionOne) -> object:
        session = await self._reach.own(actor, given.session_id)
        return {"session": _row(await self._sessions.set_archived(session.id, archived=True))}

    async def _unarchive(self, actor: Actor, given: SessionOne) -> object:
        session = await self._reach.own(actor, given.session_id)
        return {"session": _row(await self._sessions.set_archived(session.id, archived=False))}

    async def _stop(self, actor: Actor, given: SessionOne) -> object:
        session = await self._reach.own(actor, given.session_id)
        if session.id == actor.scope.session_id:
            # The agent would be gone before it read the answer.
            raise refuse("a session does not stop itself while it works: end your turn instead")
        await self._sessions.stop(session.id)
        return {"session_id": session.id, "stopped": True}


def _row(session: Session) -> dict[str, object]:
    return {
        "session_id": session.id,
        "name": session.name,
        "agent_name": session.agent_name,
        "state": session.state,
        "badge": session.badge,
        "type": session.type,
        "updated_at": session.updated_at,
    }
