"""Pieces of an agent's text become events, with secrets masked that lie across several of them (contract §5.8).

One event per piece, in order; a piece that might be a part of a secret is shown with a later one, or when the message
ends. Knows only chunks; `mapping.py` says when a message ends.
"""

from typing import NamedTuple

import msgspec

from compozy.config.redaction_stream import TextStream
from compozy.model import times
from compozy.model.event import EventDraft
from compozy.runtime.sessions.content import EventMaker

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ENCODE = msgspec.json.Encoder().encode
_NO_TEXT = msgspec.Raw(b'""')


class Message(NamedTuple):
    """What pieces belong together: event type, turn, the agent's id of the message."""

    event_type: str
    turn_id: str
    message_id: str


class _Piece(NamedTuple):
    text: msgspec.Raw
    raw: msgspec.Raw


class ChunkRun:
    """The message being written. Pieces are collected and turned into drafts many at a time."""

    def __init__(self, maker: EventMaker) -> None:
        self._maker = maker
        self._stream: TextStream = maker.text_stream()
        self._message: Message | None = None
        self._pieces: list[_Piece] = []
        self._last = _Piece(_NO_TEXT, msgspec.Raw(b"{}"))

    def add(self, message: Message, text: msgspec.Raw, raw: msgspec.Raw) -> list[EventDraft]:
        """Collect a piece; return the drafts of another message that it ends.

        Args:
            text: a JSON string as the agent sent it.
            raw: the update; its other fields are clean.
        """
        drafts = self.end() if message != self._message else []
        self._message = message
        self._pieces.append(_Piece(text, raw))
        return drafts

    def take(self, stamp: str = "") -> list[EventDraft]:
        """Return the drafts of what was collected."""
        pieces, self._pieces = self._pieces, []
        message = self._message
        if not pieces or message is None:
            return []
        stamp = stamp or times.now()
        chunk = self._maker.chunk
        self._last = pieces[-1]
        shown = self._stream.take([bytes(piece.text) for piece in pieces])
        if shown is None:
            return [chunk(*message, text, raw, stamp) for text, raw in pieces]
        return [self._draft(message, piece, text, stamp) for piece, text in zip(pieces, shown, strict=True)]

    def end(self) -> list[EventDraft]:
        """Return the drafts of what was collected and of what is still held back: the message is over."""
        drafts = self.take()
        rest = self._stream.flush()
        if rest and self._message is not None:
            drafts.append(self._draft(self._message, self._last, rest, times.now()))
        self._message = None
        return drafts

    def _draft(self, message: Message, piece: _Piece, text: str, stamp: str) -> EventDraft:
        told = msgspec.Raw(_ENCODE(text))
        raw = piece.raw if told == piece.text else _with_text(piece.raw, told)
        return self._maker.chunk(*message, told, raw, stamp)


def _with_text(raw: msgspec.Raw, text: msgspec.Raw) -> msgspec.Raw:
    """Return the update with another text in it."""
    update = _OBJECT.decode(raw)
    content = _OBJECT.decode(update["content"])
    if content.get("text", _NO_TEXT) == text:
        return raw
    update["content"] = msgspec.Raw(_ENCODE({**content, "text": text}))
    return msgspec.Raw(_ENCODE(update))
