"""The mark by which `compozy.db` is known as ours: in SQLite's file header, read without SQLite (decisions D22).

The store writes it; the doctor, which may not open the store, reads it.
"""

from typing import Literal

# "cpzy" in ASCII, written into SQLite's application id.
APPLICATION_ID = 0x63707A79
HEADER_BYTES = 100
MAGIC = b"SQLite format 3\x00"
_OFFSET = 68


def maker_of(header: bytes) -> Literal["none", "ours", "foreign", "damaged"]:
    """Say whose file begins with these bytes; `none` when there are no bytes yet."""
    if not header:
        return "none"
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        return "damaged"
    mark = int.from_bytes(header[_OFFSET : _OFFSET + 4], "big")
    return "ours" if mark == APPLICATION_ID else "foreign"
