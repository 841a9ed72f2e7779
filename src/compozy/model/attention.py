"""What waits for a person, over all sessions (additive to contract §3.5; attention-summary is the contract's)."""

from typing import Literal

from compozy.model.record import Record

AttentionKind = Literal["permission", "clarify", "auth", "trust"]


class AttentionItem(Record, frozen=True, kw_only=True):
    """One thing a person is asked for; `command` is the line that answers it.

    `id` is the interaction's id, for `auth` and `trust` the kind and the session. Without an answer the default is
    taken at `expires_at`; a clarification then goes on without one. Logins and trust wait for ever.
    """

    id: str
    kind: AttentionKind
    session_id: str
    agent_name: str
    workspace_id: str
    question: str
    asked_at: str
    command: str
    session_name: str = ""
    workspace_path: str = ""
    parent_session_id: str = ""
    root_session_id: str = ""
    request_id: str = ""
    turn_id: str = ""
    action: str = ""
    resource: str = ""
    decisions: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    expires_at: str = ""
    default_decision: str = ""


class AttentionList(Record, frozen=True, kw_only=True):
    """Everything that waits, oldest first; `total` counts what a cut-off list leaves out too."""

    items: tuple[AttentionItem, ...]
    total: int


class AttentionAnswer(Record, frozen=True, kw_only=True):
    """What an answer did."""

    id: str
    session_id: str
    kind: AttentionKind
    outcome: str
    decision: str = ""
    choice: int | None = None
    text: str = ""


class WorkspaceAttention(Record, frozen=True, kw_only=True):
    """How many sessions of a workspace want a person, and how many have something finished to show."""

    workspace_id: str
    needs_you: int
    finished: int


class AttentionSummary(Record, frozen=True, kw_only=True):
    """The same over all workspaces (shapes: getSessionAttentionSummary)."""

    needs_you: int
    finished: int
    by_workspace: tuple[WorkspaceAttention, ...]
