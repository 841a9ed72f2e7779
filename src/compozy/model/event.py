"""One stored fact of a session, and the payload it carries (contract §3.5, §5.8; shapes: SessionEvent).

`content` is JSON kept as bytes from the moment it is made: it is stored and forwarded without being parsed again.
Sequences count from 1 within a session, without gaps, and are the ids of the raw stream.
"""

import msgspec

from compozy.model.attachment import AttachmentRef
from compozy.model.record import Record
from compozy.model.session import Failure, StopReason

EVENT_SCHEMA = "compozy.session.event.v1"

# Stored event types (contract §5.8). Others an agent may cause are stored as `system` with their raw update.
EVENT_TYPES: tuple[str, ...] = (
    "user_message",
    "synthetic_reentry",
    "agent_message",
    "thought",
    "tool_call",
    "tool_result",
    "plan",
    "permission",
    "clarify",
    "usage",
    "system",
    "available_commands",
    "runtime_progress",
    "runtime_warning",
    "runtime_recovery_started",
    "runtime_recovery_succeeded",
    "runtime_recovery_exhausted",
    "session.compaction_fired",
    "transcript_marker.created",
    "transcript_marker.redacted",
    "done",
    "error",
    "session_stopped",
)


class EventContent(Record, frozen=True, kw_only=True):
    """The envelope stored as an event's content; `session_id` here is the *agent's* (ACP) session id.

    `raw` is the agent's own update, redacted and otherwise unchanged.
    """

    schema: str
    type: str
    timestamp: str
    session_id: str = ""
    turn_id: str = ""
    request_id: str = ""
    message_id: str = ""
    text: str = ""
    title: str = ""
    tool_call_id: str = ""
    stop_reason: str = ""
    action: str = ""
    resource: str = ""
    decision: str = ""
    resolved_by: str = ""
    error: str = ""
    interaction_id: str = ""
    """Additive, with the next three: the event of a question names it, its answers, its end and its default."""
    decisions: tuple[str, ...] = ()
    expires_at: str = ""
    default_decision: str = ""
    usage: dict[str, object] | None = None
    runtime: dict[str, object] | None = None
    failure: Failure | None = None
    attachments: tuple[AttachmentRef, ...] = ()
    """Additive, of a user message: the files given with it."""
    raw: msgspec.Raw = msgspec.Raw(b"")


class EventDraft(Record, frozen=True, kw_only=True):
    """An event before it is stored: no id, no sequence."""

    type: str
    turn_id: str
    agent_name: str
    content: bytes
    timestamp: str


class StoredEvent(Record, frozen=True, kw_only=True):
    """An event as the store returns it."""

    id: str
    session_id: str
    sequence: int
    type: str
    turn_id: str
    agent_name: str
    content: bytes
    timestamp: str
    archived: bool = False


class SessionEvent(Record, frozen=True, kw_only=True):
    """The event payload of HTTP answers and raw streams (shapes: SessionEvent)."""

    id: str
    session_id: str
    sequence: int
    type: str
    turn_id: str
    agent_name: str
    content: msgspec.Raw
    timestamp: str
    spawn_depth: int
    stop_reason: StopReason | None = None
    stop_detail: str = ""
    failure: Failure | None = None
    workspace_id: str = ""
    workspace_path: str = ""
