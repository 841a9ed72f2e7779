"""Making event contents: the stored envelope of one fact, as bytes, once (contract §3.5 `<event>`, §5.8).

Everything that becomes an event passes `EventMaker`, so that time, turn, agent session id and redaction are
applied in one place. It knows nothing of the store, of subscribers or of what an update means.
"""

from collections.abc import Mapping, Sequence

import msgspec

from compozy.config.redaction import Redactor
from compozy.config.redaction_stream import TextStream
from compozy.model import times
from compozy.model.attachment import AttachmentRef
from compozy.model.event import EVENT_SCHEMA, EventContent, EventDraft
from compozy.model.session import Failure

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(EventContent)
# The record's own default: only that object is left out of the JSON.
_NO_RAW = EventContent(schema="", type="", timestamp="").raw

# Updates looked at together: one suspicious one costs a closer look at these many.
_LOOK_AT_ONCE = 64
# A failure's summary on the wire (shapes: Failure).
SUMMARY_BYTES = 2048


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

    def __init__(self, agent_name: str, redactor: Redactor) -> None:
        self.agent_name = agent_name
        self.acp_session_id = ""
        self._redactor = redactor
        self._heads: dict[tuple[str, str, str], tuple[bytes, bytes]] = {}

    def redact(self, text: str) -> str:
        """Return the text without secrets."""
        return self._redactor.text(text) if text else text

    def clean(self, raws: Sequence[msgspec.Raw]) -> list[msgspec.Raw]:
        """Return raw updates without secrets. Looks at many at once, because most of them hold none."""
        cleaned: list[msgspec.Raw] = []
        for start in range(0, len(raws), _LOOK_AT_ONCE):
            group = raws[start : start + _LOOK_AT_ONCE]
            if self._redactor.may_hold_secret(b"\n".join(group)):
                cleaned.extend(msgspec.Raw(self._redactor.json_bytes(bytes(raw))) for raw in group)
            else:
                cleaned.extend(group)
        return cleaned

    def text_stream(self) -> TextStream:
        """Return what masks a text that comes in pieces."""
        return TextStream(self._redactor)

    def chunk(
        self, event_type: str, turn_id: str, message_id: str, text: msgspec.Raw, raw: msgspec.Raw, stamp: str
    ) -> EventDraft:
        """Return the draft of a piece of text: the kind of which there are thousands, put together from JSON parts.

        Args:
            text: the text as a JSON string, clean.
            raw: the update, clean.
        """
        head = self._head(event_type, turn_id)
        named = b',"message_id":' + _ENCODER.encode(message_id) if message_id else b""
        content = b"".join((head[0], stamp.encode(), head[1], named, b',"text":', text, b',"raw":', raw, b"}"))
        return EventDraft(
            type=event_type, turn_id=turn_id, agent_name=self.agent_name, content=content, timestamp=stamp
        )

    def _head(self, event_type: str, turn_id: str) -> tuple[bytes, bytes]:
        key = (event_type, turn_id, self.acp_session_id)
        if self._heads.get(key) is None:
            whole = EventContent(
                schema=EVENT_SCHEMA, type=event_type, timestamp="@", session_id=self.acp_session_id, turn_id=turn_id
            )
            before, after = _ENCODER.encode(whole).split(b'"timestamp":"@"', 1)
            self._heads = {key: (before + b'"timestamp":"', b'"' + after[:-1])}
        return self._heads[key]

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
        default_decision: str = "",
        usage: Mapping[str, object] | None = None,
        runtime: Mapping[str, object] | None = None,
        failure: Failure | None = None,
        attachments: tuple[AttachmentRef, ...] = (),
        raw: msgspec.Raw = _NO_RAW,
        timestamp: str = "",
        is_clean: bool = False,
    ) -> EventDraft:
        """Return a draft whose texts and raw update are redacted; `is_clean` says that they are already."""
        redact = str if is_clean else self.redact
        if raw is not _NO_RAW and not is_clean:
            raw = msgspec.Raw(self._redactor.json_bytes(bytes(raw)))
        stamp = timestamp or times.now()
        content = EventContent(
            schema=EVENT_SCHEMA,
            type=event_type,
            timestamp=stamp,
            session_id=self.acp_session_id,
            turn_id=turn_id,
            request_id=request_id,
            message_id=message_id,
            text=redact(text),
            title=redact(title),
            tool_call_id=tool_call_id,
            stop_reason=stop_reason,
            action=action,
            resource=redact(resource),
            decision=decision,
            resolved_by=resolved_by,
            error=redact(error),
            interaction_id=interaction_id,
            decisions=decisions,
            expires_at=expires_at,
            default_decision=default_decision,
            usage=dict(usage) if usage else None,
            runtime=dict(runtime) if runtime else None,
            failure=failure,
            attachments=tuple(msgspec.structs.replace(file, name=redact(file.name)) for file in attachments),
            raw=raw,
        )
        return EventDraft(
            type=event_type,
            turn_id=turn_id,
            agent_name=self.agent_name,
            content=_ENCODER.encode(content),
            timestamp=stamp,
        )
