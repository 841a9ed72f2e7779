"""Making event contents: the stored envelope of one fact, as bytes, once (contract §3.5 `<event>`, §5.8).

Everything that becomes an event passes `EventMaker`, so that time, turn, agent session id and redaction are
applied in one place. It knows nothing of the store, of subscribers or of what an update means.
"""

from collections.abc import Callable, Mapping

import msgspec

from compozy.model import times
from compozy.model.event import EVENT_SCHEMA, EventContent, EventDraft
from compozy.model.session import Failure

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(EventContent)
# The record's own default: only that object is left out of the JSON.
_NO_RAW = EventContent(schema="", type="", timestamp="").raw

# A failure's summary on the wire (shapes: Failure).
SUMMARY_BYTES = 2048

RedactText = Callable[[str], str]
RedactRaw = Callable[[bytes], bytes]


def raw_json(value: object) -> msgspec.Raw:
    """Encode a small value of ours as the `raw` of an event."""
    return msgspec.Raw(_ENCODER.encode(value))


def read_content(content: bytes) -> EventContent:
    """Decode a stored content.

    Raises:
        msgspec.ValidationError: the bytes are not an envelope of ours.
    """
    return _DECODER.decode(content)


def shorten(text: str, limit: int = SUMMARY_BYTES) -> str:
    """Cut text to `limit` UTF-8 bytes on a character boundary."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else data[: limit - 3].decode("utf-8", "ignore") + "…"


class EventMaker:
    """Makes the drafts of one session; `acp_session_id` and `agent_name` are put into each."""

    def __init__(self, agent_name: str, redact_text: RedactText, redact_raw: RedactRaw) -> None:
        self.agent_name = agent_name
        self.acp_session_id = ""
        self._redact_text = redact_text
        self._redact_raw = redact_raw

    def redact(self, text: str) -> str:
        """Return the text without secrets."""
        return self._redact_text(text) if text else text

    def failure(self, kind: str, summary: str) -> Failure:
        """Return a failure whose summary is redacted and bounded."""
        return msgspec.convert({"kind": kind, "summary": shorten(self.redact(summary))}, Failure)

    def draft(
        self,
        event_type: str,
        turn_id: str,
        *,
        text: str = "",
        title: str = "",
        tool_call_id: str = "",
        message_id: str = "",
        request_id: str = "",
        stop_reason: str = "",
        action: str = "",
        resource: str = "",
        decision: str = "",
        resolved_by: str = "",
        error: str = "",
        interaction_id: str = "",
        decisions: tuple[str, ...] = (),
        expires_at: str = "",
        usage: Mapping[str, object] | None = None,
        runtime: Mapping[str, object] | None = None,
        failure: Failure | None = None,
        raw: msgspec.Raw = _NO_RAW,
        timestamp: str = "",
    ) -> EventDraft:
        """Return a draft whose texts and raw update are redacted."""
        stamp = timestamp or times.now()
        content = EventContent(
            schema=EVENT_SCHEMA,
            type=event_type,
            timestamp=stamp,
            session_id=self.acp_session_id,
            turn_id=turn_id,
            request_id=request_id,
            message_id=message_id,
            text=self.redact(text),
            title=self.redact(title),
            tool_call_id=tool_call_id,
            stop_reason=stop_reason,
            action=action,
            resource=self.redact(resource),
            decision=decision,
            resolved_by=resolved_by,
            error=self.redact(error),
            interaction_id=interaction_id,
            decisions=decisions,
            expires_at=expires_at,
            usage=dict(usage) if usage else None,
            runtime=dict(runtime) if runtime else None,
            failure=failure,
            raw=msgspec.Raw(self._redact_raw(bytes(raw))) if raw is not _NO_RAW else _NO_RAW,
        )
        return EventDraft(
            type=event_type,
            turn_id=turn_id,
            agent_name=self.agent_name,
            content=_ENCODER.encode(content),
            timestamp=stamp,
        )
