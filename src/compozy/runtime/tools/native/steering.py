"""Around a session's turns: its runtime, its waiting prompts, questions to and from persons (contract §6.2; D28)."""

from typing import Annotated

from msgspec import Meta

from compozy.model import ids
from compozy.runtime.sessions import Sessions
from compozy.runtime.sessions.people import SessionPeople
from compozy.runtime.sessions.prompting import InputEdit
from compozy.runtime.sessions.views import SessionViews
from compozy.runtime.tools.native.access import SessionReach
from compozy.runtime.tools.native.kit import CLARIFY, SESSIONS, Actor, Arguments, NativeTool, native, refuse

_Id = Annotated[str, Meta(min_length=1, description='The session\'s id, "sess-…".')]
_Own = Annotated[str, Meta(description="The session's id; this session's own when left out.")]

_Choices = Annotated[tuple[str, ...], Meta(max_length=20, description="Answers to choose from; empty for free text.")]


class ClarifyAsk(Arguments, frozen=True, kw_only=True):
    question: Annotated[str, Meta(min_length=1, max_length=4000)]
    choices: Annotated[
        tuple[str, ...], Meta(max_length=20, description="Answers to choose from; empty for free text.")
    ] = ()


class ClarifyAnswer(Arguments, frozen=True, kw_only=True):
    session_id: _Id
    request_id: Annotated[str, Meta(min_length=1)]
    choice_index: Annotated[int, Meta(ge=0)] | None = None
    text: str = ""


class SessionHealth(Arguments, frozen=True, kw_only=True):
    session_id: _Own = ""


class RuntimeSet(Arguments, frozen=True, kw_only=True):
    session_id: _Id
    provider: Annotated[str, Meta(min_length=1)]
    model: str = ""
    reasoning_effort: str = ""


class RuntimeClear(Arguments, frozen=True, kw_only=True):
    session_id: _Id


class InputReplace(Arguments, frozen=True, kw_only=True):
    session_id: _Id
    entry_id: Annotated[str, Meta(min_length=1)]
    text: Annotated[str, Meta(min_length=1)]


class InputPromote(Arguments, frozen=True, kw_only=True):
    session_id: _Id
    entry_id: Annotated[str, Meta(min_length=1)]
    text: Annotated[str, Meta(min_length=1, description="What it should say now.")]
    expected_turn_id: Annotated[str, Meta(min_length=1, description="The turn it should reach.")]


class SteeringTools:
    """The tools around turns."""

    def __init__(self, sessions: Sessions, people: SessionPeople, views: SessionViews, reach: SessionReach) -> None:
        self._sessions = sessions
        self._people = people
        self._views = views
        self._reach = reach

    def tools(self) -> tuple[NativeTool, ...]:
        """Return them."""
        group = (SESSIONS,)
        return (
            native(
                "clarify_ask",
                ClarifyAsk,
                self._ask,
                "Ask the person behind this session and wait for the answer; that nobody answered is one too.",
                title="Ask a person",
                toolsets=(CLARIFY,),
                hints=("question", "clarification", "user input"),
            ),
            native(
                "session_clarify_answer",
                ClarifyAnswer,
                self._answer,
                "Answer a question that a session this one started has asked.",
                title="Answer a question",
                toolsets=group,
                risk="mutating",
            ),
            native(
                "session_health",
                SessionHealth,
                self._health,
                "Show how well a session's agent is.",
                title="Session health",
                toolsets=group,
            ),
            native(
                "session_runtime_set",
                RuntimeSet,
                self._set_runtime,
                "Choose provider, model and effort of an idle session from its next turn on.",
                title="Choose a runtime",
                toolsets=group,
                risk="mutating",
            ),
            native(
                "session_runtime_clear",
                RuntimeClear,
                self._clear_runtime,
                "Go back to the runtime that the agent's definition says.",
                title="Clear the runtime",
                toolsets=group,
                risk="mutating",
            ),
            native(
                "session_input_replace",
                InputReplace,
                self._replace,
                "Give a waiting prompt another text.",
                title="Edit a waiting prompt",
                toolsets=group,
                risk="mutating",
            ),
            native(
                "session_input_promote",
                InputPromote,
                self._promote,
                "Let a waiting prompt reach the turn that runs now.",
                title="Promote a waiting prompt",
                toolsets=group,
                risk="mutating",
            ),
        )

    async def _ask(self, actor: Actor, given: ClarifyAsk) -> object:
        if actor.session is None:
            raise refuse("only a session has a person to ask")
        return await self._people.clarify(actor.session.id, given.question, given.choices)

    async def _answer(self, actor: Actor, given: ClarifyAnswer) -> object:
        session = await self._reach.own(actor, given.session_id)
        if session.id == actor.scope.session_id:
            raise refuse("a session does not answer its own questions: a person does")
        return await self._people.answer(session.id, given.request_id, given.choice_index, given.text)

    async def _health(self, actor: Actor, given: SessionHealth) -> object:
        session = await self._reach.seen(actor, given.session_id)
        return {"health": await self._views.health(session.id)}

    async def _set_runtime(self, actor: Actor, given: RuntimeSet) -> object:
        session = await self._reach.own(actor, given.session_id)
        values = {"provider": given.provider, "model": given.model, "reasoning_effort": given.reasoning_effort}
        chosen = {name: value for name, value in values.items() if value}
        return {"runtime": (await self._sessions.choose(session.id, chosen, None)).runtime}

    async def _clear_runtime(self, actor: Actor, given: RuntimeClear) -> object:
        session = await self._reach.own(actor, given.session_id)
        return {"runtime": (await self._people.clear_runtime(session.id, None)).runtime}

    async def _replace(self, actor: Actor, given: InputReplace) -> object:
        session = await self._reach.own(actor, given.session_id)
        return {"input": await self._sessions.inputs.replace(session.id, given.entry_id, _edit(given.text))}

    async def _promote(self, actor: Actor, given: InputPromote) -> object:
        session = await self._reach.own(actor, given.session_id)
        edit = _edit(given.text)
        promoted = await self._sessions.inputs.promote(session.id, given.entry_id, edit, given.expected_turn_id)
        return {"prompt": promoted}


def _edit(text: str) -> InputEdit:
    identity = f"tool-{ids.new_request_id()}"
    return InputEdit(text=text, message_id=identity, idempotency_key=identity)
