"""One file as a multipart body (RFC 7578): what an upload sends. Knows nothing of HTTP and of the API."""

import os

_FIELD = "file"


def one_file(name: str, data: bytes) -> tuple[str, bytes]:
    """Return the content type and the body that carry a file."""
    boundary = os.urandom(16).hex()
    # As browsers do it: what would end the name is spelled otherwise.
    shown = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    head = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="{_FIELD}"; filename="{shown}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    tail = f"\r\n--{boundary}--\r\n"
    return f"multipart/form-data; boundary={boundary}", head.encode("utf-8", "surrogateescape") + data + tail.encode()
