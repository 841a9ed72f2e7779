"""The transcript: stored events folded into messages with parts (contract §3.5, UI message; shapes).

One user message per `user_message` event, one assistant message per turn. Folding is incremental, so that a stream
folds each event once. It reads contents leniently: an event that cannot be decoded is left out, never an error.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from compozy.model.attachment import AttachmentRef
from compozy.model.event import EventContent, StoredEvent
from compozy.model.session import Session
from compozy.model.transcript import MessagePart, TranscriptEntry, UIMessage

_DECODER = msgspec.json.Decoder(EventContent)
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_EMPTY_INPUT = msgspec.Raw(b"{}")
# Kinds of which only the newest state matters to a reader.
_LATEST_ONLY = frozenset({"plan", "usage", "available_commands"})


@dataclass
class _Part:
    """A part being folded; text is joined when it is rendered."""

    type: str
    id: str = ""
    texts: list[str] = field(default_factory=list)
    state: str = ""
    tool_call_id: str = ""
    tool_name: str = ""
    title: str = ""
    input: msgspec.Raw | None = None
    output: msgspec.Raw | None = None
    error_text: str = ""
    data: msgspec.Raw | None = None
    filename: str = ""
    media_type: str = ""
    url: str = ""

    def render(self) -> MessagePart:
        return MessagePart(
            type=self.type,
            id=self.id,
            text="".join(self.texts) if self.type in ("text", "reasoning") else None,
            state=self.state,
            toolCallId=self.tool_call_id,
            toolName=self.tool_name,
            title=self.title,
            input=self.input,
            output=self.output,
            errorText=self.error_text,
            data=self.data,
            filename=self.filename,
            mediaType=self.media_type,
            url=self.url,
        )


@dataclass
class _Message:
    id: str
    role: str
    start: int
    last: int
    parts: list[_Part] = field(default_factory=list)
    tools: dict[str, _Part] = field(default_factory=dict)
    keyed: dict[str, _Part] = field(default_factory=dict)
    metadata: dict[str, object] = field(default_factory=dict)

    @property
    def is_ended(self) -> bool:
        return "ended_at" in self.metadata

    def render(self) -> TranscriptEntry:
        message = UIMessage(
            id=self.id,
            role=self.role,
            parts=tuple(part.render() for part in self.parts),
            metadata=self.metadata or None,
        )
        return TranscriptEntry(message=message, start_sequence=self.start, sequence=self.last)


def files_path(session: Session) -> str:
    """Return the path below which a session's attachments can be read."""
    return f"/api/workspaces/{session.workspace_id}/sessions/{session.id}/attachments"


def tool_fields(content: EventContent) -> tuple[str, msgspec.Raw]:
    """Return the name and input of a tool event, from its raw update."""
    try:
        raw = _OBJECT.decode(content.raw)
    except msgspec.DecodeError:
        return "tool", _EMPTY_INPUT
    kind = raw.get("kind")
    name = "tool"
    if kind is not None and bytes(kind).startswith(b'"'):
        name = msgspec.json.decode(kind, type=str) or "tool"
    given = raw.get("rawInput")
    return name, _EMPTY_INPUT if given is None or bytes(given) == b"null" else given


class TranscriptFold:
    """Folds events in sequence order, one at a time or many; what was folded before can be put in.

    `files` is the path below which the session's attachments can be read.
    """

    def __init__(self, files: str = "") -> None:
        self._files = files
        self._messages: dict[str, _Message] = {}
        self.last_sequence = 0

    def add(self, events: Iterable[StoredEvent]) -> None:
        """Fold events in."""
        for event in events:
            self.last_sequence = event.sequence
            try:
                content = _DECODER.decode(event.content)
            except msgspec.DecodeError:
                continue
            if event.type == "user_message":
                self._user(event, content)
            elif event.turn_id and event.type != "session_stopped":
                self._assistant(event, content)

    def seed(self, entries: Iterable[TranscriptEntry]) -> None:
        """Take entries that were folded before; events that follow complete them."""
        for entry in entries:
            message = _unrendered(entry)
            turn_id = str(message.metadata.get("turn_id", "")) or message.id
            self._messages[f"user:{turn_id}" if message.role == "user" else turn_id] = message
            self.last_sequence = max(self.last_sequence, entry.sequence)

    def _user(self, event: StoredEvent, content: EventContent) -> None:
        key = f"user:{event.turn_id}"
        message = _Message(content.message_id or event.id, "user", event.sequence, event.sequence)
        if content.text or not content.attachments:
            message.parts.append(_Part("text", texts=[content.text], state="done"))
        message.parts += [self._file(attachment) for attachment in content.attachments]
        message.metadata = {"turn_id": event.turn_id, "created_at": event.timestamp}
        self._messages[key] = message

    def _file(self, attachment: AttachmentRef) -> _Part:
        url = f"{self._files}/{attachment.id}/bytes" if self._files else ""
        return _Part("file", id=attachment.id, filename=attachment.name, media_type=attachment.mime_type, url=url)

    def _assistant(self, event: StoredEvent, content: EventContent) -> None:
        message = self._messages.get(event.turn_id)
        if message is None:
            message = _Message(event.turn_id, "assistant", event.sequence, event.sequence)
            message.metadata = {"turn_id": event.turn_id, "created_at": event.timestamp}
            self._messages[event.turn_id] = message
        message.last = event.sequence
        match event.type:
            case "agent_message":
                _append_text(message, "text", content.text)
            case "thought":
                _append_text(message, "reasoning", content.text)
            case "tool_call" | "tool_result":
                _fold_tool(message, event, content)
            case "permission":
                _fold_keyed(message, "data-compozy-permission", content.request_id, event)
            case "done" | "error":
                _fold_end(message, event, content)
            case _:
                key = event.type if event.type in _LATEST_ONLY else event.id
                _fold_keyed(message, "data-compozy-event", key, event)

    def touched_after(self, sequence: int) -> list[tuple[str, int]]:
        """Return key and last event of the messages that an event after `sequence` touched, oldest first."""
        touched = [(key, message) for key, message in self._messages.items() if message.last > sequence]
        touched.sort(key=lambda pair: pair[1].start)
        return [(key, message.last) for key, message in touched]

    def render(self, key: str) -> TranscriptEntry:
        """Return one message as an entry."""
        return self._messages[key].render()

    def forget(self, keep: int) -> int:
        """Drop all but the newest messages of turns that ended; return the last event of those dropped, else 0."""
        ended = [key for key, message in self._messages.items() if message.role == "user" or message.is_ended]
        dropped = ended[:-keep] if len(ended) > keep else []
        return max((self._messages.pop(key).last for key in dropped), default=0)

    def entries(self) -> tuple[TranscriptEntry, ...]:
        """Return every entry, oldest first."""
        return tuple(message.render() for message in sorted(self._messages.values(), key=lambda m: m.start))


def _unrendered(entry: TranscriptEntry) -> _Message:
    """Return the message that renders as this entry."""
    found = entry.message
    message = _Message(found.id, found.role, entry.start_sequence, entry.sequence)
    message.metadata = dict(found.metadata or {})
    for given in found.parts:
        part = _Part(
            given.type,
            id=given.id,
            texts=[given.text] if given.text else [],
            state=given.state,
            tool_call_id=given.toolCallId,
            tool_name=given.toolName,
            title=given.title,
            input=_as_raw(given.input),
            output=_as_raw(given.output),
            error_text=given.errorText,
            data=_as_raw(given.data),
            filename=given.filename,
            media_type=given.mediaType,
            url=given.url,
        )
        message.parts.append(part)
        if part.type == "dynamic-tool":
            message.tools[part.tool_call_id] = part
        elif part.type.startswith("data-"):
            message.keyed[f"{part.type}:{part.id}"] = part
    return message


def _as_raw(value: object) -> msgspec.Raw | None:
    if isinstance(value, msgspec.Raw):
        return value if bytes(value) else None
    if value is None:
        return None
    return msgspec.Raw(msgspec.json.encode(value))


def _append_text(message: _Message, kind: str, text: str) -> None:
    last = message.parts[-1] if message.parts else None
    if last is None or last.type != kind or last.state != "streaming":
        _end_text(message)
        last = _Part(kind, state="streaming")
        message.parts.append(last)
    last.texts.append(text)


def _end_text(message: _Message) -> None:
    if message.parts and message.parts[-1].state == "streaming":
        message.parts[-1].state = "done"


def _fold_tool(message: _Message, event: StoredEvent, content: EventContent) -> None:
    _end_text(message)
    name, given = tool_fields(content)
    part = message.tools.get(content.tool_call_id)
    if part is None:
        part = _Part("dynamic-tool", tool_call_id=content.tool_call_id, tool_name=name, input=given)
        part.state = "input-available"
        message.tools[content.tool_call_id] = part
        message.parts.append(part)
    if name != "tool":
        part.tool_name = name
    if bytes(given) != b"{}":
        part.input = given
    part.title = content.title or part.title
    if event.type == "tool_result":
        part.output = msgspec.Raw(event.content)
        part.state = "output-error" if content.error else "output-available"
        part.error_text = content.error


def _fold_keyed(message: _Message, kind: str, key: str, event: StoredEvent) -> None:
    _end_text(message)
    slot = f"{kind}:{key}"
    part = message.keyed.get(slot)
    if part is None:
        part = message.keyed[slot] = _Part(kind, id=key)
        message.parts.append(part)
    part.data = msgspec.Raw(event.content)


def _fold_end(message: _Message, event: StoredEvent, content: EventContent) -> None:
    _end_text(message)
    message.metadata["stop_reason"] = content.stop_reason or event.type
    message.metadata["ended_at"] = event.timestamp
    if event.type == "error":
        message.metadata["error"] = content.error
        _fold_keyed(message, "data-compozy-event", event.id, event)
