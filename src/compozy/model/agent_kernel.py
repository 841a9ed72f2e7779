"""What a session's agent is told of itself and its surroundings over the API (shapes: agent kernel).

Tasks, leases and channels are nobody's here: their lists are empty and their sections say `available: false`
(decisions D31). Messages carry our own kinds (`model/message.py`). Knows no rule.
"""

from typing import Literal

from compozy.model.message import MessageKind
from compozy.model.record import Record
from compozy.model.session import Lineage, NetworkParticipation, SessionState


class KernelSelf(Record, frozen=True, kw_only=True):
    """Who calls."""

    agent_name: str
    provider: str
    session_id: str
    model: str = ""


class KernelSession(Record, frozen=True, kw_only=True):
    """The calling session in short."""

    created_at: str
    id: str
    state: SessionState
    updated_at: str
    lineage: Lineage | None = None
    name: str = ""
    resolved_network_participation: NetworkParticipation | None = None
    type: str = ""


class KernelWorkspace(Record, frozen=True, kw_only=True):
    """Where it works."""

    id: str = ""
    name: str = ""
    root_dir: str = ""


class KernelCapability(Record, frozen=True, kw_only=True):
    """Something the agent can do: of its catalog (`agent`) or by an enabled skill (`skill`)."""

    id: str
    source: Literal["agent", "skill"]
    summary: str = ""


class KernelLimits(Record, frozen=True, kw_only=True):
    """How much of everything."""

    context_section_limit: int
    max_active_task_leases: int
    max_children: int
    max_spawn_depth: int


class KernelCoordinator(Record, frozen=True, kw_only=True):
    """The role `coordinator` as configured where the session works."""

    agent_name: str
    default_ttl_seconds: int
    enabled: bool
    max_active_sessions_per_workspace: int
    max_children: int
    source: Literal["workspace", "global", "default"]
    model: str = ""
    provider: str = ""


class AgentMe(Record, frozen=True, kw_only=True, rename={"own": "self"}):
    """GET /api/agent/me"""

    active_task_leases: tuple[str, ...]
    capabilities: tuple[KernelCapability, ...]
    channels: tuple[str, ...]
    coordinator: KernelCoordinator
    limits: KernelLimits
    own: KernelSelf
    session: KernelSession
    workspace: KernelWorkspace


class SectionSize(Record, frozen=True, kw_only=True):
    """How much of a section was returned."""

    limit: int
    returned: int
    truncated: bool


class CapabilitySection(Record, frozen=True, kw_only=True):
    """What the agent can do."""

    capabilities: tuple[KernelCapability, ...]
    section: SectionSize


class Absent(Record, frozen=True, kw_only=True):
    """A section that this product has not."""

    available: bool


class InboxItem(Record, frozen=True, kw_only=True):
    """A message that the session was not told yet; `sender` and the kinds are ours."""

    message_id: str
    kind: MessageKind
    sender: str
    timestamp: str
    preview: str = ""


class InboxSummary(Record, frozen=True, kw_only=True):
    """The messages that wait for the session's next turn."""

    items: tuple[InboxItem, ...]
    section: SectionSize
    unread_count: int


class RosterPeer(Record, frozen=True, kw_only=True):
    """A session that may be written to; `capabilities` are ids."""

    capabilities: tuple[str, ...]
    peer_id: str
    session_id: str
    display_name: str = ""


class PeerRoster(Record, frozen=True, kw_only=True):
    """The sessions that may be written to."""

    peers: tuple[RosterPeer, ...]
    section: SectionSize


class Provenance(Record, frozen=True, kw_only=True):
    """Who says so, and when."""

    generated_at: str
    source: str


class SoulSection(Record, frozen=True, kw_only=True):
    """Whether the agent has a SOUL.md beside its definition; it is read at creation, not here."""

    active: bool
    enabled: bool
    present: bool
    principles: tuple[str, ...]
    tone: tuple[str, ...]
    valid: bool


class AgentContext(Record, frozen=True, kw_only=True, rename={"own": "self"}):
    """GET /api/agent/context"""

    capabilities: CapabilitySection
    coordination_channel: Absent
    inbox_summary: InboxSummary
    limits: KernelLimits
    peer_roster: PeerRoster
    provenance: Provenance
    own: KernelSelf
    session: KernelSession
    soul: SoulSection
    task: Absent
    workspace: KernelWorkspace


class NotifyAnswer(Record, frozen=True, kw_only=True):
    """POST /api/agent/notify"""

    outcome: Literal["delivered", "rate_limited"]
    retry_after_ms: int = 0
