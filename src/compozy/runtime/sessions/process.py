"""One agent process of one session, from the side that answers it: updates in, questions, files, terminals.

Implements `AgentRequests` (acp/contract.py). Each call is handed to the session it belongs to; a process that was
replaced or ended no longer changes its session. It does not start processes (`binding.py`).
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from compozy.acp.answers import read_config_options, read_object
from compozy.acp.contract import (
    AgentConnection,
    AgentInfo,
    ElicitationRequest,
    LaunchSpec,
    PermissionRequest,
    RequestRefused,
    SessionOptions,
    SessionUpdate,
    TerminalRequest,
)
from compozy.config.environment import base_environment
from compozy.model.event import EventDraft
from compozy.model.session import AcpCapabilities
from compozy.runtime.sessions.callbacks import Denied, FileCallbacks, authorise_terminal
from compozy.runtime.sessions.clarify import fill_form
from compozy.runtime.sessions.containment import Roots
from compozy.runtime.sessions.content import EventMaker
from compozy.runtime.sessions.journal import Change, Journal, change_runtime, change_session
from compozy.runtime.sessions.mapping import FINAL, UpdateMapper, read_commands, read_tool
from compozy.runtime.sessions.policy import Grants
from compozy.runtime.sessions.questions import Questions
from compozy.store.interface import SessionRecord

# Diagnostics of the wire become events up to this many per process: chatter is not history.
DIAGNOSTIC_EVENTS = 50
_NOTED = ("stdout_noise", "unknown_method")
_STATE_KINDS = ("available_commands_update", "config_option_update", "current_mode_update")


class ProcessOwner(Protocol):
    """What a process needs of its session."""

    @property
    def journal(self) -> Journal: ...
    @property
    def permission_mode(self) -> str: ...
    @property
    def current_turn_id(self) -> str:
        """The turn in flight, else the last one: where late updates belong."""
        ...

    @property
    def takes_requests(self) -> bool:
        """Whether a turn runs that nobody asked to end: only then the agent is asked or allowed anything new."""
        ...

    def touch(self, kind: str = "", detail: str = "") -> None:
        """Note that the agent showed a sign of life, and which."""
        ...

    def at_work(self, call_id: str, title: str, *, is_over: bool) -> None:
        """Note which tool the agent uses, or no longer."""
        ...

    def at_rest(self) -> None:
        """Take note that the last open tool call has its result."""
        ...

    async def process_exited(self, process: "AgentProcess") -> None:
        """Take note that the process ended by itself (`process.exit`)."""
        ...


class AgentProcess:
    """The answers to one agent process, and what is known of it."""

    def __init__(
        self,
        owner: ProcessOwner,
        maker: EventMaker,
        roots: Roots,
        marker: str,
        answer_seconds: float,
        clarify_seconds: float,
    ) -> None:
        self._owner = owner
        self._maker = maker
        self._roots = roots
        self._grants = Grants(roots)
        self._files = FileCallbacks(roots, self._grants)
        self._noted = 0
        self.marker = marker
        self.mapper = UpdateMapper(maker)
        self.questions = Questions(
            owner.journal, maker, roots, self._grants, seconds=answer_seconds, clarify_seconds=clarify_seconds
        )
        self.connection: AgentConnection | None = None
        self.info: AgentInfo | None = None
        self.options = SessionOptions(session_id="")
        self.is_ending = False
        """Set by whoever ends the process on purpose, so that its exit is no crash."""
        self.is_first_prompt = True
        self.told: dict[str, str] = {}
        """What of the turns' context the agent was told last, by block."""
        self.lost_session_id = ""
        """The agent's session that it could not load, until the transcript has said so."""
        self.cost: dict[str, object] | None = None
        """The newest running total of its session that the agent told."""
        self.rung = ""
        """How the agent's session was opened: resume, load or new."""
        self.tried: list[tuple[str, str]] = []
        """The rungs of the ladder that did not hold, and what was said."""
        self.exit: tuple[int | None, str] | None = None
        """Exit code and last words, once the process ended by itself."""

    @property
    def session_id(self) -> str:
        """The agent's own id of the session, "" before `session/new` was answered."""
        return self.options.session_id

    def capabilities(self) -> AcpCapabilities:
        """Return what the agent said it can do."""
        info = self.info
        assert info is not None, "capabilities are known after initialize"
        return AcpCapabilities(
            prompt_audio=info.prompt_audio,
            prompt_embedded_context=info.prompt_embedded_context,
            prompt_image=info.prompt_image,
            supports_load_session=info.load_session,
            supported_modes=tuple(mode.id for mode in self.options.modes),
            config_options=self.options.config_options,
        )

    def end_turn(self) -> None:
        """Forget what persons allowed for the turn only."""
        self._grants.end_turn()

    async def on_updates(self, updates: Sequence[SessionUpdate]) -> None:
        """Store a batch, then let it be seen."""
        mine = [u for u in updates if not self.session_id or u.session_id == self.session_id]
        if not mine:
            return
        self._note(mine[-1])
        change = self._state_change([u for u in mine if u.kind in _STATE_KINDS])
        self.cost = _newest_cost(mine) or self.cost
        # What an agent replays while it loads a session is history we already have (P57).
        mine = [u for u in mine if not u.replay or u.kind in _STATE_KINDS]
        drafts = self.mapper.map(mine, self._owner.current_turn_id)
        if drafts or change is not None:
            await self._owner.journal.write(drafts, change)
        if any(draft.type == "tool_result" for draft in drafts) and not self.mapper.open_calls():
            self._owner.at_rest()

    def _note(self, newest: SessionUpdate) -> None:
        """Take note of the newest update of a batch as a sign of life."""
        title = ""
        if newest.kind in ("tool_call", "tool_call_update") and (tool := read_tool(newest)) is not None:
            title = self._maker.redact(tool.title or "")
            self._owner.at_work(tool.toolCallId, title, is_over=tool.status in FINAL)
        self._owner.touch(newest.kind, title)

    def _state_change(self, updates: Sequence[SessionUpdate]) -> Change | None:
        commands = None
        before = self.options
        for update in updates:
            if update.kind == "available_commands_update":
                found = read_commands(update)
                commands = found if found is not None else commands
            else:
                self.options = _changed_options(self.options, update)
        if commands is None and self.options is before:
            return None

        def change(record: SessionRecord) -> SessionRecord:
            if commands is not None:
                record = change_session(record, available_commands=commands)
            if self.info is None:
                return record
            return change_runtime(record, acp_caps=self.capabilities())

        return change

    async def on_permission(self, request: PermissionRequest) -> str | None:
        """Let mode or person decide; outside of a turn nothing is allowed."""
        if not self._owner.takes_requests or self.is_ending:
            return None
        try:
            return await self.questions.ask(request, self._owner.current_turn_id, self._owner.permission_mode)
        finally:
            # Who waited for a person was not silent.
            self._owner.touch("permission", self._maker.redact(request.title))

    async def ask_about_tool(self, request: PermissionRequest, seconds: float) -> str:
        """Ask a person about a hosted tool; "" when nobody can be asked because no turn runs."""
        if not self._owner.takes_requests or self.is_ending:
            return ""
        try:
            return await self.questions.decide(request, self._owner.current_turn_id, seconds)
        finally:
            self._owner.touch()

    async def on_read_text_file(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        """Read a file below the roots."""
        self._owner.touch("fs/read_text_file")
        try:
            return await self._files.read(self._owner.permission_mode, path, line, limit)
        except Denied as denied:
            await self._tell(denied)
            raise

    async def on_write_text_file(self, session_id: str, path: str, content: str) -> None:
        """Write a file below the roots."""
        self._owner.touch("fs/write_text_file")
        try:
            await self._files.write(self._owner.permission_mode, path, content)
        except Denied as denied:
            await self._tell(denied)
            raise

    async def on_terminal(self, request: TerminalRequest) -> LaunchSpec:
        """Authorise a command; its environment is the daemon's filtered one, not the session's (contract §5.5)."""
        self._owner.touch("terminal/create")
        if not self._owner.takes_requests:
            raise RequestRefused("no turn is running: terminals belong to a turn")
        try:
            return authorise_terminal(
                request,
                self._owner.permission_mode,
                self._roots,
                self._grants,
                base_environment("filtered"),
                self.marker,
            )
        except Denied as denied:
            await self._tell(denied)
            raise

    async def on_elicitation(self, request: ElicitationRequest) -> dict[str, object] | None:
        """Ask a person for each field of a form, one after the other; None when one stays without an answer."""
        self._owner.touch("elicitation/create")
        if not self._owner.takes_requests or self.is_ending:
            return None
        try:
            return await fill_form(self.questions.clarifications, request, self._owner.current_turn_id)
        finally:
            # Who waited for a person was not silent.
            self._owner.touch()

    async def _tell(self, denied: Denied) -> None:
        await self._owner.journal.write([self._denied(denied)])

    def _denied(self, denied: Denied) -> EventDraft:
        return self._maker.draft(
            "permission",
            self._owner.current_turn_id,
            request_id=f"{self._owner.current_turn_id}:{denied.action}",
            title=str(denied),
            action=denied.action,
            resource=denied.resource,
            decision="reject-once",
            resolved_by="provider",
        )

    async def on_diagnostic(self, kind: str, text: str) -> None:
        """Keep the first notes about the wire as events; the rest is counted in the log only."""
        if kind in _NOTED and self._noted < DIAGNOSTIC_EVENTS:
            self._noted += 1
            draft = self._maker.draft("system", self._owner.current_turn_id, title=kind, text=text[:2048])
            await self._owner.journal.write([draft])

    async def on_exit(self, exit_code: int | None, stderr_tail: str) -> None:
        """Tell the session that its process is gone."""
        self.exit = (exit_code, stderr_tail)
        await self._owner.process_exited(self)


def _newest_cost(updates: Sequence[SessionUpdate]) -> dict[str, object] | None:
    """Return `{amount, currency}` of the newest update that has one."""
    for update in reversed(updates):
        if update.kind == "usage_update":
            cost = read_object(update.raw).get("cost")
            if isinstance(cost, dict):
                return cost
    return None


def _changed_options(options: SessionOptions, update: SessionUpdate) -> SessionOptions:
    """Return the options after an update of mode or config options; the list replaces, it never merges."""
    body = read_object(update.raw)
    if update.kind == "config_option_update":
        found, categories = read_config_options(body)
        return msgspec.structs.replace(options, config_options=found, option_categories=categories)
    mode = body.get("currentModeId")
    return msgspec.structs.replace(options, current_mode=mode) if isinstance(mode, str) else options
