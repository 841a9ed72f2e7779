"""Which authored files lie at and below a path: single files, agent folders, workspaces, homes (issue 3 item 4).

Only names and kinds are looked at here; nothing is read. Links are listed as they are, so that the check can refuse
them; folders that are links are never entered.
"""

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from compozy.model.errors import InvalidRequest

# As many entries as a skill scan may look at (contract §8): a link loop or a home in / must end.
_MAX_ENTRIES = 20_000


class Kind(StrEnum):
    """What a file is, by its name and place."""

    AGENT = "agent"
    CATALOG = "capabilities"
    """The capability catalog of an agent folder: any of its three layouts; the path is the folder."""
    CAPABILITY_FILE = "capability file"
    CAPABILITY_RECORD = "capability"
    """One file of a capabilities/ folder."""
    MCP = "mcp"
    SOUL = "soul"
    HEARTBEAT = "heartbeat"
    SKILL = "skill"


class Target(NamedTuple):
    """One thing to check."""

    kind: Kind
    path: Path


_BY_NAME = {
    "AGENT.md": Kind.AGENT,
    "SKILL.md": Kind.SKILL,
    "SOUL.md": Kind.SOUL,
    "HEARTBEAT.md": Kind.HEARTBEAT,
    "mcp.json": Kind.MCP,
    "capabilities.toml": Kind.CAPABILITY_FILE,
    "capabilities.json": Kind.CAPABILITY_FILE,
}
CATALOG_NAMES = ("capabilities.toml", "capabilities.json", "capabilities")


class NothingToCheck(InvalidRequest):
    """A path that does not exist or holds nothing this program authors."""

    default_code = "nothing_to_check"


def targets_at(path: Path) -> list[Target]:
    """Return what there is to check at a path a person named.

    Raises:
        NothingToCheck: it does not exist, or is a file of no known kind.
    """
    path = Path(os.path.abspath(path))
    if not os.path.lexists(path):
        raise NothingToCheck(f"{str(path)!r} does not exist; name a file, an agent folder or a workspace")
    if path.is_symlink() or not path.is_dir():
        return [_file_target(path)]
    found = list(_folder_targets(path))
    if not found and path.name not in ("agents", "skills", ".compozy"):
        raise NothingToCheck(
            f"{str(path)!r} holds no agent, skill, capability or mcp.json; name an agent folder or a workspace"
        )
    return found


def _file_target(path: Path) -> Target:
    kind = _BY_NAME.get(path.name)
    if kind is None and path.parent.name == "capabilities" and path.suffix in (".toml", ".json"):
        kind = Kind.CAPABILITY_RECORD
    if kind is None and path.suffix == ".md":
        kind = Kind.AGENT
    if kind is None and path.suffix == ".json" and "mcp" in path.name:
        kind = Kind.MCP
    if kind is None:
        raise NothingToCheck(
            f"{str(path)!r} is no file this command knows; it checks AGENT.md, SKILL.md, SOUL.md, HEARTBEAT.md, "
            "mcp.json and capability files"
        )
    return Target(kind, path)


def _folder_targets(path: Path) -> Iterator[Target]:
    if _exists(path / "AGENT.md"):
        yield from agent_folder_targets(path)
    elif _exists(path / "SKILL.md"):
        yield Target(Kind.SKILL, path / "SKILL.md")
    elif path.name == "capabilities":
        yield Target(Kind.CATALOG, path.parent)
    elif (path / ".compozy").is_dir():
        yield from root_targets(path / ".compozy")
    elif path.name in ("agents", "skills"):
        yield from (_agents(path) if path.name == "agents" else _skills(path))
    else:
        yield from root_targets(path)


def root_targets(root: Path) -> Iterator[Target]:
    """Yield what lies in a `.compozy` folder or in a home."""
    yield from _agents(root / "agents")
    yield from _skills(root / "skills")
    if _exists(root / "mcp.json"):
        yield Target(Kind.MCP, root / "mcp.json")
    if any(_exists(root / name) for name in CATALOG_NAMES) and not _exists(root / "AGENT.md"):
        yield Target(Kind.CATALOG, root)


def agent_folder_targets(folder: Path) -> Iterator[Target]:
    """Yield AGENT.md and everything that belongs to it."""
    yield Target(Kind.AGENT, folder / "AGENT.md")
    if any(_exists(folder / name) for name in CATALOG_NAMES):
        yield Target(Kind.CATALOG, folder)
    for name in ("mcp.json", "SOUL.md", "HEARTBEAT.md"):
        if _exists(folder / name):
            yield Target(_BY_NAME[name], folder / name)
    yield from _skills(folder / "skills")


def _agents(folder: Path) -> Iterator[Target]:
    for child in _children(folder):
        if child.is_dir() and _exists(child / "AGENT.md"):
            yield from agent_folder_targets(child)


def _skills(folder: Path) -> Iterator[Target]:
    """Yield every SKILL.md at any depth, in order of the paths."""
    if folder.is_symlink() or not folder.is_dir():
        return
    seen = 0
    for place, folders, files in os.walk(folder):
        folders.sort(key=os.fsencode)
        seen += len(folders) + len(files)
        if "SKILL.md" in files or "SKILL.md" in folders:
            yield Target(Kind.SKILL, Path(place) / "SKILL.md")
        if seen > _MAX_ENTRIES:
            return


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir(), key=lambda child: os.fsencode(child.name))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        # An unreadable folder is reported by discovery, which reads the same roots (decisions D8).
        return []


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def workspace_of(start: Path, home: Path) -> Path | None:
    """Return the nearest folder at or above `start` that holds `.compozy`; the home's own folder is none."""
    for folder in (start, *start.parents):
        inner = folder / ".compozy"
        if inner.is_dir() and inner != home:
            return folder
    return None
