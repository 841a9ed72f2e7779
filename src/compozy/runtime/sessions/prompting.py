"""Admitting prompts: their identity, replays and conflicts, before a session sees them (contract §3.5 Prompt; P67).

The same identity with the same payload is answered from what was accepted before, never run twice; with another
payload it is a conflict. A retry that arrives while the first attempt still binds waits for it.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable

import msgspec

from compozy.model import ids, times
from compozy.model.attachment import AttachmentRef
from compozy.model.errors import Conflict, InvalidRequest, TooLarge
from compozy.model.record import Record
from compozy.model.session_answers import PromptResult
from compozy.runtime.sessions.turns import Turn
from compozy.store.interface import PromptRecord, Store

MODES = ("queue", "interrupt", "steer")


class PromptRequest(Record, frozen=True, kw_only=True):
    """What a client sends to start a turn."""

    message: str
    message_id: str
    idempotency_key: str
    mode: str = ""
    expected_turn_id: str = ""
    runtime: dict[str, object] | None = None
    require_context: bool = False
    """Refuse rather than let a new agent session take the place of one that is lost."""
    attachments: tuple[AttachmentRef, ...] = ()


class InputEdit(Record, frozen=True, kw_only=True):
    """Another text for a prompt that waits, with the identity it has from then on."""

    text: str
    message_id: str
    idempotency_key: str


def check_prompt(request: PromptRequest, max_bytes: int) -> None:
    """Refuse a prompt that lacks text or identity.

    Raises:
        InvalidRequest, TooLarge: naming the field.
    """
    for field in ("message", "message_id", "idempotency_key"):
        # Files may speak for themselves.
        if not getattr(request, field).strip() and not (field == "message" and request.attachments):
            raise InvalidRequest(f"{field} is required")
    if request.mode and request.mode not in MODES:
        raise InvalidRequest(f"mode {request.mode!r} must be one of {', '.join(MODES)}")
    check_size(request.message, max_bytes, "message")


def check_size(text: str, max_bytes: int, field: str) -> None:
    """Refuse a text that is too long.

    Raises:
        TooLarge: naming the field.
    """
    size = len(text.encode("utf-8", "replace"))
    if size > max_bytes:
        raise TooLarge(f"{field} has {size} bytes, the limit is {max_bytes}: put long material into a file")


def payload_digest(request: PromptRequest) -> str:
    """Return what must be equal for a retry to be the same prompt."""
    parts: list[object] = [
        request.message,
        request.message_id,
        request.mode,
        request.expected_turn_id,
        request.runtime,
    ]
    if request.attachments:
        parts.append([attachment.id for attachment in request.attachments])
    payload = msgspec.json.encode(parts)
    return hashlib.sha256(payload).hexdigest()


def edit_digest(edit: InputEdit) -> str:
    """Return what must be equal for a retry of an edit to be the same edit."""
    return hashlib.sha256(msgspec.json.encode([edit.text, edit.message_id])).hexdigest()


_Name = tuple[str, str]


def _names(request: PromptRequest) -> tuple[_Name, _Name]:
    """Return what may identify the prompt, the key first."""
    return ("key", request.idempotency_key), ("message", request.message_id)


class Admission:
    """The prompts of one session on their way in."""

    def __init__(self, store: Store, session_id: str, *, is_fresh: bool) -> None:
        """Take care of one session; `is_fresh` says that it never had a prompt, so that memory knows them all."""
        self._store = store
        self._session_id = session_id
        self._is_fresh = is_fresh
        self._seen: dict[_Name, PromptRecord] = {}
        self._running: dict[_Name, asyncio.Future[None]] = {}

    async def admit(
        self, request: PromptRequest, start: Callable[[PromptRecord], Awaitable[Turn | PromptResult]]
    ) -> Turn | PromptResult:
        """Start the turn, or answer a retry with what was accepted.

        Raises:
            Conflict: the key or the message id was used for another prompt.
            CompozyError: from `start`.
        """
        digest, names = payload_digest(request), _names(request)
        while True:
            earlier = next((self._running[name] for name in names if name in self._running), None)
            if earlier is None:
                break
            await asyncio.wait((earlier,))
        known = await self._known(request)
        if known is not None:
            return _replay(request, known, digest)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for name in names:
            self._running[name] = done
        identity = PromptRecord(
            session_id=self._session_id,
            idempotency_key=request.idempotency_key,
            message_id=request.message_id,
            payload_digest=digest,
            turn_id=ids.new_turn_id(),
            created_at=times.now(),
        )
        try:
            accepted = await start(identity)
            if self._is_fresh:
                self._seen.update(dict.fromkeys(names, identity))
            return accepted
        finally:
            done.set_result(None)
            for name in names:
                self._running.pop(name, None)

    async def rename(self, identity: PromptRecord) -> None:
        """Give a prompt that was accepted and waits another identity; the old one goes on naming it too.

        Raises:
            Conflict: the key or the message id names another prompt.
        """
        for known in (
            await self._find("key", identity.idempotency_key),
            await self._find("message", identity.message_id),
        ):
            if known is not None and known.turn_id != identity.turn_id:
                is_key = known.idempotency_key == identity.idempotency_key
                raise _key_conflict(identity.idempotency_key) if is_key else _message_conflict(identity.message_id)
        await self._store.put_prompt(identity)
        if self._is_fresh:
            self._seen["key", identity.idempotency_key] = identity
            self._seen["message", identity.message_id] = identity

    async def _find(self, kind: str, name: str) -> PromptRecord | None:
        if self._is_fresh:
            return self._seen.get((kind, name))
        if kind == "key":
            return await self._store.find_prompt(self._session_id, idempotency_key=name)
        return await self._store.find_prompt(self._session_id, message_id=name)

    async def _known(self, request: PromptRequest) -> PromptRecord | None:
        if self._is_fresh:
            return next((self._seen[name] for name in _names(request) if name in self._seen), None)
        return await self._store.find_prompt(
            self._session_id, idempotency_key=request.idempotency_key, message_id=request.message_id
        )


def _message_conflict(message_id: str) -> Conflict:
    return Conflict(
        f"message_id {message_id!r} was used by another prompt: choose a new one",
        code="prompt_message_identity_conflict",
        diagnostic=True,
        category="session",
    )


def _key_conflict(key: str) -> Conflict:
    return Conflict(
        f"idempotency_key {key!r} was used for another message: choose a new one",
        code="prompt_idempotency_conflict",
        diagnostic=True,
        category="session",
    )


def _replay(request: PromptRequest, known: PromptRecord, digest: str) -> PromptResult:
    if known.idempotency_key != request.idempotency_key:
        raise _message_conflict(request.message_id)
    if known.payload_digest != digest:
        raise _key_conflict(request.idempotency_key)
    return PromptResult(
        status="accepted",
        delivery="direct",
        message_id=known.message_id,
        idempotency_key=known.idempotency_key,
        replayed=True,
        mode=request.mode,
        new_turn_id=known.turn_id,
    )
