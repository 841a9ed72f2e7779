"""The limit on request bodies: 413 before the body is read, and without confusing a client that is still sending
(contract §1.3).

A declared length above the limit is refused at once; an undeclared one as soon as the limit is passed.
"""

import asyncio
from collections.abc import Mapping

from starlette.types import Message, Receive

from compozy.model.errors import CompozyError, InvalidRequest, TooLarge

MAX_BODY_BYTES = 4 << 20
# A client that does not read until it has sent everything gets this much read and thrown away.
_DISCARD_BYTES = 64 << 20
_TEXT = "request body too large"
# A client that sends nothing more of its body for this long has forgotten it.
BODY_SECONDS = 60.0


class BodyTimeout(CompozyError):
    """The client stopped in the middle of its body."""

    status = 408
    default_code = "request_timeout"


def check_declared_length(headers: Mapping[str, str], limit: int = MAX_BODY_BYTES) -> None:
    """Refuse a declared length above the limit.

    Raises:
        TooLarge: it is above the limit.
        InvalidRequest: it is no number.
    """
    text = headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit()):
        raise InvalidRequest(f"content-length is {text!r}; send a whole number")
    if len(text) > len(str(limit)) + 3 or int(text) > limit:
        raise TooLarge(_TEXT, code="body_too_large")


class LimitedBody:
    """Wraps `receive` and counts what it hands out; `limit` is known once the route is."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._count = 0
        self.limit = MAX_BODY_BYTES
        self.is_complete = False

    async def __call__(self) -> Message:
        message = await self._receive() if self.is_complete else await self._next_part()
        if message["type"] == "http.request":
            self._count += len(message.get("body", b""))
            self.is_complete = not message.get("more_body", False)
            if self._count > self.limit:
                raise TooLarge(_TEXT, code="body_too_large")
        return message

    async def _next_part(self) -> Message:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await self._receive()
        except TimeoutError as error:
            raise BodyTimeout(
                f"nothing more of the request's body came for {BODY_SECONDS:.0f} s; send it again"
            ) from error

    async def discard_rest(self) -> None:
        """Read and throw away what the client still sends, up to a bound."""
        left = _DISCARD_BYTES
        while not self.is_complete and left > 0:
            message = await self._receive()
            if message["type"] != "http.request":
                return
            left -= len(message.get("body", b""))
            self.is_complete = not message.get("more_body", False)
