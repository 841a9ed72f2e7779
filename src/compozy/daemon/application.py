"""The one ASGI application behind both listeners: guards, routing, admission, errors (contract §1.3, §3.1).

Handlers decode, call one service, encode; everything every request has in common happens here, in a fixed order:
guards of the transport, route, loopback, admission, query rules, body limit, handler, error envelope.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from compozy.daemon.body_limit import LimitedBody, check_declared_length
from compozy.daemon.errors import error_response
from compozy.daemon.guards import TcpGuard, is_loopback_peer, refuse_repeated
from compozy.daemon.route_table import RouteTable, path_parameters
from compozy.daemon.routing import Route
from compozy.daemon.sse import STOP_KEY
from compozy.model.errors import CompozyError, Forbidden, InvalidRequest, NotFound, TooLarge, Unavailable
from compozy.runtime.services import Services

_log = logging.getLogger("compozy.http")
Transport = Literal["tcp", "unix"]
_EXPOSED = "x-vercel-ai-ui-message-stream, x-compozy-version"
_PREFLIGHT = {
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
    "access-control-allow-headers": "Content-Type, Last-Event-ID, Accept, Authorization",
    "access-control-max-age": "600",
}
# Nobody waits longer for a client that keeps sending a refused body.
_DISCARD_SECONDS = 10.0


class MethodNotAllowed(CompozyError):
    """The path exists, the method does not."""

    status = 405
    default_code = "method_not_allowed"


class Application:
    """Serves `routes` over `services`."""

    def __init__(
        self,
        services: Services,
        routes: Sequence[Route],
        *,
        guard: TcpGuard | None,
        stop: asyncio.Event,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._services = services
        self._table = RouteTable(routes)
        self._guard = guard
        self._stop = stop
        self._redact = redact

    def on(self, transport: Transport) -> ASGIApp:
        """Return the application as one listener calls it."""
        return partial(self._serve, transport)

    async def _serve(self, transport: Transport, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        scope[STOP_KEY] = self._stop
        body = LimitedBody(receive)
        headers = Headers(scope=scope)
        try:
            response = await self._answer(transport, scope, body, headers)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001 - the supervisor of all requests: every fault gets an envelope
            response = self._failed(error, transport, scope)
            if isinstance(error, TooLarge):
                await _refuse_body(response, scope, body, send)
                return
        if transport == "tcp":
            self._allow_origin(response, headers)
        await response(scope, receive, send)

    async def _answer(self, transport: Transport, scope: Scope, body: LimitedBody, headers: Headers) -> Response:
        method: str = scope["method"]
        if transport == "tcp" and self._guard is not None:
            refuse_repeated(scope["headers"])
            self._guard.check(method, headers)
        if method == "OPTIONS":
            return Response(status_code=204, headers=_PREFLIGHT)
        route = self._route(transport, scope, method)
        self._admit(route, scope)
        body.limit = route.most_body_bytes
        check_declared_length(headers, body.limit)
        return await route.handler(self._services, Request(scope, body))

    def _route(self, transport: Transport, scope: Scope, method: str) -> Route:
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        found = self._table.find(raw)
        routes = {name: route for name, route in found.items() if route.transport in ("any", transport)}
        if not routes:
            raise NotFound(
                f"no route {scope['path']!r}; the routes are listed in docs/api.md", code="route_not_found"
            )
        route = routes.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = ", ".join(sorted(routes))
            raise MethodNotAllowed(
                f"{method} is not possible on {scope['path']!r}; use {allowed}", details={"allow": allowed}
            )
        scope["path_params"] = path_parameters(route, raw)
        return route

    def _admit(self, route: Route, scope: Scope) -> None:
        if route.kind == "read":
            return
        if route.kind == "privileged" and not is_loopback_peer(scope.get("client")):
            raise Forbidden(f"{route.method} {route.path} is possible from this machine only", code="loopback_only")
        if route.kind == "admit" and self._services.status.is_draining:
            raise Unavailable(
                "daemon is draining; new work admission is closed",
                code="daemon_draining",
                hint="compozy undrain",
                diagnostic=True,
            )
        _check_query(route, scope["query_string"])

    def _failed(self, error: Exception, transport: Transport, scope: Scope) -> Response:
        request = f"{scope['method']} {scope['path']}"
        response = error_response(error, transport=transport, request=request, redact=self._redact)
        if isinstance(error, MethodNotAllowed):
            response.headers["allow"] = error.details["allow"]
        return response

    def _allow_origin(self, response: Response, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is not None and self._guard is not None and self._guard.is_own_origin(origin):
            response.headers["access-control-allow-origin"] = origin
            response.headers["access-control-expose-headers"] = _EXPOSED
            response.headers["vary"] = "Origin"


def _check_query(route: Route, query: bytes) -> None:
    """Refuse unknown and repeated query parameters on a route that changes something (D23)."""
    if not query:
        return
    counts = Counter(name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    for name, count in counts.items():
        if name not in route.query:
            known = ", ".join(route.query) or "none"
            raise InvalidRequest(
                f"unknown query parameter {name!r}; known here: {known}", code="unknown_query_parameter"
            )
        if count > 1:
            raise InvalidRequest(f"query parameter {name!r} is given {count} times; give it once")


async def _refuse_body(response: Response, scope: Scope, body: LimitedBody, send: Send) -> None:
    """Answer 413 at once, then read past what the client is still sending, so that it can read the answer."""
    response.headers["connection"] = "close"
    await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
    await send({"type": "http.response.body", "body": bytes(response.body), "more_body": True})
    try:
        async with asyncio.timeout(_DISCARD_SECONDS):
            await body.discard_rest()
    except TimeoutError:
        _log.warning("a client kept sending a refused body", extra={"path": scope["path"]})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
