"""What may be done with prompts that meet a running turn, by session id: steer, replace, promote (contract §3.5)."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from compozy.model.session_answers import PromptResult, QueuedInput
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.input_queue import check_edit
from compozy.runtime.sessions.live import LiveSession
from compozy.runtime.sessions.prompting import InputEdit, PromptRequest, check_prompt
from compozy.runtime.sessions.queueing import shown, with_queue
from compozy.runtime.sessions.turns import Turn
from compozy.store.interface import PromptRecord

Start = Callable[[PromptRecord], Awaitable[Turn | PromptResult]]


class InputHost(Protocol):
    """What inputs need of the sessions service."""

    async def live(self, session_id: str) -> LiveSession: ...
    async def admitted(self, live: LiveSession, request: PromptRequest, start: Start) -> Turn | PromptResult: ...


class SessionInputs:
    """The waiting prompts of all sessions."""

    def __init__(self, deps: Deps, host: InputHost) -> None:
        self._most_bytes = deps.config.session.busy_input.max_text_bytes
        self._host = host

    async def steer(self, session_id: str, request: PromptRequest) -> PromptResult:
        """Hand a message to the running turn `request.expected_turn_id`.

        Raises:
            Conflict: it does not run.
        """
        check_prompt(request, self._most_bytes)
        live = await self._host.live(session_id)

        async def start(identity: PromptRecord) -> Turn | PromptResult:
            return await live.steer(request, identity)

        accepted = await self._host.admitted(live, request, start)
        assert isinstance(accepted, PromptResult), "a message that steers starts no stream"
        return accepted

    async def replace(self, session_id: str, entry_id: str, edit: InputEdit) -> QueuedInput:
        """Give a waiting prompt another text and identity.

        Raises:
            NotFound, Conflict: it does not wait any more, or the identity is another prompt's.
        """
        live = await self._host.live(session_id)
        entry = await live.inputs.replace(entry_id, check_edit(edit, self._most_bytes))
        return next(item for item in shown(with_queue(live.record, [entry])))

    async def promote(self, session_id: str, entry_id: str, edit: InputEdit, expected_turn_id: str) -> PromptResult:
        """Let a waiting prompt steer the running turn.

        Raises:
            NotFound, Conflict: it does not wait any more, or the turn is another one.
        """
        live = await self._host.live(session_id)
        return await live.inputs.promote(entry_id, check_edit(edit, self._most_bytes), expected_turn_id)
