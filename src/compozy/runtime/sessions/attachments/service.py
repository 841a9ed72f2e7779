"""The files of sessions for routes and prompts: the blocking work of `files.py` in a thread (contract §3.5)."""

import asyncio
from typing import Protocol

import msgspec

from compozy.model.attachment import Attachment
from compozy.model.session import Session
from compozy.runtime.sessions.attachments.files import AttachmentFiles
from compozy.runtime.sessions.deps import Deps
from compozy.runtime.sessions.prompting import PromptRequest


class SessionFinder(Protocol):
    """What files need of the sessions service."""

    async def get(self, session_id: str, workspace: str = "") -> Session: ...


class SessionAttachments:
    """The attachments of all sessions."""

    def __init__(self, deps: Deps, sessions: SessionFinder) -> None:
        self._files = AttachmentFiles(deps.home, deps.config.session.attachments)
        self._sessions = sessions

    async def save(self, session_id: str, name: str, data: bytes) -> Attachment:
        """Keep a file for prompts of the session.

        Raises:
            InvalidRequest, TooLarge, UnsupportedMedia: it cannot be kept.
        """
        return await asyncio.to_thread(self._files.save, await self._sessions.get(session_id), name, data)

    async def read(self, session_id: str, attachment_id: str) -> tuple[Attachment, bytes]:
        """Return a kept file.

        Raises:
            NotFound: there is none.
        """
        return await asyncio.to_thread(self._files.read, await self._sessions.get(session_id), attachment_id)

    async def remove(self, session_id: str, attachment_id: str) -> None:
        """Remove a kept file.

        Raises:
            NotFound: there is none.
        """
        await asyncio.to_thread(self._files.remove, await self._sessions.get(session_id), attachment_id)

    async def resolved(self, session: Session, request: PromptRequest) -> PromptRequest:
        """Return the request with what is known of its files.

        Raises:
            NotFound, InvalidRequest, TooLarge: a file does not exist, or they are too many or too large.
        """
        if not request.attachments:
            return request
        known = await asyncio.to_thread(self._files.resolve, session, request.attachments)
        return msgspec.structs.replace(request, attachments=known)
