"""Attachments as the content blocks of a prompt, in the form that the agent says it takes (contract §5.4 step 8).

Images need `promptCapabilities.image`, PDF files `embeddedContext`; text is a resource where the agent embeds
context and plain text otherwise. Nothing is left out in silence: what an agent cannot take is refused.
"""

import base64
from collections.abc import Mapping
from urllib.parse import quote

from compozy.model.attachment import Attachment, AttachmentRef
from compozy.model.errors import Unprocessable
from compozy.model.session import AcpCapabilities


def problem_with(attachment: AttachmentRef, capabilities: AcpCapabilities) -> str:
    """Return why the agent cannot take the file, "" when it can."""
    if attachment.kind == "image" and not capabilities.prompt_image:
        return "it takes no images"
    if attachment.kind == "pdf" and not capabilities.prompt_embedded_context:
        return "it takes no embedded files"
    return ""


def refuse_unsupported(attachments: tuple[AttachmentRef, ...], capabilities: AcpCapabilities, agent: str) -> None:
    """Refuse files that the agent does not take.

    Raises:
        Unprocessable: naming the first and the reason.
    """
    for attachment in attachments:
        problem = problem_with(attachment, capabilities)
        if problem:
            raise Unprocessable(
                f"agent {agent!r} cannot be given {attachment.name!r} ({attachment.mime_type}): {problem}; leave the "
                "file out, or choose another provider",
                code="attachment_unsupported",
                category="session",
                evidence={"attachment_id": attachment.id, "mime_type": attachment.mime_type, "reason": problem},
                diagnostic=True,
            )


def content_block(attachment: Attachment, data: bytes, capabilities: AcpCapabilities) -> Mapping[str, object]:
    """Return the block of one file that the agent takes."""
    uri = f"attachment://{attachment.id}/{quote(attachment.name)}"
    if attachment.kind == "image":
        encoded = base64.b64encode(data).decode()
        return {"type": "image", "mimeType": attachment.mime_type, "data": encoded, "uri": uri}
    if attachment.kind == "pdf":
        blob = base64.b64encode(data).decode()
        return {"type": "resource", "resource": {"uri": uri, "mimeType": attachment.mime_type, "blob": blob}}
    text = data.decode("utf-8", "replace")
    if capabilities.prompt_embedded_context:
        return {"type": "resource", "resource": {"uri": uri, "mimeType": attachment.mime_type, "text": text}}
    return {"type": "text", "text": f"Attached file {attachment.name}:\n\n{text}"}
