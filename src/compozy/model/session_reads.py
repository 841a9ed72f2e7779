"""Answers of the routes that look at a session, wait for it, or say who looks at it (contract §3.5; shapes)."""

from typing import Literal

from compozy.model.permission import ModeDerivation
from compozy.model.record import Record
from compozy.model.session import Interaction, Session, SessionHealth
from compozy.model.transcript import UIMessage


class SessionStatus(Record, frozen=True, kw_only=True):
    """The short answer to "how is it?" (shapes: getSessionStatus)."""

    session_id: str
    workspace_id: str
    agent_name: str
    badge: str
    state: str
    health: str
    active_prompt: bool
    attachable: bool
    eligible_for_wake: bool
    pending_interactions: tuple[Interaction, ...]
    updated_at: str
    ineligibility_reason: str = ""


class CommandSource(Record, frozen=True, kw_only=True):
    """Where a slash command comes from."""

    kind: str
    scope: str
    id: str = ""
    key: str = ""


class SessionCommand(Record, frozen=True, kw_only=True):
    """One slash command that a prompt may begin with."""

    id: str
    canonical_token: str
    display_name: str
    description: str
    available: bool
    lane: str
    placements: tuple[str, ...]
    source: CommandSource
    input_hint: str = ""
    unavailable_reason: str = ""


class SessionCommands(Record, frozen=True, kw_only=True):
    """The commands of a session; `revision` changes when they do."""

    commands: tuple[SessionCommand, ...]
    revision: str


class Marker(Record, frozen=True, kw_only=True):
    """Something beside the conversation that a reader of it should know."""

    kind: str
    occurred_at: str
    summary: str
    evidence: dict[str, object] | None = None


class RecapSnapshot(Record, frozen=True, kw_only=True):
    """Of which moment a recap is."""

    consistency: str
    event_cursor: int
    generated_at: str
    queue_generation: int
    transcript_cursor: int


class Recap(Record, frozen=True, kw_only=True):
    """What somebody who comes back to a session wants to see first."""

    session: Session
    pending_inputs: int
    pending_markers: int
    recent_markers: tuple[Marker, ...]
    recent_messages: tuple[UIMessage, ...]
    snapshot: RecapSnapshot


class RepairAction(Record, frozen=True, kw_only=True):
    """One event that mends the history; `persisted` says whether it was stored."""

    code: str
    turn_id: str
    persisted: bool
    event_id: str = ""
    tool_call_id: str = ""
    tool_name: str = ""


class RepairIssue(Record, frozen=True, kw_only=True):
    """Something in the history that is not as it should be."""

    code: str
    severity: str
    detail: str = ""
    event_id: str = ""
    turn_id: str = ""


class Repair(Record, frozen=True, kw_only=True):
    """What a look at the history found and did."""

    session_id: str
    issues: tuple[RepairIssue, ...]
    actions: tuple[RepairAction, ...]
    persisted: bool


class Clarification(Record, frozen=True, kw_only=True):
    """A question that waits (shapes: clarifications)."""

    request_id: str
    session_id: str
    agent_name: str
    question: str
    asked_at: str
    deadline: str
    choices: tuple[str, ...] = ()


class ClarifyAnswer(Record, frozen=True, kw_only=True):
    """An answer: the index of a choice, or text; `fallback` says that nobody answered."""

    choice: int | None
    text: str
    fallback: bool


class SessionHold(Record, frozen=True, kw_only=True):
    """Who holds a session, and until when (shapes: attach)."""

    session_id: str
    attached_to: str
    attached_at: str
    attach_expires_at: str


class Attached(Record, frozen=True, kw_only=True):
    """The answer to attach."""

    session: Session
    attach: SessionHold


class WaitAnswer(Record, frozen=True, kw_only=True):
    """How a wait ended; `revision` is the number of the session's newest event then."""

    session_id: str
    outcome: Literal["state-reached", "timeout", "session-gone", "canceled"]
    revision: int
    waited_ms: int
    until: tuple[str, ...]
    state: str = ""
    resume_id: str = ""


class DefinitionFacts(Record, frozen=True, kw_only=True):
    """The definition a session was created from, and whether its file still says the same."""

    path: str
    digest: str
    state: Literal["unchanged", "changed", "deleted", "unknown"]


class Inspection(Record, frozen=True, kw_only=True):
    """Everything about a session that is worth knowing when something is odd; all but `health` is ours."""

    session_id: str
    health: SessionHealth
    diagnostics: tuple[dict[str, object], ...] = ()
    permissions: ModeDerivation | None = None
    roots: tuple[str, ...] = ()
    definition: DefinitionFacts | None = None
    provider_session_ids: tuple[str, ...] = ()
    pending_inputs: int = 0
    last_sequence: int = 0
