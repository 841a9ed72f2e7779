"""The role `auto_title`: a session nobody named gets a name after its first answer (contract §9).

Beside the hot path: the turn has ended and is stored before anything here begins. A hidden session without guidance,
tools or permissions asks once, one at a time and within a bound, and is deleted. What goes wrong is a line of the
log.
"""

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from compozy.config.builtin_providers import canonical_provider
from compozy.config.config import Config
from compozy.config.redaction import Redactor
from compozy.model import ids, times
from compozy.model.errors import CompozyError
from compozy.model.event import StoredEvent
from compozy.model.session import LOCAL_PARTICIPATION, EffectiveRuntime, Runtime, Session
from compozy.model.session_answers import PromptResult
from compozy.model.trust import TrustMark
from compozy.model.workspace import Workspace
from compozy.runtime.fleet import VisibleAgent
from compozy.runtime.resolution import resolve_runtime
from compozy.runtime.sessions.commands import stored_command
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.prompting import PromptRequest
from compozy.runtime.sessions.transcript import TranscriptFold
from compozy.runtime.sessions.turns import Turn
from compozy.store.interface import EventQuery, SessionRecord

log = logging.getLogger(__name__)
# An agent that needs longer than this for a few words is not worth waiting for.
SECONDS = 120.0
MAX_WAITING = 16
MAX_TITLE = 80
# Enough of the conversation to name it.
_EXCERPT = 2000
# The embedded agent searches files; it has no words of its own for a title.
_WORDLESS = "offline"
_PROMPT = """Give this conversation a title of three to seven words, in its own language. Answer with the title \
alone: no quotation marks, no full stop, no other words. Use no tools.

The person asked:
{asked}

The answer was:
{answered}"""
_LEAD = re.compile(r"^(?:title|name)\s*:\s*", re.IGNORECASE)


class TitleHost(Protocol):
    """What titles need of the sessions service."""

    async def add_hidden(self, record: SessionRecord) -> None: ...
    async def prompt(self, session_id: str, request: PromptRequest) -> Turn | PromptResult: ...
    async def delete(self, session_id: str) -> None: ...
    async def name_unnamed(self, session_id: str, name: str) -> None: ...
    async def find_agent(self, name: str, workspace_id: str) -> tuple[VisibleAgent, Workspace]: ...


@dataclass(frozen=True, kw_only=True)
class _Profile:
    """What one attempt runs with."""

    agent: str
    provider: str
    command: str
    model: str = ""
    model_source: str = ""
    effort: str = ""
    effort_source: str = ""
    guidance: str = ""
    marks: tuple[TrustMark, ...] = ()
    definition_path: str = ""
    """Where a command with a secret in it is written."""


class AutoTitles:
    """Names sessions, one after another."""

    def __init__(self, deps: Deps, host: TitleHost) -> None:
        self._deps = deps
        self._host = host
        self._tasks: set[asyncio.Task[None]] = set()
        # One helper at a time: titles are never urgent.
        self._turn = asyncio.Lock()

    def consider(self, before: SessionRecord, record: SessionRecord) -> None:
        """Take note of a change; the end of an unnamed session's turn begins the work."""
        if not before.turn_id or record.turn_id or record.session.name or record.session.type != "user":
            return
        if len(self._tasks) < MAX_WAITING:
            task = asyncio.get_running_loop().create_task(self._run(record))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Give up what runs; its session is ended with all others."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)

    async def _run(self, record: SessionRecord) -> None:
        try:
            async with self._turn, asyncio.timeout(SECONDS):
                await self._title(record)
        except (CompozyError, TimeoutError) as error:
            log.info("no title", extra={"session": record.session.id, "reason": str(error) or "it took too long"})
        except Exception:
            # Supervisor: nobody waits for this task, and a missing title is no fault of the session.
            log.exception("no title for session %s", record.session.id)

    async def _title(self, record: SessionRecord) -> None:
        session = record.session
        config = await self._deps.configs.of(session.workspace_path)
        role = config.roles.auto_title
        inherits = not role.agent and not role.provider
        if not role.enabled or (inherits and _provider_of(session) == _WORDLESS):
            return
        asked, answered = await self._said(session.id)
        if not asked or not answered:
            return
        text = _PROMPT.format(asked=asked[:_EXCERPT], answered=answered[:_EXCERPT])
        for profile in await self._profiles(record, config):
            try:
                title = clean_title(self._deps.redactor.text(await self._ask(record, profile, text)))
            except CompozyError as error:
                log.info(
                    "no title", extra={"session": session.id, "provider": profile.provider, "reason": str(error)}
                )
                continue
            if title:
                await self._host.name_unnamed(session.id, title)
                return

    async def _said(self, session_id: str) -> tuple[str, str]:
        """Return the first request and its answer; nothing once there was a second request."""
        read = self._deps.store.read_events
        requests = await read(session_id, EventQuery(after_sequence=0, type="user_message", limit=2))
        if len(requests) != 1:
            return "", ""
        query = EventQuery(after_sequence=0, type="agent_message", turn_id=requests[0].turn_id)
        return _words(requests, "user"), _words(await read(session_id, query), "assistant")

    async def _profiles(self, record: SessionRecord, config: Config) -> list[_Profile]:
        role = config.roles.auto_title
        first = _inherited(record)
        if role.agent:
            first = await self._routed(record, config)
        if role.provider or role.model or role.reasoning_effort:
            first = _changed(first, config, role.provider, role.model, role.reasoning_effort)
        chain = (
            _changed(first, config, row.provider, row.model, row.reasoning_effort) for row in role.fallback_chain
        )
        return [first, *chain]

    async def _routed(self, record: SessionRecord, config: Config) -> _Profile:
        found, workspace = await self._host.find_agent(config.roles.auto_title.agent, record.session.workspace_id)
        allowed = await asyncio.to_thread(self._deps.trust.require, found.loaded, found.origin, workspace, config, ())
        resolution = resolve_runtime(found.loaded.definition, config)
        return _Profile(
            agent=found.loaded.definition.name,
            provider=resolution.provider.id,
            command=resolution.command,
            model=resolution.model,
            model_source=resolution.model_source or "",
            effort=resolution.reasoning_effort,
            effort_source=resolution.effort_source or "",
            guidance=found.loaded.definition.prompt,
            marks=allowed.marks,
            definition_path=str(found.loaded.path),
        )

    async def _ask(self, record: SessionRecord, profile: _Profile, text: str) -> str:
        helper = _helper(record, profile, self._deps.redactor)
        session_id = helper.session.id
        await self._host.add_hidden(helper)
        try:
            request = PromptRequest(message=text, message_id=f"title-{session_id}", idempotency_key=session_id)
            turn = await self._host.prompt(session_id, request)
            if isinstance(turn, Turn):
                await turn.finished.wait()
            events = await self._deps.store.read_events(session_id, EventQuery(after_sequence=0, limit=200))
            return _words(events, "assistant")
        finally:
            # Also when this is cancelled: no agent of ours stays behind.
            await asyncio.shield(self._host.delete(session_id))


def clean_title(text: str) -> str:
    """Return what an agent answered as a title: one line, no quotes, no full stop, not too long."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = _LEAD.sub("", line.strip("#*_ \t")).strip("\"'`“”„«»*_ ").rstrip(".").strip()
    line = "".join(char for char in " ".join(line.split()) if char.isprintable())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1].rstrip() + "…"


def _words(events: Sequence[StoredEvent], role: str) -> str:
    fold = TranscriptFold()
    fold.add(event for event in events if event.type in ("user_message", "agent_message"))
    entries = (entry.message for entry in fold.entries() if entry.message.role == role)
    return "".join(part.text or "" for message in entries for part in message.parts if part.type == "text").strip()


def _provider_of(session: Session) -> str:
    effective = session.runtime.effective
    return effective.provider if effective else ""


def _inherited(record: SessionRecord) -> _Profile:
    return _Profile(
        agent=record.session.agent_name,
        provider=_provider_of(record.session),
        command=record.command,
        model=record.model,
        model_source=record.model_source,
        effort=record.reasoning_effort,
        effort_source=record.effort_source,
        marks=record.trust_marks,
        definition_path=record.definition_path,
    )


def _changed(base: _Profile, config: Config, provider: str, model: str, effort: str) -> _Profile:
    """Return the profile with what a role says instead; another provider brings its own command and model."""
    row = config.providers.get(canonical_provider(provider)) if provider else None
    if row is not None and row.id != base.provider:
        base = _Profile(
            agent=base.agent,
            provider=row.id,
            command=row.command,
            model=row.default_model,
            model_source="provider_default" if row.default_model else "",
            guidance=base.guidance,
        )
    values = {name: getattr(base, name) for name in base.__dataclass_fields__}
    if model:
        values |= {"model": model, "model_source": "agent"}
    if effort:
        values |= {"effort": effort, "effort_source": "agent"}
    return _Profile(**values)


def _helper(record: SessionRecord, profile: _Profile, redactor: Redactor) -> SessionRecord:
    """Return the record of the hidden session: no guidance of the workspace, no servers, nothing allowed."""
    stamp = times.now()
    session = Session(
        id=ids.new_session_id(),
        agent_name=profile.agent,
        state="active",
        badge="idle",
        # The one type that no list shows.
        type="dream",
        runtime=Runtime(
            status="unbound",
            selection_revision=0,
            effective=EffectiveRuntime(
                provider=profile.provider, model=profile.model, reasoning_effort=profile.effort
            ),
        ),
        attachable=True,
        pending_interactions=(),
        available_commands=(),
        archived_at=None,
        created_at=stamp,
        updated_at=stamp,
        workspace_id=record.session.workspace_id,
        workspace_path=record.session.workspace_path,
        resolved_network_participation=LOCAL_PARTICIPATION,
    )
    return SessionRecord(
        session=session,
        startup_prompt=profile.guidance,
        permission_mode="deny-all",
        cwd=record.cwd,
        command=stored_command(profile.command, redactor),
        definition_path=profile.definition_path,
        model=profile.model,
        model_source=profile.model_source,
        reasoning_effort=profile.effort,
        effort_source=profile.effort_source,
        trust_marks=profile.marks,
        last_activity_at=stamp,
    )
