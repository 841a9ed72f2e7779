"""A file that a person gives an agent with a prompt (shapes: AttachmentRef, and the answer to an upload).

Sizes in bytes, `width` and `height` in pixels, 0 where they mean nothing.
"""

from compozy.model.record import Record


class AttachmentRef(Record, frozen=True, kw_only=True):
    """One stored file as prompts, events and transcripts name it; `kind` is image, pdf or text."""

    bytes: int
    height: int
    id: str
    kind: str
    mime_type: str
    name: str
    sha256: str
    width: int


class Attachment(AttachmentRef, frozen=True, kw_only=True):
    """A file right after its upload."""

    created_at: str


def reference_to(attachment: Attachment) -> AttachmentRef:
    """Return what names the file."""
    return AttachmentRef(**{name: getattr(attachment, name) for name in AttachmentRef.__struct_fields__})
