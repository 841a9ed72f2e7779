"""From the agent's updates to the events we store (contract §5.4; acp.md, faults 10 and 11).

The raw update is always kept. Unknown kinds and shapes become `system` events; nothing an agent sends raises.
State is kept per process: which tool calls are open, which results came before their call, which turn a call
belongs to. It knows nothing of the store.
"""

from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from compozy.acp.contract import SessionUpdate
from compozy.model.event import EventDraft
from compozy.model.session import AvailableCommand, CommandInput
from compozy.runtime.sessions.chunks import ChunkRun, Message
from compozy.runtime.sessions.content import EventMaker, raw_json

# Results held for a call that has not come yet (contract §5.4).
HELD_RESULTS = 128
# Tool calls remembered per process; older ones can no longer be told apart from new ones.
KNOWN_CALLS = 4096
FINAL = ("completed", "failed")


class _Text(msgspec.Struct):
    text: msgspec.Raw = msgspec.Raw(b'""')


class _Chunk(msgspec.Struct):
    content: _Text
    messageId: str | None = None


class _Tool(msgspec.Struct):
    toolCallId: str
    title: str | None = None
    status: str | None = None
    kind: str | None = None


class _Command(msgspec.Struct):
    name: str
    description: str | None = None
    input: object = None


class _Commands(msgspec.Struct):
    availableCommands: list[_Command]


_CHUNK = msgspec.json.Decoder(_Chunk)
_TOOL = msgspec.json.Decoder(_Tool)
_COMMANDS = msgspec.json.Decoder(_Commands)
_OBJECT = msgspec.json.Decoder(dict[str, object])

_CHUNKS = {"agent_message_chunk": "agent_message", "agent_thought_chunk": "thought"}
_PLAIN = {
    "plan": "plan",
    "plan_update": "plan",
    "usage_update": "usage",
    "available_commands_update": "available_commands",
}


class _Call(msgspec.Struct):
    """What is known of one tool call."""

    turn_id: str
    title: str = ""
    raw: bytes = b""
    open: bool = True


def read_tool(update: SessionUpdate) -> _Tool | None:
    """Return what a tool update says of its call, None when it cannot be read."""
    try:
        return _TOOL.decode(update.raw)
    except msgspec.DecodeError:
        return None


def read_commands(update: SessionUpdate) -> tuple[AvailableCommand, ...] | None:
    """Return the slash commands of an `available_commands_update`, None when it cannot be read."""
    try:
        found = _COMMANDS.decode(update.raw).availableCommands
    except msgspec.DecodeError:
        return None
    return tuple(
        AvailableCommand(name=c.name, description=c.description or "", input=_command_input(c.input)) for c in found
    )


def _command_input(value: object) -> CommandInput | None:
    hint = value.get("hint") if isinstance(value, dict) else None
    return CommandInput(hint=hint) if isinstance(hint, str) else None


def _readable(raw: msgspec.Raw) -> _Chunk | None:
    """Return a chunk of text, None when it is none."""
    try:
        chunk = _CHUNK.decode(raw)
    except msgspec.DecodeError:
        return None
    return chunk if bytes(chunk.content.text).startswith(b'"') else None


class UpdateMapper:
    """Maps the updates of one agent process in wire order."""

    def __init__(self, maker: EventMaker) -> None:
        self._maker = maker
        self._chunks = ChunkRun(maker)
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._held: OrderedDict[str, SessionUpdate] = OrderedDict()

    def map(self, updates: Sequence[SessionUpdate], turn_id: str) -> list[EventDraft]:
        """Return the events of a batch. `turn_id` is the turn in flight, or the last one for late updates."""
        drafts: list[EventDraft] = []
        # Decoded after redaction, so that every field taken out is as clean as the raw update. Text in pieces is the
        # exception: a piece alone does not show what it is a part of.
        clean = self._maker.clean([update.raw for update in updates])
        for update, raw in zip(updates, clean, strict=True):
            event_type = _CHUNKS.get(update.kind)
            if event_type is not None and (chunk := _readable(update.raw)) is not None:
                message = Message(event_type, turn_id, chunk.messageId or "")
                drafts.extend(self._chunks.add(message, chunk.content.text, raw))
            elif update.kind != "user_message_chunk":
                drafts.extend(self._chunks.end())
                drafts.extend(self._other(msgspec.structs.replace(update, raw=raw), turn_id))
        drafts.extend(self._chunks.take())
        return drafts

    def _other(self, update: SessionUpdate, turn_id: str) -> list[EventDraft]:
        if update.kind in ("tool_call", "tool_call_update"):
            return self._tool(update, turn_id)
        if update.kind in _CHUNKS:
            return [self._system(update, turn_id, "an update whose text cannot be read")]
        return [self._plain(update, turn_id)]

    def _plain(self, update: SessionUpdate, turn_id: str) -> EventDraft:
        event_type = _PLAIN.get(update.kind)
        if event_type is None:
            return self._system(update, turn_id, update.kind)
        usage = None
        if event_type == "usage":
            try:
                fields = _OBJECT.decode(update.raw)
            except msgspec.DecodeError:
                return self._system(update, turn_id, update.kind)
            usage = {key: value for key, value in fields.items() if key != "sessionUpdate" and value is not None}
        return self._maker.draft(event_type, turn_id, usage=usage, raw=update.raw, is_clean=True)

    def _system(self, update: SessionUpdate, turn_id: str, title: str) -> EventDraft:
        return self._maker.draft("system", turn_id, title=title, raw=update.raw, is_clean=True)

    def _tool(self, update: SessionUpdate, turn_id: str) -> list[EventDraft]:
        try:
            tool = _TOOL.decode(update.raw)
        except msgspec.DecodeError:
            return [self._system(update, turn_id, "a tool call that cannot be read")]
        call = self._calls.get(tool.toolCallId)
        final = tool.status in FINAL
        if call is None and final and update.kind == "tool_call_update" and len(self._held) < HELD_RESULTS:
            self._held[tool.toolCallId] = update
            return []
        if call is None or (update.kind == "tool_call" and call.turn_id != turn_id):
            # Some agents count their calls anew in every turn.
            call = self._remember(tool.toolCallId, turn_id)
        raw = bytes(update.raw)
        if call.raw == raw:
            return []
        call.raw, call.title = raw, tool.title or call.title
        drafts = [self._tool_event(update, tool.toolCallId, call, final)]
        held = self._held.pop(tool.toolCallId, None)
        if held is not None and not final:
            drafts.append(self._tool_event(held, tool.toolCallId, call, True))
        return drafts

    def _remember(self, call_id: str, turn_id: str) -> _Call:
        call = self._calls[call_id] = _Call(turn_id)
        if len(self._calls) > KNOWN_CALLS:
            self._calls.popitem(last=False)
        return call

    def _tool_event(self, update: SessionUpdate, call_id: str, call: _Call, final: bool) -> EventDraft:
        call.open = not final
        return self._maker.draft(
            "tool_result" if final else "tool_call",
            call.turn_id,
            title=call.title,
            tool_call_id=call_id,
            raw=update.raw,
            is_clean=True,
        )

    def open_calls(self) -> list[str]:
        """Return the ids of the tool calls that have no result."""
        return [call_id for call_id, call in self._calls.items() if call.open]

    def close_turn(self, turn_id: str, reason: str) -> list[EventDraft]:
        """Return the held text and results, and a closing result for every dangling tool call of the turn."""
        drafts = self._chunks.end()
        for call_id, update in self._held.items():
            drafts.append(self._tool_event(update, call_id, self._remember(call_id, turn_id), True))
        self._held.clear()
        for call_id, call in self._calls.items():
            if call.open and call.turn_id == turn_id:
                call.open = False
                drafts.append(closing_result(self._maker, turn_id, call_id, call.title, reason))
        return drafts


def closing_result(maker: EventMaker, turn_id: str, call_id: str, title: str, reason: str) -> EventDraft:
    """Return the result we write for a tool call that its agent left open (contract §5.9)."""
    raw = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": call_id,
        "status": "failed",
        "_meta": {"compozy": {"synthetic": True, "reason": reason}},
    }
    return maker.draft("tool_result", turn_id, tool_call_id=call_id, title=title, error=reason, raw=raw_json(raw))
