"""Records to bytes and back, as they lie in the store. Private form: only this package reads it.

JSON, so that a damaged row can be looked at; fields a newer release adds are ignored by an older one.
"""

import msgspec

from compozy.model.event import EventDraft, StoredEvent
from compozy.model.ids import new_event_id
from compozy.model.tool import ApprovalGrant
from compozy.model.workspace import Workspace
from compozy.store.interface import SessionRecord

_encoder = msgspec.json.Encoder()
_session = msgspec.json.Decoder(SessionRecord)
_workspace = msgspec.json.Decoder(Workspace)
_grant = msgspec.json.Decoder(ApprovalGrant)


def encode_session(record: SessionRecord) -> bytes:
    """Return the record without its startup prompt, which is kept apart because it never changes."""
    return _encoder.encode(msgspec.structs.replace(record, startup_prompt=""))


def decode_session(data: bytes, startup_prompt: str) -> SessionRecord:
    """Return the record that `encode_session` took apart."""
    return msgspec.structs.replace(_session.decode(data), startup_prompt=startup_prompt)


def encode_workspace(workspace: Workspace) -> bytes:
    """Return the workspace as JSON."""
    return _encoder.encode(workspace)


def decode_workspace(data: bytes) -> Workspace:
    """Return the workspace that was encoded."""
    return _workspace.decode(data)


def encode_grant(grant: ApprovalGrant) -> bytes:
    """Return the grant as JSON."""
    return _encoder.encode(grant)


def decode_grant(data: bytes) -> ApprovalGrant:
    """Return the grant that was encoded."""
    return _grant.decode(data)


def store_event(draft: EventDraft, session_id: str, sequence: int) -> StoredEvent:
    """Give a draft its id and its place."""
    return StoredEvent(
        id=new_event_id(),
        session_id=session_id,
        sequence=sequence,
        type=draft.type,
        turn_id=draft.turn_id,
        agent_name=draft.agent_name,
        content=draft.content,
        timestamp=draft.timestamp,
    )
