"""What people and their clients do around a session's turns: look, attach, wait, answer, mend (contract §3.5).

Turns, processes and their ends belong to `live.py`; permission answers go through `service.py`.
"""

import msgspec

from compozy.model.errors import Conflict, NotFound
from compozy.model.session import Session
from compozy.model.session_reads import Attached, Clarification, ClarifyAnswer, Repair, SessionHold, WaitAnswer
from compozy.runtime.resolution import resolve_runtime
from compozy.runtime.sessions.choosing import check_revision
from compozy.runtime.sessions.clarify import clarification
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.journal import change_runtime
from compozy.runtime.sessions.presence import attach_seconds, attached
from compozy.runtime.sessions.repair import repair
from compozy.runtime.sessions.service import Sessions
from compozy.runtime.sessions.settling import seen
from compozy.runtime.sessions.waits import check_wait
from compozy.store.interface import SessionRecord

_NOBODY = "operator"
NOTIFIED = "operator.notification"


class SessionPeople:
    """The side of sessions that faces people."""

    def __init__(self, deps: Deps, sessions: Sessions) -> None:
        self._deps = deps
        self._sessions = sessions

    # --- looking

    async def show(self, session_id: str, lease_id: str) -> str:
        """Note that a client shows the session, which is thereby seen; return the lease to renew."""
        live = await self._sessions.live(session_id)
        lease = live.viewers.show(lease_id)
        if live.record.is_unseen:
            await live.journal.change(seen)
        return lease

    async def notify(self, session_id: str, title: str, body: str) -> None:
        """Keep what a session tells its person as an event, then show it to whoever watches all sessions."""
        live = await self._sessions.live(session_id)
        session = live.record.session
        maker = EventMaker(session.agent_name, self._deps.redactor)
        draft = maker.draft("system", live.current_turn_id, title=title, text=body, action=NOTIFIED)
        await live.journal.write((draft,))
        self._sessions.changes.notified(session, maker.redact(title), maker.redact(body))

    async def hide(self, session_id: str, lease_id: str) -> None:
        """Note that a client shows the session no longer."""
        (await self._sessions.live(session_id)).viewers.hide(lease_id)

    async def attach(self, session_id: str, attached_to: str, ttl_seconds: int | None) -> Attached:
        """Hold a session for one client, for a while; it is thereby seen.

        Raises:
            Conflict: it cannot be attached to, or another client holds it.
        """
        live = await self._sessions.live(session_id)
        taken: list[SessionHold] = []

        def change(record: SessionRecord) -> SessionRecord:
            changed, attachment = attached(record, attached_to.strip() or _NOBODY, attach_seconds(ttl_seconds))
            taken.append(attachment)
            return changed

        await live.journal.change(change)
        return Attached(session=live.record.session, attach=taken[-1])

    async def wait(
        self, session_id: str, *, timeout_ms: int, until: tuple[str, ...], epoch: int | None, resume_id: str
    ) -> WaitAnswer:
        """Return when the session shows one of the badges, or the time is over.

        Raises:
            Unprocessable, Conflict, Gone: the wait cannot begin, and why.
        """
        wanted = check_wait(timeout_ms, until)
        live = await self._sessions.live(session_id)
        present = live.record.session.transcript_epoch
        if epoch is not None and epoch != present:
            raise Conflict(f"epoch {epoch} is not the present one ({present}): read the session again", code="stale")
        answer, is_gone = await self._sessions.waits.wait(live.record, timeout_ms, wanted, resume_id)
        revision = 0 if is_gone else await self._sessions.last_sequence(session_id)
        return msgspec.structs.replace(answer, revision=revision)

    # --- clarifications

    async def clarifications(self, session_id: str) -> tuple[Clarification, ...]:
        """Return the questions of the session that wait for a free or chosen answer."""
        session = await self._sessions.get(session_id)
        return tuple(
            clarification(interaction, session.id, session.agent_name)
            for interaction in session.pending_interactions
            if interaction.kind == "clarify" and interaction.status == "pending"
        )

    async def answer(
        self, session_id: str, request_id: str, choice_index: int | None, text: str, *, decline: bool = False
    ) -> ClarifyAnswer:
        """Answer such a question.

        Raises:
            NotFound, Conflict, InvalidRequest: it does not wait, or the answer does not fit.
        """
        live = await self._sessions.live(session_id)
        process = live.process
        if process is None:
            raise NotFound(
                f"no clarification {request_id!r} waits: the session has no agent now", code="clarification_not_found"
            )
        return process.questions.clarifications.answer(request_id, choice_index, text, decline=decline)

    async def clarify(self, session_id: str, question: str, choices: tuple[str, ...] = ()) -> ClarifyAnswer:
        """Ask a person on behalf of the session's agent; for hosted tools.

        Raises:
            Conflict: no turn runs, or it was ended while the question waited.
        """
        live = await self._sessions.live(session_id)
        process = live.process
        answer = None
        if process is not None and live.takes_requests:
            desk = process.questions.clarifications
            answer = await desk.ask(question, live.current_turn_id, choices=choices)
        if answer is None:
            raise Conflict(f"session {session_id!r} runs no turn that could wait for an answer", code="not_prompting")
        return answer

    # --- runtime, repair

    async def clear_runtime(self, session_id: str, expected_revision: int | None) -> Session:
        """Go back from a chosen runtime to the one the agent's definition resolves to.

        Raises:
            Conflict: the revision is stale, or a turn runs.
            CompozyError: the agent or its provider is gone.
        """
        live = await self._sessions.live(session_id)
        check_revision(live.record, expected_revision)
        session = live.record.session
        if session.runtime.selected is None:
            return session
        agent, workspace = await self._sessions.find_agent(session.agent_name, session.workspace_id)
        resolution = resolve_runtime(agent.loaded.definition, await self._deps.configs.of(workspace.root_dir))
        given = {
            "provider": resolution.provider.id,
            "model": resolution.model,
            "reasoning_effort": resolution.reasoning_effort,
        }
        await live.choose({key: value for key, value in given.items() if value}, None)

        def cleared(record: SessionRecord) -> SessionRecord:
            record = msgspec.structs.replace(
                record, model_source=resolution.model_source or "", effort_source=resolution.effort_source or ""
            )
            revision = record.session.runtime.selection_revision
            if revision == session.runtime.selection_revision:
                revision += 1
            return change_runtime(record, selected=None, selection_revision=revision)

        await live.journal.change(cleared)
        return live.record.session

    async def repair(self, session_id: str, *, dry_run: bool, force: bool) -> Repair:
        """Look at the session's history and append what mends it."""
        live = await self._sessions.live(session_id)
        maker = EventMaker(live.record.session.agent_name, self._deps.redactor)
        maker.acp_session_id = live.record.session.runtime.acp_session_id
        return await repair(self._deps.store, live, maker, dry_run=dry_run, force=force)
