"""What kind of file it is, from its bytes: the name and the type a client claims are only a hint.

Pure. Recognises the types of contract §2.2 ([session.attachments] allowed_mime); anything else is refused.
"""

import struct
from dataclasses import dataclass

from compozy.model.errors import UnsupportedMedia

_PNG = b"\x89PNG\r\n\x1a\n"
_MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True)
class Media:
    """A recognised file: kind is image, pdf or text; sizes in pixels, 0 where they mean nothing."""

    kind: str
    mime_type: str
    width: int = 0
    height: int = 0


def recognise(data: bytes, name: str, allowed: tuple[str, ...]) -> Media:
    """Return what the bytes are.

    Raises:
        UnsupportedMedia: not a type that is allowed; naming what it is and what is.
    """
    media = _look(data, name)
    if media is None or media.mime_type not in allowed:
        found = media.mime_type if media is not None else "of no kind that is known"
        raise UnsupportedMedia(
            f"file {name!r} is {found}; attach one of {', '.join(allowed)}, or put it into the workspace",
            evidence={"name": name, "allowed": list(allowed), **({"found": media.mime_type} if media else {})},
        )
    return media


def _look(data: bytes, name: str) -> Media | None:
    if data.startswith(_PNG):
        return Media("image", "image/png", *_png_size(data))
    if data.startswith(b"\xff\xd8\xff"):
        return Media("image", "image/jpeg", *_jpeg_size(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Media("image", "image/webp", *_webp_size(data))
    if data[:3] == b"GIF":
        return Media("image", "image/gif")
    if b"%PDF-" in data[:1024]:
        return Media("pdf", "application/pdf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    return Media("text", "text/markdown" if name.lower().endswith(_MARKDOWN) else "text/plain")


def _png_size(data: bytes) -> tuple[int, int]:
    if len(data) < 24 or data[12:16] != b"IHDR":
        return 0, 0
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Return the size that the first frame header states; markers are walked, never searched for."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and len(data) >= 30:
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0
