"""Reading one uploaded file from a multipart body, bounded while it is read (contract §3.5, attachments; §3.1)."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from compozy.model.errors import InvalidRequest, TooLarge, UnsupportedMedia

# Boundaries, part headers and fields beside the file itself.
_AROUND_BYTES = 64 * 1024
_FIELD = "file"


@dataclass(frozen=True, kw_only=True)
class Upload:
    """An uploaded file; the name is the client's word."""

    name: str
    data: bytes


async def read_upload(request: Request, most_bytes: int) -> Upload:
    """Return the file of the part `file`.

    Raises:
        UnsupportedMedia: the body is no multipart form.
        InvalidRequest: it is malformed or has no such part.
        TooLarge: the file exceeds `most_bytes`.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        raise UnsupportedMedia(f"content-type is {kind!r}; send multipart/form-data with the file as part {_FIELD!r}")
    parser = MultiPartParser(request.headers, _bounded(request, most_bytes), max_files=1, max_fields=10)
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError) as error:
        reason = getattr(error, "message", "") or "the boundary is missing"
        raise InvalidRequest(
            f"the multipart body cannot be read: {reason}; send the file as part {_FIELD!r}"
        ) from error
    try:
        file = form.get(_FIELD)
        if not isinstance(file, UploadFile):
            raise InvalidRequest(f"the multipart body has no file in part {_FIELD!r}; send it there")
        return Upload(name=file.filename or "", data=await file.read())
    finally:
        await form.close()


async def _bounded(request: Request, most_bytes: int) -> AsyncGenerator[bytes, None]:
    left = most_bytes + _AROUND_BYTES
    async for chunk in request.stream():
        left -= len(chunk)
        if left < 0:
            raise TooLarge(
                f"the file is larger than {most_bytes} bytes: put it into the workspace and name it in the prompt",
                code="attachment_too_large",
            )
        yield chunk
