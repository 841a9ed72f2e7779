"""Looking at one session: health, usage, commands, recap, inspection (contract §3.5, reads). Changes nothing.

Works on stored facts, so that a session can be looked at with its agent, and even its provider, gone.
"""

import hashlib

import msgspec

from compozy.model import times
from compozy.model.errors import CompozyError, NotFound
from compozy.model.event import StoredEvent
from compozy.model.session import AvailableCommand, Session, SessionHealth, SessionUsage
from compozy.model.session_reads import (
    CommandSource,
    DefinitionFacts,
    Inspection,
    Marker,
    Recap,
    RecapSnapshot,
    SessionCommand,
    SessionCommands,
    SessionStatus,
)
from compozy.runtime.sessions.containment import Roots
from compozy.runtime.sessions.content import read_content
from compozy.runtime.sessions.health import health_of, status_of
from compozy.runtime.sessions.history import read_transcript
from compozy.runtime.sessions.service import Sessions
from compozy.runtime.sessions.settling import add_turn, usage_of
from compozy.store.interface import EventQuery, SessionRecord, Spent, Store

# Event types that are remarks beside the conversation.
_MARKERS = ("transcript_marker.created", "runtime_warning", "runtime_recovery_exhausted")
_MARKERS_SHOWN = 20
_PAGE = 1000


class SessionViews:
    """The reads of sessions that are more than the session itself."""

    def __init__(self, store: Store, sessions: Sessions) -> None:
        self._store = store
        self._sessions = sessions

    async def health(self, session_id: str) -> SessionHealth:
        """Return how well the session's agent is."""
        seen = self._sessions.viewers(session_id)
        return health_of(
            await self._sessions.record(session_id), last_presence_at=seen.last_presence_at if seen else None
        )

    async def status(self, session_id: str) -> SessionStatus:
        """Return the short status of a session."""
        return status_of(await self._sessions.record(session_id))

    async def usage(self, session_id: str) -> SessionUsage:
        """Return tokens and cost so far; sessions of older releases are counted from their events."""
        record = await self._sessions.record(session_id)
        return usage_of(record.spent if record.spent is not None else await self._counted(session_id))

    async def _counted(self, session_id: str) -> Spent | None:
        spent: Spent | None = None
        after = 0
        while True:
            query = EventQuery(after_sequence=after, type="done", archive="all", limit=_PAGE)
            page = await self._store.read_events(session_id, query)
            for event in page:
                content = read_content(event.content)
                spent = add_turn(spent or Spent(), content.usage or {}, {}, content.session_id)
            if len(page) < _PAGE:
                return spent
            after = page[-1].sequence

    async def commands(self, session_id: str) -> SessionCommands:
        """Return the commands the agent offers."""
        session = await self._sessions.get(session_id)
        return SessionCommands(
            commands=tuple(_command(command, session) for command in session.available_commands),
            revision=commands_revision(session),
        )

    async def recap(self, session_id: str, limit: int) -> Recap:
        """Return what somebody who comes back wants to see: the newest messages, remarks, and what waits."""
        record = await self._sessions.record(session_id)
        page = await read_transcript(self._store, record, limit=limit)
        markers: list[StoredEvent] = []
        for kind in _MARKERS:
            markers += await self._store.read_events(session_id, EventQuery(type=kind, limit=_MARKERS_SHOWN))
        markers.sort(key=lambda event: event.sequence)
        return Recap(
            session=record.session,
            pending_inputs=len(record.queue),
            pending_markers=0,
            recent_markers=tuple(_marker(event) for event in markers[-_MARKERS_SHOWN:]),
            recent_messages=tuple(entry.message for entry in page.entries),
            snapshot=RecapSnapshot(
                consistency="snapshot",
                event_cursor=page.max_sequence,
                generated_at=times.now(),
                queue_generation=record.queue_generation,
                transcript_cursor=page.entries[-1].sequence if page.entries else 0,
            ),
        )

    async def inspect(self, session_id: str) -> Inspection:
        """Return what is worth knowing when something is odd."""
        record = await self._sessions.record(session_id)
        definition = await self._definition(record)
        return Inspection(
            session_id=session_id,
            health=await self.health(session_id),
            diagnostics=_diagnostics(record, definition),
            permissions=record.mode_derivation,
            roots=Roots(record.cwd, record.additional_dirs).paths,
            definition=definition,
            provider_session_ids=record.provider_session_ids,
            pending_inputs=len(record.queue),
            last_sequence=await self._store.last_sequence(session_id),
        )

    async def _definition(self, record: SessionRecord) -> DefinitionFacts:
        session = record.session
        facts = DefinitionFacts(path=record.definition_path, digest=session.definition_digest, state="unknown")
        try:
            agent, _ = await self._sessions.find_agent(session.agent_name, session.workspace_id)
        except NotFound:
            return msgspec.structs.replace(facts, state="deleted")
        except CompozyError:
            # The workspace or the file is out of order: that is for `agent check`, not for this look.
            return facts
        is_same = agent.loaded.definition_digest == session.definition_digest
        return msgspec.structs.replace(facts, state="unchanged" if is_same else "changed")


def commands_revision(session: Session) -> str:
    """Return what changes when the session's commands do."""
    return hashlib.sha256(msgspec.json.encode(session.available_commands)).hexdigest()[:16]


def _command(command: AvailableCommand, session: Session) -> SessionCommand:
    running = session.state != "stopped"
    return SessionCommand(
        id=f"agent:{command.name}",
        canonical_token=f"/{command.name}",
        display_name=command.name,
        description=command.description,
        available=session.attachable,
        lane="prompt",
        placements=("composer",),
        source=CommandSource(kind="agent", scope="session", id=session.agent_name),
        input_hint=command.input.hint if command.input else "",
        unavailable_reason="" if session.attachable or running else "the session is read-only history",
    )


def _marker(event: StoredEvent) -> Marker:
    content = read_content(event.content)
    evidence: object = msgspec.json.decode(content.raw) if bytes(content.raw) else None
    return Marker(
        kind=content.title or event.type,
        occurred_at=event.timestamp,
        summary=content.text or content.error or content.title,
        evidence=evidence if isinstance(evidence, dict) else None,
    )


def _diagnostics(record: SessionRecord, definition: DefinitionFacts) -> tuple[dict[str, object], ...]:
    session = record.session
    found: list[tuple[str, str, str]] = []
    if definition.state == "changed":
        found.append(
            ("definition_changed", "info", "the definition changed since the session began; it goes on as it was")
        )
    elif definition.state == "deleted":
        found.append(("definition_deleted", "info", "the definition was deleted; the session goes on as it was"))
    if session.runtime.failure:
        found.append((session.runtime.failure_code or "start_failed", "error", session.runtime.failure))
    if session.failure is not None:
        found.append((session.failure.kind, "error", session.failure.summary or session.failure.kind))
    return tuple({"code": code, "severity": severity, "message": message} for code, severity, message in found)
