"""Finding the route of a request: fixed paths by dictionary, paths with parameters segment by segment.

Strict about paths (contract §3): no trailing slash, no empty segment. Parameters are decoded per segment, so that an
encoded slash stays inside its parameter. Knows nothing of handlers.
"""

from collections.abc import Iterable
from urllib.parse import unquote

from compozy.daemon.routing import Route

_PARAMETER = "{}"
Shape = tuple[str, ...]


class RouteTable:
    """All routes of one application."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._fixed: dict[str, dict[str, Route]] = {}
        self._shapes: dict[int, dict[Shape, dict[str, Route]]] = {}
        for route in routes:
            self._add(route)
        for length, rows in self._shapes.items():
            # Fixed segments win over parameters: /sessions/catalog-stream before /sessions/{id}.
            ordered = sorted(rows.items(), key=lambda row: tuple(part == _PARAMETER for part in row[0]))
            self._shapes[length] = dict(ordered)

    def _add(self, route: Route) -> None:
        # The names of parameters do not tell routes apart: GET /a/{x} and DELETE /a/{y} are one path.
        shape = tuple(_PARAMETER if part.startswith("{") else part for part in _segments(route.path))
        if _PARAMETER in shape:
            methods = self._shapes.setdefault(len(shape), {}).setdefault(shape, {})
        else:
            methods = self._fixed.setdefault(route.path, {})
        if route.method in methods:
            raise ValueError(f"two routes for {route.method} {route.path!r}; remove one")
        methods[route.method] = route

    def find(self, raw_path: bytes) -> dict[str, Route]:
        """Return the routes of a path by method, none when the path is unknown."""
        path = raw_path.decode("ascii", "replace")
        fixed = self._fixed.get(path)
        if fixed is not None:
            return fixed
        segments = _segments(path)
        if path.startswith("/") and all(segments):
            for shape, methods in self._shapes.get(len(segments), {}).items():
                if all(part in (_PARAMETER, given) for part, given in zip(shape, segments, strict=True)):
                    return methods
        return {}


def path_parameters(route: Route, raw_path: bytes) -> dict[str, str]:
    """Return the decoded parameters of a path that matched `route`."""
    pairs = zip(_segments(route.path), _segments(raw_path.decode("ascii", "replace")), strict=True)
    return {name[1:-1]: unquote(value) for name, value in pairs if name.startswith("{")}


def _segments(path: str) -> list[str]:
    return path[1:].split("/")
