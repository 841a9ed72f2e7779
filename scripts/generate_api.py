"""Writes docs/api.md from the daemon's routes, so that the list cannot differ from the program.

Run it after a change of a route: `.venv/bin/python scripts/generate_api.py`. A test compares.
"""

from pathlib import Path

from compozy.daemon.routes import ALL_ROUTES
from compozy.daemon.routing import Route

TARGET = Path(__file__).resolve().parents[1] / "docs" / "api.md"

HEAD = """# Routes of the API

This page is generated from the program (`scripts/generate_api.py`).

The daemon answers the same routes on its Unix socket (`http://localhost/api/…` through `daemon.sock`) and on
`http://localhost:2123`. Bodies and answers are JSON; times are RFC 3339 in UTC. How errors look and who may call is
described in [the daemon](daemon.md).

```sh
curl --unix-socket ~/.compozy/daemon.sock http://localhost/api/status
```

A route that is marked *admits work* is refused with 503 `daemon_draining` while the daemon drains; *local only* needs
a caller on this machine. Unknown query parameters are refused on every method but GET.
"""
_KINDS = {"read": "", "write": "", "admit": "admits work", "privileged": "local only"}


def render() -> str:
    """Return the page."""
    parts = [HEAD]
    for area in dict.fromkeys(_area(route) for route in ALL_ROUTES):
        parts.append(f"\n## {area}\n")
        parts.append("| route | what it does | query | |\n|---|---|---|---|")
        parts.extend(_row(route) for route in ALL_ROUTES if _area(route) == area)
    return "\n".join(parts) + "\n"


def _area(route: Route) -> str:
    parts = route.path.removeprefix("/api/").split("/")
    if "sessions" in parts:
        return "Sessions"
    return parts[0].capitalize() if parts[0] not in ("status", "doctor", "drain", "undrain") else "The daemon"


def _row(route: Route) -> str:
    query = ", ".join(f"`{name}`" for name in route.query)
    notes = [_KINDS[route.kind], "" if route.transport == "any" else f"{route.transport} only"]
    marks = ", ".join(note for note in notes if note)
    return f"| `{route.method} {route.path}` | {route.summary} | {query} | {marks} |"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
