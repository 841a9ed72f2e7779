"""Messages between sessions of one workspace, and the peers one may write to (contract §6.2; decisions D27).

`peer_id` is `<agent>.<session>`, as in the agent's environment (contract §1.2). Knows no rule.
"""

from typing import Literal

from compozy.model.record import Record
from compozy.model.session import SessionState

MessageKind = Literal["text", "capability"]


class CapabilityBrief(Record, frozen=True, kw_only=True):
    """What a peer says it can do, in brief."""

    id: str
    summary: str = ""


class Peer(Record, frozen=True, kw_only=True):
    """A session that may be written to; `state` is the session's."""

    peer_id: str
    session_id: str
    agent_name: str
    state: SessionState
    display_name: str = ""
    capabilities: tuple[CapabilityBrief, ...] = ()


class Message(Record, frozen=True, kw_only=True):
    """One message. A `capability` has its document's body (`agent`, `capability`, `digest`), a text its `text`."""

    id: str
    workspace_id: str
    sender_session_id: str
    sender_agent: str
    to: str
    kind: MessageKind
    sent_at: str
    text: str = ""
    body: dict[str, object] | None = None

    @property
    def sender(self) -> str:
        """Who sent it, as a peer id."""
        return f"{self.sender_agent}.{self.sender_session_id}"


class Sent(Record, frozen=True, kw_only=True):
    """The answer to a sender: stored; the receiver is told when its next turn begins."""

    message_id: str
    to: str
    kind: MessageKind
    waiting: int
    """How many messages, this one included, the receiver has not been told yet."""
    digest: str = ""
    """Of a capability: as the receiving side computed it."""


class InboxMessage(Record, frozen=True, kw_only=True):
    """A message in an inbox; `is_new` says that the session had not been told it before."""

    message_id: str
    sender: str
    kind: MessageKind
    sent_at: str
    is_new: bool
    text: str = ""
    body: dict[str, object] | None = None


class Inbox(Record, frozen=True, kw_only=True):
    """The newest messages of one session, oldest first."""

    messages: tuple[InboxMessage, ...]
    unread: int
    """How many it had not been told before it looked."""
