"""What shows only when definitions are seen together: taken and reserved names, stubs that hide, unreadable places.

Asks discovery, which decides what is in force, and keeps the findings that no single file has (decisions D7, D8).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from compozy.catalog.checking.files import read_text
from compozy.catalog.discovery import discover
from compozy.documents.origins import Origins
from compozy.documents.problems import diagnostic
from compozy.model.diagnostic import Diagnostic, Position

_CODES = frozenset({"name-reserved", "discovery-same-name", "discovery-small-shadow"})


class Place(NamedTuple):
    """Definitions that are seen together: a workspace, a home's agents folder, or both."""

    workspace: Path | None = None
    home_agents: Path | None = None


def place_of(path: Path) -> Place | None:
    """Return what a folder a person named is, or None for a file, an agent folder, a skill."""
    if not path.is_dir() or path.is_symlink() or (path / "AGENT.md").exists():
        return None
    if (path / ".compozy").is_dir():
        return Place(workspace=path)
    if path.name == ".compozy" and (path / "agents").is_dir() and not (path / "config.toml").exists():
        return Place(workspace=path.parent)
    if path.name == "agents":
        return Place(workspace=path.parent.parent) if path.parent.name == ".compozy" else Place(home_agents=path)
    return Place(home_agents=path / "agents") if (path / "agents").is_dir() else None


def check_together(places: Iterable[Place]) -> tuple[Diagnostic, ...]:
    """Return the findings of all places, each once."""
    found: list[Diagnostic] = []
    for place in dict.fromkeys(places):
        discovery = discover(workspace=place.workspace, home_agents=place.home_agents)
        for source in discovery.sources:
            if source.state == "unreadable":
                found.append(diagnostic("unreadable", source.message, source.path))
        for row in discovery.diagnostics:
            if row.diagnostic.code in _CODES:
                found.append(_placed(row.diagnostic))
    return tuple(dict.fromkeys(found))


def _placed(one: Diagnostic) -> Diagnostic:
    """Point at the line that declares the name."""
    line = Origins(read_text(Path(one.path)) or "").lines.get("name")
    if line is None:
        return one
    return replace(one, position=Position(line=line, column=1, length=len("name")))
