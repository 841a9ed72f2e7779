"""What an agent learns of itself over the API, and how it speaks up to its person (contract §3.7 agent kernel, §2.6).

Reads existing services and puts their facts together; who may call is decided in `agent_identity.py`.
"""

import time
from collections import deque
from pathlib import Path
from typing import Literal

from compozy.model import times
from compozy.model.agent import Agent
from compozy.model.agent_kernel import (
    Absent,
    AgentContext,
    AgentMe,
    CapabilitySection,
    InboxItem,
    InboxSummary,
    KernelCapability,
    KernelCoordinator,
    KernelLimits,
    KernelSelf,
    KernelSession,
    KernelWorkspace,
    NotifyAnswer,
    PeerRoster,
    Provenance,
    RosterPeer,
    SectionSize,
    SoulSection,
)
from compozy.model.errors import CompozyError, Unprocessable
from compozy.model.message import Message
from compozy.model.session import Session
from compozy.model.workspace import Workspace
from compozy.runtime.configs import Configs
from compozy.runtime.coordination import WAITING, Coordination
from compozy.runtime.fleet import Fleet
from compozy.runtime.sessions import Sessions
from compozy.runtime.sessions.people import SessionPeople
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import SessionRecord

Source = Literal["workspace", "global", "default"]
SECTION_LIMIT = 50
_PREVIEW = 200
TITLE_LENGTH, BODY_LENGTH = 200, 4000
# So often a session may call for its person.
NOTES, NOTES_SECONDS = 10, 60.0


class AgentKernel:
    """Answers agents about themselves."""

    def __init__(
        self,
        sessions: Sessions,
        people: SessionPeople,
        workspaces: Workspaces,
        fleet: Fleet,
        configs: Configs,
        coordination: Coordination,
    ) -> None:
        self._sessions = sessions
        self._people = people
        self._workspaces = workspaces
        self._fleet = fleet
        self._configs = configs
        self._coordination = coordination
        self._noted: dict[str, deque[float]] = {}

    async def me(self, record: SessionRecord) -> AgentMe:
        """Return who a session is, what it can do and how much of it."""
        place = await self._place(record)
        return AgentMe(
            active_task_leases=(),
            capabilities=await self._capabilities(record, place),
            channels=(),
            coordinator=await self._coordinator(record, place),
            limits=_limits(record),
            own=_self(record),
            session=_session(record),
            workspace=_workspace(place),
        )

    async def context(self, record: SessionRecord) -> AgentContext:
        """Return the surroundings of a session: what it can do, who its peers are, which messages wait."""
        place = await self._place(record)
        known = await self._capabilities(record, place)
        peers = await self._coordination.peers(record.session, limit=SECTION_LIMIT + 1)
        unread = await self._coordination.unread(record.session.id)
        return AgentContext(
            capabilities=CapabilitySection(capabilities=known[:SECTION_LIMIT], section=_size(len(known))),
            coordination_channel=Absent(available=False),
            inbox_summary=InboxSummary(
                items=tuple(_item(message) for message in unread[:SECTION_LIMIT]),
                section=_size(len(unread)),
                unread_count=min(len(unread), WAITING),
            ),
            limits=_limits(record),
            peer_roster=PeerRoster(
                peers=tuple(
                    RosterPeer(
                        capabilities=tuple(item.id for item in peer.capabilities),
                        peer_id=peer.peer_id,
                        session_id=peer.session_id,
                        display_name=peer.display_name,
                    )
                    for peer in peers[:SECTION_LIMIT]
                ),
                section=_size(len(peers)),
            ),
            provenance=Provenance(generated_at=times.now(), source="daemon"),
            own=_self(record),
            session=_session(record),
            soul=_soul(record),
            task=Absent(available=False),
            workspace=_workspace(place),
        )

    async def notify(self, session: Session, title: str, body: str) -> NotifyAnswer:
        """Tell the person something: stored as an event of the session, then shown to whoever watches all of them.

        Raises:
            Unprocessable: there is no title, or it is too long.
        """
        title, body = title.strip(), body.strip()
        if not title or len(title) > TITLE_LENGTH or len(body) > BODY_LENGTH:
            raise Unprocessable(
                f"a notice has a title of 1 to {TITLE_LENGTH} characters and a body of {BODY_LENGTH}: shorten it"
            )
        wait = self._wait(session.id)
        if wait:
            return NotifyAnswer(outcome="rate_limited", retry_after_ms=wait)
        await self._people.notify(session.id, title, body)
        return NotifyAnswer(outcome="delivered")

    def _wait(self, session_id: str) -> int:
        """Return how long the session has to wait, 0 when it may speak; then that counts."""
        now = time.monotonic()
        self._noted = {key: kept for key, kept in self._noted.items() if kept[-1] > now - NOTES_SECONDS}
        noted = self._noted.get(session_id, deque())
        while noted and noted[0] <= now - NOTES_SECONDS:
            noted.popleft()
        if len(noted) >= NOTES:
            return max(1, round((noted[0] + NOTES_SECONDS - now) * 1000))
        noted.append(now)
        self._noted[session_id] = noted
        return 0

    # --- parts

    async def _place(self, record: SessionRecord) -> Workspace | None:
        reference = record.session.workspace_id
        return await self._workspaces.get(reference) if reference else None

    async def _agent(self, record: SessionRecord, place: Workspace | None) -> Agent | None:
        try:
            return await self._fleet.get(record.session.agent_name, place)
        except CompozyError:
            # Its definition is gone; the session lives on with what was frozen.
            return None

    async def _capabilities(self, record: SessionRecord, place: Workspace | None) -> tuple[KernelCapability, ...]:
        agent = await self._agent(record, place)
        declared = agent.capabilities if agent is not None else ()
        skills = sorted(await self._sessions.children.skills(record))
        return (
            *(KernelCapability(id=item.id, source="agent", summary=item.summary) for item in declared),
            *(KernelCapability(id=name, source="skill") for name in skills),
        )

    async def _coordinator(self, record: SessionRecord, place: Workspace | None) -> KernelCoordinator:
        role = (await self._configs.of(place.root_dir if place else "")).roles.coordinator
        default = type(role)()
        everywhere = (await self._configs.of("")).roles.coordinator
        source: Source = "default" if role == default else "global" if role == everywhere else "workspace"
        return KernelCoordinator(
            agent_name=role.agent or "coordinator",
            default_ttl_seconds=round(float(role.ttl)),
            enabled=role.enabled,
            max_active_sessions_per_workspace=role.max_active_sessions_per_workspace,
            max_children=role.max_children,
            source=source,
        )


def _limits(record: SessionRecord) -> KernelLimits:
    lineage = record.session.lineage
    budget = lineage.spawn_budget if lineage is not None else None
    return KernelLimits(
        context_section_limit=SECTION_LIMIT,
        max_active_task_leases=0,
        max_children=budget.max_children if budget else 0,
        max_spawn_depth=budget.max_depth if budget else 0,
    )


def _self(record: SessionRecord) -> KernelSelf:
    runtime = record.session.runtime.effective
    return KernelSelf(
        agent_name=record.session.agent_name,
        provider=runtime.provider if runtime else "",
        session_id=record.session.id,
        model=runtime.model if runtime else "",
    )


def _session(record: SessionRecord) -> KernelSession:
    session = record.session
    return KernelSession(
        created_at=session.created_at,
        id=session.id,
        state=session.state,
        updated_at=session.updated_at,
        lineage=session.lineage,
        name=session.name,
        resolved_network_participation=session.resolved_network_participation,
        type=session.type or "",
    )


def _workspace(place: Workspace | None) -> KernelWorkspace:
    if place is None:
        return KernelWorkspace()
    return KernelWorkspace(id=place.id, name=place.name, root_dir=place.root_dir)


def _soul(record: SessionRecord) -> SoulSection:
    path = Path(record.definition_path).with_name("SOUL.md") if record.definition_path else None
    return SoulSection(
        active=False,
        enabled=False,
        present=path is not None and path.is_file(),
        principles=(),
        tone=(),
        valid=False,
    )


def _size(count: int) -> SectionSize:
    return SectionSize(limit=SECTION_LIMIT, returned=min(count, SECTION_LIMIT), truncated=count > SECTION_LIMIT)


def _item(message: Message) -> InboxItem:
    return InboxItem(
        message_id=message.id,
        kind=message.kind,
        sender=message.sender,
        timestamp=message.sent_at,
        preview=message.text[:_PREVIEW],
    )
