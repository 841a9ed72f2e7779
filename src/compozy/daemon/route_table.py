"""Finding the route of a request: fixed paths by dictionary, paths with parameters segment by segment.

Strict about paths (contract §3): no trailing slash, no empty segment. Parameters are decoded per segment, so that an
encoded slash stays inside its parameter. Knows nothing of handlers.
"""

from collections.abc import Iterable
from urllib.parse import unquote

from compozy.daemon.routing import Route

Segments = tuple[str, ...]


class RouteTable:
    """All routes of one application."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._fixed: dict[str, dict[str, Route]] = {}
        self._patterns: dict[int, list[tuple[Segments, dict[str, Route]]]] = {}
        for route in routes:
            self._add(route)

    def _add(self, route: Route) -> None:
        methods = self._methods(route.path)
        if route.method in methods:
            raise ValueError(f"two routes for {route.method} {route.path!r}; remove one")
        methods[route.method] = route

    def _methods(self, path: str) -> dict[str, Route]:
        segments = tuple(path.strip("/").split("/"))
        if not any(part.startswith("{") for part in segments):
            return self._fixed.setdefault(path, {})
        bucket = self._patterns.setdefault(len(segments), [])
        for known, methods in bucket:
            if known == segments:
                return methods
        bucket.append((segments, {}))
        # Fixed segments win over parameters: /sessions/catalog-stream before /sessions/{id}.
        bucket.sort(key=lambda row: tuple(part.startswith("{") for part in row[0]))
        return next(methods for known, methods in bucket if known == segments)

    def find(self, raw_path: bytes) -> tuple[dict[str, Route], dict[str, str]]:
        """Return the routes of a path by method, and its parameters; no routes when the path is unknown."""
        path = raw_path.decode("ascii", "replace")
        fixed = self._fixed.get(path)
        if fixed is not None:
            return fixed, {}
        segments = path[1:].split("/")
        if path.startswith("/") and all(segments):
            for pattern, methods in self._patterns.get(len(segments), ()):
                values = _match(pattern, segments)
                if values is not None:
                    return methods, values
        return {}, {}


def _match(pattern: Segments, segments: list[str]) -> dict[str, str] | None:
    values: dict[str, str] = {}
    for expected, segment in zip(pattern, segments, strict=True):
        if expected.startswith("{"):
            values[expected[1:-1]] = unquote(segment)
        elif expected != segment:
            return None
    return values
