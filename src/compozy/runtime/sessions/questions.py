"""Permission requests of one session: decided by its mode, or asked of a person and answered in time.

Implements contract §5.5 (pending ids, five minutes, default reject-once, events) and P44: a cancelled turn answers
what is pending with `cancelled`, and an answer that comes too late is refused. Policy itself is in `policy.py`.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec

from compozy.acp.contract import PermissionRequest
from compozy.model import ids, times
from compozy.model.errors import Conflict, InvalidRequest
from compozy.model.event import EventDraft
from compozy.model.session import Interaction
from compozy.model.session_answers import ApprovalAnswer
from compozy.runtime.sessions.clarify import Clarifications
from compozy.runtime.sessions.containment import Roots
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.journal import Journal, change_session
from compozy.runtime.sessions.policy import DECISIONS, Grants, judge, offered, pick_option
from compozy.store.interface import SessionRecord

# How long a person has before the stated default answer is given (contract §5.5).
ANSWER_SECONDS = 300.0
DEFAULT_DECISION = "reject-once"


class _Pending(msgspec.Struct):
    request: PermissionRequest
    interaction: Interaction
    answer: asyncio.Future[str]


class Questions:
    """The permission desk of one live session."""

    def __init__(
        self,
        journal: Journal,
        maker: EventMaker,
        roots: Roots,
        grants: Grants,
        *,
        seconds: float = ANSWER_SECONDS,
        clarify_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._journal = journal
        self._maker = maker
        self._roots = roots
        self._grants = grants
        self._seconds = seconds
        self.clarifications = Clarifications(journal, maker, clarify_seconds)
        self._pending: dict[str, _Pending] = {}
        # Ids of an earlier process that still wait for the record's sake are taken.
        self._used = {i.provider_request_id for i in journal.session.pending_interactions}
        # What persons answered in the turn in flight: a second answer learns of the first.
        self._answered: dict[str, ApprovalAnswer] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether a person is asked something now."""
        return bool(self._pending) or self.clarifications.is_waiting

    async def ask(self, request: PermissionRequest, turn_id: str, mode: str) -> str | None:
        """Return the option chosen by mode, person or time, None for `cancelled`."""
        verdict = judge(mode, "ask", request.kind, request.locations, self._roots).verdict
        if verdict != "ask":
            await self._journal.write([self._event(request, self._new_id(request, turn_id), turn_id, verdict)])
            return pick_option(request.options, verdict)
        decision, by = await self._ask_person(request, turn_id, self._seconds)
        if decision == "cancelled":
            return None
        if by == "operator":
            self._grants.add(request, decision)
        return pick_option(request.options, decision)

    async def decide(self, request: PermissionRequest, turn_id: str, seconds: float) -> str:
        """Ask a person in any mode; return the decision, or `cancelled` or `timed-out`."""
        decision, by = await self._ask_person(request, turn_id, seconds)
        return decision if by == "operator" or decision == "cancelled" else "timed-out"

    async def _ask_person(self, request: PermissionRequest, turn_id: str, seconds: float) -> tuple[str, str]:
        """Return the decision and who took it."""
        pending = self._open(request, turn_id, seconds)
        interaction = pending.interaction
        request_id = interaction.provider_request_id
        draft = self._maker.draft(
            "permission",
            turn_id,
            request_id=request_id,
            title=interaction.title,
            tool_call_id=request.tool_call_id,
            action=request.kind,
            resource=", ".join(request.locations),
            interaction_id=interaction.interaction_id,
            decisions=interaction.decisions,
            expires_at=interaction.expires_at,
            default_decision=DEFAULT_DECISION,
            text=f"answers {DEFAULT_DECISION} at {interaction.expires_at} unless somebody answers before",
            raw=request.raw,
        )
        try:
            await self._journal.write([draft], lambda record: _with_pending(record, interaction))
            done, _ = await asyncio.wait((pending.answer,), timeout=seconds)
            if done:
                decision, by = pending.answer.result(), "operator"
            else:
                decision, by = DEFAULT_DECISION, "provider"
        except asyncio.CancelledError:
            decision, by = "cancelled", "provider"
            raise
        finally:
            self._pending.pop(request_id, None)
            if not pending.answer.done():
                pending.answer.cancel()
            await self._close(request, interaction, turn_id, decision, by)
        return decision, by

    def _open(self, request: PermissionRequest, turn_id: str, seconds: float) -> _Pending:
        request_id = self._new_id(request, turn_id)
        expires = datetime.now(UTC) + timedelta(seconds=seconds)
        interaction = Interaction(
            interaction_id=ids.new_interaction_id(),
            kind="permission",
            provider_request_id=request_id,
            status="pending",
            created_at=times.now(),
            title=self._maker.redact(request.title or request.kind or "permission"),
            turn_id=turn_id,
            decisions=offered(request.options),
            expires_at=times.format_time(expires),
            default_decision=DEFAULT_DECISION,
            action=request.kind,
            resource=self._maker.redact(", ".join(request.locations)),
        )
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        pending = self._pending[request_id] = _Pending(request, interaction, answer)
        return pending

    def _new_id(self, request: PermissionRequest, turn_id: str) -> str:
        base = request.meta_request_id
        if not base and request.tool_call_id:
            base = f"{turn_id}:{request.tool_call_id}"
        if not base and (request.title or request.kind):
            base = f"{turn_id}:{request.title or request.kind}"
        base = base or "permission"
        found, number = base, 2
        while found in self._used:
            found, number = f"{base}:{number}", number + 1
        self._used.add(found)
        return found

    async def _close(
        self, request: PermissionRequest, interaction: Interaction, turn_id: str, decision: str, by: str
    ) -> None:
        draft = self._event(request, interaction.provider_request_id, turn_id, decision, by, interaction)
        await self._journal.write([draft], lambda record: without_pending(record, interaction.interaction_id))

    def _event(
        self,
        request: PermissionRequest,
        request_id: str,
        turn_id: str,
        decision: str,
        by: str = "provider",
        interaction: Interaction | None = None,
    ) -> EventDraft:
        return self._maker.draft(
            "permission",
            turn_id,
            request_id=request_id,
            title=request.title or request.kind,
            tool_call_id=request.tool_call_id,
            action=request.kind,
            resource=", ".join(request.locations),
            decision=decision,
            resolved_by=by,
            interaction_id=interaction.interaction_id if interaction else "",
            raw=request.raw,
        )

    def has(self, request_id: str) -> bool:
        """Whether that request waits for an answer now."""
        return request_id in self._pending or request_id in self._answered

    def end_turn(self) -> None:
        """Withdraw what is pending; an answer that comes now is too late."""
        self.cancel_all()
        self._answered.clear()

    def approve(self, request_id: str, turn_id: str, decision: str) -> ApprovalAnswer:
        """Give a person's answer.

        Raises:
            InvalidRequest: the decision is none, or the agent does not offer it.
            Conflict: nothing of that id is pending in that turn.
        """
        pending = self._pending.get(request_id)
        earlier = self._answered.get(request_id)
        if earlier is not None:
            return msgspec.structs.replace(earlier, decision=decision, outcome="already-resolved")
        if pending is None or pending.answer.done() or (turn_id and pending.interaction.turn_id != turn_id):
            raise not_pending(request_id, turn_id)
        check_decision(decision, pending.interaction)
        pending.answer.set_result(decision)
        answer = self._answered[request_id] = ApprovalAnswer(
            decision=decision,
            outcome="applied",
            request_id=request_id,
            interaction_id=pending.interaction.interaction_id,
            resolved_decision=decision,
        )
        return answer

    def cancel_all(self) -> None:
        """Answer everything pending with `cancelled` (P44)."""
        for pending in list(self._pending.values()):
            if not pending.answer.done():
                pending.answer.set_result("cancelled")
        self.clarifications.cancel_all()


def _with_pending(record: SessionRecord, interaction: Interaction) -> SessionRecord:
    return change_session(record, pending_interactions=(*record.session.pending_interactions, interaction))


def without_pending(record: SessionRecord, interaction_id: str) -> SessionRecord:
    """Return the record without that pending question."""
    kept = tuple(i for i in record.session.pending_interactions if i.interaction_id != interaction_id)
    return change_session(record, pending_interactions=kept)


def not_pending(request_id: str, turn_id: str) -> Conflict:
    """Return the refusal of an answer that nobody waits for."""
    return Conflict(
        f"no permission request {request_id!r} is pending in turn {turn_id!r}: it was answered or timed out, or its "
        "turn ended",
        code="permission_not_pending",
    )


def check_decision(decision: str, interaction: Interaction) -> None:
    """Refuse a decision that does not exist or that the agent does not offer.

    Raises:
        InvalidRequest: naming the choices.
    """
    if decision not in DECISIONS:
        raise InvalidRequest(f"decision {decision!r} is not one of {', '.join(DECISIONS)}")
    if decision not in interaction.decisions:
        choices = ", ".join(interaction.decisions) or "none"
        raise InvalidRequest(
            f"the agent does not offer {decision!r} for {interaction.provider_request_id!r}; it offers: {choices}"
        )


async def resolve_orphan(journal: Journal, maker: EventMaker, orphan: Interaction, decision: str) -> ApprovalAnswer:
    """Record an answer to a question whose agent is gone; it can reach nobody (contract §5.9).

    Raises:
        InvalidRequest: the decision was not on offer.
    """
    check_decision(decision, orphan)
    draft = maker.draft(
        "permission",
        orphan.turn_id,
        request_id=orphan.provider_request_id,
        title=orphan.title,
        decision=decision,
        resolved_by="operator",
        interaction_id=orphan.interaction_id,
    )
    await journal.write([draft], lambda record: without_pending(record, orphan.interaction_id))
    return ApprovalAnswer(
        decision=decision,
        outcome="resolved-after-restart",
        request_id=orphan.provider_request_id,
        interaction_id=orphan.interaction_id,
        resolved_decision=decision,
    )
