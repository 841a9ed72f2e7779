"""Routes of the files given with prompts: upload, read, delete (contract §3.5, attachments)."""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.messages import empty_response, json_response
from compozy.daemon.routes.sessions import SESSION, session_id_of
from compozy.daemon.routing import UPLOAD_BYTES, Route
from compozy.daemon.uploads import read_upload
from compozy.model.attachment import Attachment
from compozy.runtime.services import Services

_FILES = f"{SESSION}/attachments"
_FILE = f"{_FILES}/{{attachment_id}}"


async def upload_attachment(app: Services, request: Request) -> Response:
    """Keep a file for prompts of the session."""
    session_id = await session_id_of(app, request)
    upload = await read_upload(request, app.config.session.attachments.max_file_bytes)
    return json_response(
        {"attachment": await app.sessions.attachments.save(session_id, upload.name, upload.data)}, 201
    )


async def read_attachment(app: Services, request: Request) -> Response:
    """Answer the bytes of a file."""
    session_id = await session_id_of(app, request)
    attachment, data = await app.sessions.attachments.read(session_id, request.path_params["attachment_id"])
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(attachment.name)}",
        # A browser must not take a file of a person for a page of ours.
        "x-content-type-options": "nosniff",
        "cache-control": "private, max-age=86400, immutable",
    }
    return Response(data, media_type=attachment.mime_type, headers=headers)


async def delete_attachment(app: Services, request: Request) -> Response:
    """Remove a file; what was said about it stays."""
    session_id = await session_id_of(app, request)
    await app.sessions.attachments.remove(session_id, request.path_params["attachment_id"])
    return empty_response()


ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path=_FILES,
        handler=upload_attachment,
        name="uploadSessionAttachment",
        summary="Keep a file for prompts (multipart/form-data, part `file`)",
        answer={"attachment": Attachment},
        status=201,
        kind="admit",
        most_body_bytes=UPLOAD_BYTES,
        upload="file",
    ),
    Route(
        method="GET",
        path=f"{_FILE}/bytes",
        handler=read_attachment,
        name="readSessionAttachmentBytes",
        summary="The bytes of a file given with a prompt",
        media="*/*",
    ),
    Route(
        method="DELETE",
        path=_FILE,
        handler=delete_attachment,
        name="deleteSessionAttachment",
        summary="Remove a file given with a prompt",
        status=204,
        kind="write",
    ),
)
