"""Clarifications of one session: questions with a free or a chosen answer (contract §3.5, §2.2 tools.clarify).

An agent asks through the protocol's `elicitation/create` or a hosted tool; both end here. Nobody in time means that
the agent goes on without an answer (`fallback`). Permission requests are `questions.py`.
"""

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec

from compozy.acp.contract import ElicitationField, ElicitationRequest, RequestRefused
from compozy.model import ids, times
from compozy.model.errors import Conflict, InvalidRequest, NotFound
from compozy.model.event import EventDraft
from compozy.model.session import Interaction
from compozy.model.session_reads import Clarification, ClarifyAnswer
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.journal import Journal, change_session
from compozy.store.interface import SessionRecord

# One answer is a sentence or a paragraph, not a document.
ANSWER_BYTES = 64 * 1024
# A form of more fields is no question any more.
MOST_FIELDS = 8
_FIELD_KINDS = ("string", "boolean", "integer", "number")


class _Pending(msgspec.Struct):
    interaction: Interaction
    answer: asyncio.Future[ClarifyAnswer | None]


class Clarifications:
    """The clarification desk of one agent process."""

    def __init__(self, journal: Journal, maker: EventMaker, seconds: float) -> None:
        self._journal = journal
        self._maker = maker
        self._seconds = seconds
        self._pending: dict[str, _Pending] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether a person is asked something now."""
        return bool(self._pending)

    def waiting(self) -> tuple[Interaction, ...]:
        """Return the questions that wait, oldest first."""
        return tuple(pending.interaction for pending in self._pending.values())

    async def ask(
        self, question: str, turn_id: str, *, choices: tuple[str, ...] = (), request_id: str = ""
    ) -> ClarifyAnswer | None:
        """Ask a person; None when the question was withdrawn, a fallback when nobody answered in time."""
        pending = self._open(question, turn_id, choices, request_id)
        interaction = pending.interaction
        answer: ClarifyAnswer | None = None
        status, by = "canceled", "provider"
        try:
            text = f"goes on without an answer at {interaction.expires_at} unless somebody answers before"
            draft = self._event(interaction, text=text, expires_at=interaction.expires_at)
            await self._journal.write([draft], lambda record: _with(record, interaction))
            done, _ = await asyncio.wait((pending.answer,), timeout=self._seconds)
            answer = pending.answer.result() if done else ClarifyAnswer(choice=None, text="", fallback=True)
            if answer is not None:
                status, by = ("resolved", "operator") if done else ("timed_out", "provider")
        finally:
            self._pending.pop(interaction.provider_request_id, None)
            if not pending.answer.done():
                pending.answer.cancel()
            said = answer.text if answer is not None else ""
            closed = self._event(interaction, text=said, decision=status, resolved_by=by)
            await self._journal.write([closed], lambda record: _without(record, interaction.interaction_id))
        return answer

    def _open(self, question: str, turn_id: str, choices: tuple[str, ...], request_id: str) -> _Pending:
        base = request_id or f"{turn_id}:clarify"
        found, number = base, 2
        while found in self._pending:
            found, number = f"{base}:{number}", number + 1
        interaction = Interaction(
            interaction_id=ids.new_interaction_id(),
            kind="clarify",
            provider_request_id=found,
            status="pending",
            created_at=times.now(),
            title=self._maker.redact(question),
            turn_id=turn_id,
            choices=tuple(self._maker.redact(choice) for choice in choices),
            expires_at=times.format_time(datetime.now(UTC) + timedelta(seconds=self._seconds)),
        )
        future: asyncio.Future[ClarifyAnswer | None] = asyncio.get_running_loop().create_future()
        pending = self._pending[found] = _Pending(interaction, future)
        return pending

    def answer(self, request_id: str, choice_index: int | None, text: str, *, decline: bool = False) -> ClarifyAnswer:
        """Give a person's answer, or let the agent go on without one.

        Raises:
            NotFound: no such question waits.
            Conflict: somebody answered it a moment ago.
            InvalidRequest: neither a choice nor text, or both, or no such choice.
        """
        pending = self._pending.get(request_id)
        if pending is None:
            raise NotFound(
                f"no clarification {request_id!r} waits: it was answered, withdrawn, or its time was over",
                code="clarification_not_found",
            )
        if pending.answer.done():
            raise Conflict(f"clarification {request_id!r} was just answered", code="clarification_resolved")
        if decline:
            if choice_index is not None or text:
                raise InvalidRequest("decline stands alone: leave choice_index and text out")
            answer = ClarifyAnswer(choice=None, text="", fallback=True)
        else:
            answer = read_answer(pending.interaction, choice_index, text)
        pending.answer.set_result(answer)
        return answer

    def cancel_all(self) -> None:
        """Withdraw every question."""
        for pending in list(self._pending.values()):
            if not pending.answer.done():
                pending.answer.set_result(None)

    def _event(
        self,
        interaction: Interaction,
        *,
        text: str = "",
        decision: str = "",
        resolved_by: str = "",
        expires_at: str = "",
    ) -> EventDraft:
        return self._maker.draft(
            "clarify",
            interaction.turn_id,
            request_id=interaction.provider_request_id,
            title=interaction.title,
            text=text,
            decision=decision,
            decisions=interaction.choices if not decision else (),
            resolved_by=resolved_by,
            interaction_id=interaction.interaction_id,
            expires_at=expires_at,
        )


def read_answer(interaction: Interaction, choice_index: int | None, text: str) -> ClarifyAnswer:
    """Check an answer against its question.

    Raises:
        InvalidRequest: naming what may be answered.
    """
    choices = interaction.choices
    if choice_index is not None and text:
        raise InvalidRequest("choice_index and text are mutually exclusive: answer with one of them")
    if choice_index is not None:
        if not 0 <= choice_index < len(choices):
            offered = ", ".join(f"{number} ({choice})" for number, choice in enumerate(choices)) or "none"
            raise InvalidRequest(f"choice_index {choice_index} is not on offer; choices: {offered}")
        return ClarifyAnswer(choice=choice_index, text=choices[choice_index], fallback=False)
    if not text.strip():
        raise InvalidRequest("an answer needs choice_index or text")
    if len(text.encode("utf-8", "replace")) > ANSWER_BYTES:
        raise InvalidRequest(f"text is longer than {ANSWER_BYTES} bytes: put long material into a file")
    return ClarifyAnswer(choice=choices.index(text) if text in choices else None, text=text, fallback=False)


async def fill_form(desk: Clarifications, request: ElicitationRequest, turn_id: str) -> dict[str, object] | None:
    """Ask for each field of a form; None when a question stays without an answer that fits.

    Raises:
        RequestRefused: the form has no fields, too many, or some of a type nobody can answer in a line.
    """
    odd = [field.name for field in request.fields if field.kind not in _FIELD_KINDS]
    if odd or not 1 <= len(request.fields) <= MOST_FIELDS:
        what = (
            f"fields {', '.join(odd)} have no type of {', '.join(_FIELD_KINDS)}" if odd else "no fields, or too many"
        )
        raise RequestRefused(f"this form cannot be shown: {what}; ask with 1 to {MOST_FIELDS} simple fields")
    values: dict[str, object] = {}
    for field in request.fields:
        question = " — ".join(part for part in (request.message, field.title or field.name) if part)
        answer = await desk.ask(question, turn_id, choices=field.choices)
        value = None if answer is None or answer.fallback else _value_of(field, answer)
        if value is None:
            return None
        values[field.name] = value
    return values


def _value_of(field: ElicitationField, answer: ClarifyAnswer) -> object:
    """Return the answer as the field's type, None when it is none."""
    if field.kind == "string":
        return answer.text
    if field.kind == "boolean":
        return {"yes": True, "true": True, "no": False, "false": False}.get(answer.text.strip().lower())
    try:
        return int(answer.text) if field.kind == "integer" else float(answer.text)
    except ValueError:
        return None


def clarification(interaction: Interaction, session_id: str, agent_name: str) -> Clarification:
    """Return a waiting question as the API shows it."""
    return Clarification(
        request_id=interaction.provider_request_id,
        session_id=session_id,
        agent_name=agent_name,
        question=interaction.title,
        asked_at=interaction.created_at,
        deadline=interaction.expires_at,
        choices=interaction.choices,
    )


def _with(record: SessionRecord, interaction: Interaction) -> SessionRecord:
    return change_session(record, pending_interactions=(*record.session.pending_interactions, interaction))


def _without(record: SessionRecord, interaction_id: str) -> SessionRecord:
    kept = tuple(i for i in record.session.pending_interactions if i.interaction_id != interaction_id)
    return change_session(record, pending_interactions=kept)
