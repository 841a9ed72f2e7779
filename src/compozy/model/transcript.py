"""The transcript as clients render it: UI messages with parts (shapes: UIMessage, TranscriptEntry)."""

from compozy.model.record import Record


class MessagePart(Record, frozen=True, kw_only=True):
    """One part of a message: text, reasoning, dynamic-tool, file, data-compozy-event, data-compozy-permission.

    `input`, `output` and `data` are JSON: raw bytes where the daemon writes, plain data where a client reads.
    """

    type: str
    id: str = ""
    text: str | None = None
    state: str = ""
    toolCallId: str = ""
    toolName: str = ""
    title: str = ""
    input: object = None
    output: object = None
    errorText: str = ""
    data: object = None
    filename: str = ""
    mediaType: str = ""
    url: str = ""


class UIMessage(Record, frozen=True, kw_only=True):
    """A message; the user's id is its message_id, the assistant's derives from the turn id."""

    id: str
    role: str
    parts: tuple[MessagePart, ...]
    metadata: dict[str, object] | None = None


class TranscriptEntry(Record, frozen=True, kw_only=True):
    """A message with the first and last event sequence it was made of."""

    message: UIMessage
    start_sequence: int
    sequence: int


class TranscriptPage(Record, frozen=True, kw_only=True):
    """One page of a transcript, oldest first; `next_before_sequence` continues towards the past."""

    entries: tuple[TranscriptEntry, ...]
    epoch: int
    generation: int
    max_sequence: int
    has_older: bool
    limit: int
    next_before_sequence: int | None = None
