"""Attachments on the disk: one folder per session below the home, bytes and facts beside each other (contract §1.1).

`session-attachments/<workspace>/<session>/<id>` holds the bytes, `<id>.json` the facts; the facts are written last,
so that what has facts is whole. Blocking: call it in a thread. Knows nothing of prompts and agents.
"""

import hashlib
import re
import secrets
from collections.abc import Sequence
from pathlib import Path

import msgspec

from compozy.config.home import Home
from compozy.config.sections import Attachments as Rules
from compozy.documents.atomic import write_atomically
from compozy.model import times
from compozy.model.attachment import Attachment, AttachmentRef, reference_to
from compozy.model.errors import InvalidRequest, NotFound, TooLarge
from compozy.model.session import Session
from compozy.runtime.sessions.attachments.media import recognise

_ID = re.compile(r"att-[0-9a-f]{16}")
# Control characters, also the eight-bit ones, and those that turn the direction of a text.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONGEST_NAME = 200
# What one session may keep (contract §2.2, retention of attachments).
MOST_FILES = 200
MOST_BYTES = 1 << 30
# They are sent to the agent on one line, encoded, and the connection holds 64 MiB at most.
MOST_BYTES_A_PROMPT = 40 << 20


class AttachmentFiles:
    """The attachments of all sessions."""

    def __init__(self, home: Home, rules: Rules) -> None:
        self._root = home.root / "session-attachments"
        self._rules = rules

    def save(self, session: Session, name: str, data: bytes) -> Attachment:
        """Keep a file; it is durable when this returns.

        Raises:
            InvalidRequest: it is empty.
            TooLarge: it, or all of the session's together, exceed the limit.
            UnsupportedMedia: its type is not allowed.
        """
        shown = _plain_name(name)
        if not data:
            raise InvalidRequest(f"file {shown!r} is empty: attach one with content")
        if len(data) > self._rules.max_file_bytes:
            raise too_large(shown, len(data), self._rules.max_file_bytes)
        media = recognise(data, shown, self._rules.allowed_mime)
        folder = self._folder(session)
        self._check_room(folder, len(data))
        attachment = Attachment(
            id=f"att-{secrets.token_hex(8)}",
            name=shown,
            bytes=len(data),
            kind=media.kind,
            mime_type=media.mime_type,
            sha256=hashlib.sha256(data).hexdigest(),
            width=media.width,
            height=media.height,
            created_at=times.now(),
        )
        for path in (folder.parent, folder):
            path.mkdir(mode=0o700, exist_ok=True)
        write_atomically(folder / attachment.id, data)
        write_atomically(folder / f"{attachment.id}.json", msgspec.json.encode(attachment))
        return attachment

    def find(self, session: Session, attachment_id: str) -> Attachment:
        """Return the facts of a file.

        Raises:
            NotFound: the session has no such file.
        """
        if _ID.fullmatch(attachment_id):
            try:
                data = (self._folder(session) / f"{attachment_id}.json").read_bytes()
                return msgspec.json.decode(data, type=Attachment)
            except (OSError, msgspec.DecodeError):
                pass
        raise NotFound(
            f"attachment {attachment_id!r} does not exist in session {session.id!r}: upload the file again",
            code="attachment_not_found",
        )

    def read(self, session: Session, attachment_id: str) -> tuple[Attachment, bytes]:
        """Return the facts and the bytes of a file, certainly the ones that were uploaded.

        Raises:
            NotFound: there is none, or its bytes are no longer what they were.
        """
        attachment = self.find(session, attachment_id)
        try:
            data = (self._folder(session) / attachment.id).read_bytes()
        except OSError:
            data = b""
        if hashlib.sha256(data).hexdigest() != attachment.sha256:
            raise NotFound(
                f"the bytes of attachment {attachment.name!r} ({attachment.id}) are missing or damaged: upload it "
                "again",
                code="attachment_not_found",
            )
        return attachment, data

    def resolve(self, session: Session, asked: Sequence[AttachmentRef]) -> tuple[AttachmentRef, ...]:
        """Return what is known of the files that a prompt names; only their ids count.

        Raises:
            NotFound: there is no such file.
            InvalidRequest: one is named twice, or they are too many.
            TooLarge: they are too large together.
        """
        most = self._rules.max_files_per_prompt
        if len(asked) > most:
            raise InvalidRequest(f"attachments names {len(asked)} files, at most {most} go with one prompt")
        if len({attachment.id for attachment in asked}) < len(asked):
            raise InvalidRequest("attachments names a file twice: name each once")
        found = tuple(reference_to(self.find(session, attachment.id)) for attachment in asked)
        size = sum(attachment.bytes for attachment in found)
        if size > MOST_BYTES_A_PROMPT:
            raise TooLarge(
                f"the attachments have {size} bytes together, the limit for one prompt is {MOST_BYTES_A_PROMPT}: "
                "send fewer",
                code="attachment_too_large",
            )
        return found

    def remove(self, session: Session, attachment_id: str) -> None:
        """Remove a file.

        Raises:
            NotFound: there is none.
        """
        attachment = self.find(session, attachment_id)
        folder = self._folder(session)
        # The facts first: what has facts has bytes.
        (folder / f"{attachment.id}.json").unlink(missing_ok=True)
        (folder / attachment.id).unlink(missing_ok=True)

    def _folder(self, session: Session) -> Path:
        return self._root / session.workspace_id / session.id

    def _check_room(self, folder: Path, more: int) -> None:
        sizes = [path.stat().st_size for path in folder.glob("att-*") if path.suffix != ".json"]
        if len(sizes) >= MOST_FILES or sum(sizes) + more > MOST_BYTES:
            raise TooLarge(
                f"the session keeps {len(sizes)} files of {sum(sizes)} bytes already; at most {MOST_FILES} files and "
                f"{MOST_BYTES} bytes are kept: delete some, or start a new session",
                code="attachments_full",
            )


def too_large(name: str, size: int, limit: int) -> TooLarge:
    """Return the refusal of a file that is too large."""
    return TooLarge(
        f"file {name!r} has {size} bytes, the limit is {limit}: put it into the workspace and name it in the prompt",
        code="attachment_too_large",
    )


def _plain_name(name: str) -> str:
    """Return the last part of a file's name without what could disturb a terminal or a header."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    plain = _CONTROL.sub("", last).strip()
    return plain[-_LONGEST_NAME:] or "file"
