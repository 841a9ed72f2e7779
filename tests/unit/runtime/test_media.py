"""What kind of file it is comes from its bytes, and their size from their headers (contract §2.2 allowed_mime)."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.model.errors import UnsupportedMedia
from compozy.runtime.sessions.attachments.media import Media, recognise

ALL = ("image/png", "image/jpeg", "image/webp", "application/pdf", "text/markdown", "text/plain")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\x08\x02\0\0\0"
JPEG = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08" + struct.pack(">HH", 480, 640) + b"\x03"
VP8X = b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")
VP8L = b"RIFF\x1e\0\0\0WEBPVP8L\x0a\0\0\0\x2f" + (639 | 479 << 14).to_bytes(4, "little")
VP8 = b"RIFF\x1e\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640, 480)


@pytest.mark.parametrize(
    ("data", "kind"),
    [(PNG, "image/png"), (JPEG, "image/jpeg"), (VP8X, "image/webp"), (VP8L, "image/webp"), (VP8, "image/webp")],
)
def test_an_image_is_known_by_its_bytes_with_its_size_whatever_it_is_called(data: bytes, kind: str) -> None:
    assert recognise(data, "notes.txt", ALL) == Media("image", kind, 640, 480)


def test_text_is_markdown_by_its_name_only() -> None:
    assert recognise(b"# a", "A.MD", ALL).mime_type == "text/markdown"
    assert recognise(b"# a", "a.png", ALL).mime_type == "text/plain"


def test_a_type_that_settings_do_not_allow_is_refused_by_its_name() -> None:
    with pytest.raises(UnsupportedMedia, match="image/png"):
        recognise(PNG, "a.png", ("text/plain",))


@given(st.binary(max_size=64), st.sampled_from((b"", PNG[:12], JPEG[:6], VP8X[:14], VP8L[:16], b"%PDF-")))
def test_no_bytes_break_the_recognition(data: bytes, head: bytes) -> None:
    try:
        media = recognise(head + data, "x", ALL)
    except UnsupportedMedia:
        return
    assert media.mime_type in ALL and media.width >= 0 and media.height >= 0
