"""Routes as data: what a route is, and the one way handlers read requests and answer.

A handler is ``async def handler(app, request) -> starlette Response``; it decodes, calls one runtime function,
encodes. Each module of `daemon/routes/` exports ``ROUTES: tuple[Route, ...]``; `daemon/application.py` joins them.
Errors are raised as `CompozyError` and become the envelope of contract §3.1 in one place (`daemon/errors.py`).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import GenericAlias
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from compozy.daemon.body_limit import MAX_BODY_BYTES
from compozy.runtime.services import Services

# The most that a route for files may take; the handler has the exact bound, because it is a setting.
UPLOAD_BYTES = 1 << 30
# A record type, the members of an object, or nothing.
Shape = type | GenericAlias | Mapping[str, object] | None

Handler = Callable[[Services, Request], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True)
class Route:
    """One operation of the API.

    `kind` decides the guards: a `read` ignores unknown query parameters, a `write` refuses unknown or repeated
    ones (D23), `admit` is a write that is refused with 503 while draining, `privileged` needs a loopback peer.
    `query` names the parameters the route understands. `transport` limits a route to one listener.

    The rest describes the wire for OpenAPI (`daemon/openapi.py`): `body` is the struct that `read_body` decodes,
    `answer` a record type or the members of an object (``{"session": Session}``), None for an empty answer, and
    `streams` says that the success is a stream of server-sent events (then `answer` is what comes instead). `upload`
    names the part of a multipart body that is a file, `media` the type of an answer that is no JSON.
    `most_body_bytes` bounds the request's body (contract §1.3).
    `tool_errors` says that refusals may carry the tool endpoints' own envelope and statuses.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Handler
    name: str
    summary: str
    kind: Literal["read", "write", "admit", "privileged"] = "read"
    query: tuple[str, ...] = ()
    transport: Literal["any", "tcp", "unix"] = "any"
    body: type[msgspec.Struct] | None = None
    answer: Shape = None
    status: int = 200
    streams: bool = False
    upload: str = ""
    media: str = ""
    most_body_bytes: int = MAX_BODY_BYTES
    tool_errors: bool = False
