"""Answers of the session routes beside the session itself (contract §3.5; shapes)."""

from compozy.model.attachment import AttachmentRef
from compozy.model.event import SessionEvent
from compozy.model.page import Page
from compozy.model.record import Record
from compozy.model.session import Lineage, PermissionPolicy, RuntimeSelection, Session


class SessionList(Record, frozen=True, kw_only=True):
    """One page of sessions."""

    sessions: tuple[Session, ...]
    page: Page


class PromptResult(Record, frozen=True, kw_only=True):
    """The answer to a prompt that starts no stream of its own (shapes: PromptResult)."""

    status: str
    delivery: str
    message_id: str
    idempotency_key: str
    replayed: bool
    mode: str = ""
    new_turn_id: str = ""
    previous_turn_id: str = ""
    queue_entry_id: str = ""
    queue_position: int | None = None
    queue_generation: int | None = None


class QueuedInput(Record, frozen=True, kw_only=True):
    """A waiting prompt as the API shows it (shapes: QueuedInput)."""

    id: str
    session_id: str
    status: str
    delivery: str
    mode: str
    text: str
    enqueued_at: str
    queue_generation: int
    message_id: str = ""
    idempotency_key: str = ""
    runtime: RuntimeSelection | None = None
    target_turn_id: str = ""
    attachments: tuple[AttachmentRef, ...] = ()


class SpawnAnswer(Record, frozen=True, kw_only=True):
    """What became of a spawn (shapes: `spawn`)."""

    lineage: Lineage
    permissions: PermissionPolicy
    session: Session


class RewindResult(Record, frozen=True, kw_only=True):
    """What a rewind came to (shapes: `rewind`)."""

    archived_event_count: int
    archived_from_sequence: int
    archived_through_sequence: int
    draft_text: str
    generation: int
    max_sequence: int
    replayed: bool
    target_message_id: str
    transcript_epoch: int


class RewindAnswer(Record, frozen=True, kw_only=True):
    """The answer to a rewind: what it came to, and the session."""

    rewind: RewindResult
    session: Session


class TurnHistory(Record, frozen=True, kw_only=True):
    """The events of one turn."""

    turn_id: str
    events: tuple[SessionEvent, ...]


class ApprovalAnswer(Record, frozen=True, kw_only=True):
    """What `approve` answers."""

    decision: str
    outcome: str
    request_id: str
    interaction_id: str
    resolved_decision: str


class CancelAnswer(Record, frozen=True, kw_only=True):
    """What came of cancelling: ``canceled`` or ``nothing-in-flight``."""

    session_id: str
    outcome: str
    turn_id: str = ""


class SessionOwner(Record, frozen=True, kw_only=True):
    """The workspace of a session."""

    session_id: str
    workspace_id: str
    workspace_name: str
