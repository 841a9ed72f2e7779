"""The frames of a prompt's stream, made of stored events (contract §3.5, AI-SDK UI message stream v1).

Pure: events in, JSON frames out. Blocks of text and reasoning are closed whenever another kind starts; tools that
never got a result get a synthetic one at the end; the last frame of all is the literal ``[DONE]``.
"""

from collections.abc import Iterable

import msgspec

from compozy.model.event import EventContent, StoredEvent
from compozy.runtime.sessions.transcript import tool_fields

_DECODER = msgspec.json.Decoder(EventContent)
_ENCODE = msgspec.json.Encoder().encode
DONE = b"[DONE]"
_BLOCKS = {"agent_message": "text", "thought": "reasoning"}
_LENGTH_REASONS = ("max_tokens",)
_STOP_REASONS = ("end_turn", "")


class PromptFrames:
    """Turns the events of one turn into frames; `finished` after the turn's end."""

    def __init__(self, turn_id: str) -> None:
        self._turn_id = turn_id
        self._block = ""
        self._block_id = ""
        self._blocks = 0
        self._open_tools: dict[str, None] = {}
        self._seen_tools: set[str] = set()
        self.finished = False

    def start(self) -> list[bytes]:
        """Return the opening frame."""
        return [_ENCODE({"type": "start", "messageId": self._turn_id})]

    def add(self, events: Iterable[StoredEvent]) -> list[bytes]:
        """Return the frames of these events; those of other turns make none."""
        frames: list[bytes] = []
        for event in events:
            if event.turn_id == self._turn_id and not self.finished:
                self._one(event, frames)
        return frames

    def _one(self, event: StoredEvent, frames: list[bytes]) -> None:
        kind = event.type
        if kind in _BLOCKS:
            text = _DECODER.decode(event.content).text
            if text:
                # None is there when the piece may be a part of a secret: it comes with a later one.
                self._delta(_BLOCKS[kind], text, frames)
            return
        if kind in ("user_message", "synthetic_reentry"):
            return
        self._close_block(frames)
        content = _DECODER.decode(event.content)
        data = msgspec.Raw(event.content)
        if kind == "permission":
            frames.append(_ENCODE({"type": "data-compozy-permission", "id": content.request_id, "data": data}))
        elif kind in ("tool_call", "tool_result"):
            self._tool(kind, content, data, frames)
        elif kind == "done":
            self._finish(content.stop_reason, frames)
        elif kind == "error":
            frames.append(_ENCODE({"type": "error", "errorText": content.error or "the turn failed"}))
            self._finish("error", frames)
        else:
            frames.append(_ENCODE({"type": "data-compozy-event", "data": data}))

    def _delta(self, block: str, text: str, frames: list[bytes]) -> None:
        if self._block != block:
            self._close_block(frames)
            self._blocks += 1
            self._block, self._block_id = block, f"{self._turn_id}-{block}-{self._blocks}"
            frames.append(_ENCODE({"type": f"{block}-start", "id": self._block_id}))
        frames.append(_ENCODE({"type": f"{block}-delta", "id": self._block_id, "delta": text}))

    def _close_block(self, frames: list[bytes]) -> None:
        if self._block:
            frames.append(_ENCODE({"type": f"{self._block}-end", "id": self._block_id}))
            self._block = ""

    def _tool(self, kind: str, content: EventContent, data: msgspec.Raw, frames: list[bytes]) -> None:
        call_id = content.tool_call_id
        if call_id not in self._seen_tools:
            self._seen_tools.add(call_id)
            self._open_tools[call_id] = None
            name, given = tool_fields(content)
            frames.append(_ENCODE({"type": "tool-input-start", "toolCallId": call_id, "toolName": name}))
            frames.append(
                _ENCODE({"type": "tool-input-available", "toolCallId": call_id, "toolName": name, "input": given})
            )
        if kind == "tool_call":
            frames.append(_ENCODE({"type": "data-compozy-event", "data": data}))
        else:
            self._open_tools.pop(call_id, None)
            frames.append(_ENCODE({"type": "tool-output-available", "toolCallId": call_id, "output": data}))

    def _finish(self, reason: str, frames: list[bytes]) -> None:
        for call_id in self._open_tools:
            output = {"type": "tool_result", "tool_call_id": call_id, "error": "the turn ended without a result"}
            frames.append(_ENCODE({"type": "tool-output-available", "toolCallId": call_id, "output": output}))
        word = "length" if reason in _LENGTH_REASONS else "stop" if reason in _STOP_REASONS else "other"
        frames.append(_ENCODE({"type": "finish", "finishReason": word}))
        frames.append(DONE)
        self.finished = True

    def break_off(self, message: str) -> list[bytes]:
        """Return the frames of a stream that ends although its turn did not."""
        frames: list[bytes] = []
        if not self.finished:
            self._close_block(frames)
            frames.append(_ENCODE({"type": "error", "errorText": message}))
            self._finish("error", frames)
        return frames
