"""Streams with types: the frames of a prompt's turn, and the stored events of a session as they happen."""

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from compozy.client.calls.caller import JsonObject, decode
from compozy.model.event import SessionEvent
from compozy.model.session_answers import PromptResult

if TYPE_CHECKING:
    from compozy.client.daemon_client import EventStream

S = TypeVar("S", bound="_Stream")
_DONE = "[DONE]"


class _Stream:
    def __init__(self, stream: "EventStream") -> None:
        self._stream = stream

    def __enter__(self: S) -> S:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the stream; what it shows goes on in the daemon."""
        self._stream.close()


class PromptStream(_Stream):
    """The turn of one prompt. `queued` is set instead of frames when the prompt started no turn of its own."""

    def __init__(self, stream: "EventStream") -> None:
        super().__init__(stream)
        self.queued: PromptResult | None = None
        if stream.answer is not None:
            self.queued = decode(stream.answer.body, PromptResult, "prompt")

    def __iter__(self) -> Iterator[JsonObject | None]:
        """Yield the frames of the turn until it ends; None on each idle tick.

        Raises:
            ConnectionLost: the stream broke off; the turn goes on in the daemon.
        """
        with self:
            for event in self._stream:
                if event is None:
                    yield None
                elif event.data == _DONE:
                    return
                else:
                    yield decode(event.data.encode("utf-8", "surrogatepass"), JsonObject)


class CatalogFollower(_Stream):
    """Changes in the list of sessions, from now on: which session, not what it is now."""

    def __iter__(self) -> Iterator[JsonObject | None]:
        """Yield each change as it was sent; None on each idle tick.

        Raises:
            ConnectionLost: the stream broke off.
        """
        with self:
            for event in self._stream:
                yield None if event is None else decode(event.data.encode("utf-8", "surrogatepass"), JsonObject)


class EventFollower(_Stream):
    """Stored events of a session from a position on."""

    def __iter__(self) -> Iterator[SessionEvent]:
        """Yield each event once, until the session stops or the stream is left.

        Raises:
            ConnectionLost: the stream broke off and could not be taken up again.
        """
        with self:
            for event in self._stream:
                if event is not None:
                    yield decode(event.data.encode("utf-8", "surrogatepass"), SessionEvent)
