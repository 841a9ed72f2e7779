"""skill_list, skill_search, skill_view over the skill folders that exist (contract §6.2, §8).

The folders of the home, the workspace with its additional ones, and the agent itself; a name in a nearer folder
hides the same name farther away. Disabled skills are not offered. Conditions and marketplace rules are not looked at.
"""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from compozy.catalog.skills import skills_below
from compozy.config.home import Home
from compozy.documents.files import read_regular
from compozy.documents.skill_file import SHOWN_DESCRIPTION, Skill
from compozy.lexical.index import LexicalIndex, combine, read_query
from compozy.lexical.words import split_name, tokens
from compozy.model.errors import InvalidRequest, NotFound
from compozy.model.workspace import Workspace
from compozy.runtime.configs import Configs
from compozy.runtime.fleet import Fleet
from compozy.runtime.tools.native.kit import CATALOG, Actor, Arguments, NativeTool, native
from compozy.runtime.tools.native.places import Places

_MOST_FILES = 300
_LARGEST = 1 << 20
_WORKSPACE = "A workspace by id, name or path; the session's own when left out."


class SkillList(Arguments, frozen=True, kw_only=True):
    workspace: Annotated[str, Meta(description=_WORKSPACE)] = ""


class SkillSearch(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(min_length=1, max_length=500, description="What the skill should help with.")]
    limit: Annotated[int, Meta(ge=1, le=100)] = 10
    workspace: Annotated[str, Meta(description=_WORKSPACE)] = ""


class SkillView(Arguments, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, description="The skill's name.")]
    file: Annotated[str, Meta(description="Another file of the skill's folder, by its relative path.")] = ""
    workspace: Annotated[str, Meta(description=_WORKSPACE)] = ""


@dataclass(frozen=True, kw_only=True)
class FoundSkill:
    """A skill and where it lies."""

    skill: Skill
    path: Path
    source: str


class SkillTools:
    """The tools about skills."""

    def __init__(self, home: Home, configs: Configs, fleet: Fleet, places: Places) -> None:
        self._home = home
        self._configs = configs
        self._fleet = fleet
        self._places = places

    def tools(self) -> tuple[NativeTool, ...]:
        """Return them."""
        group = (CATALOG,)
        return (
            native(
                "skill_list",
                SkillList,
                self._list,
                "List the skills this agent can use: instructions for a sort of work.",
                title="List skills",
                toolsets=group,
            ),
            native(
                "skill_search",
                SkillSearch,
                self._search,
                "Search skills by what they help with.",
                title="Search skills",
                toolsets=group,
                hints=("how to", "instructions", "guide"),
            ),
            native(
                "skill_view",
                SkillView,
                self._view,
                "Read a skill's instructions, or another file of its folder.",
                title="Read a skill",
                toolsets=group,
            ),
        )

    async def _list(self, actor: Actor, given: SkillList) -> object:
        return {"skills": [_row(found) for found in await self._enabled(actor, given.workspace)]}

    async def _search(self, actor: Actor, given: SkillSearch) -> object:
        found = await self._enabled(actor, given.workspace)
        words = [
            tokens(split_name(f"{item.skill.name} {item.skill.name} {item.skill.description}")) for item in found
        ]
        scores = combine(LexicalIndex(words).score(read_query(tokens(split_name(given.query))))) if found else {}
        best = sorted(scores, key=lambda place: (-scores[place], place))[: given.limit]
        return {"skills": [_row(found[place]) for place in best]}

    async def _view(self, actor: Actor, given: SkillView) -> object:
        known = {item.skill.name: item for item in await self._enabled(actor, given.workspace)}
        found = known.get(given.name.strip())
        if found is None:
            names = ", ".join(sorted(known)) or "none"
            raise NotFound(
                f"skill {given.name!r} is not one this agent can use; there are: {names}", code="skill_not_found"
            )
        if not given.file.strip():
            return {**_row(found), "content": found.skill.body, "files": await asyncio.to_thread(_files, found.path)}
        text = await asyncio.to_thread(_read_beside, found.path, given.file.strip())
        return {**_row(found), "file": given.file.strip(), "content": text}

    async def _enabled(self, actor: Actor, reference: str) -> list[FoundSkill]:
        workspace = await self._places.find(actor, reference)
        config = await self._configs.of(workspace.root_dir if workspace else "")
        if not config.skills.enabled:
            return []
        disabled, own = set(config.skills.disabled_skills), None
        if actor.scope.agent_name:
            agent = await self._fleet.find(actor.scope.agent_name, actor.workspace)
            disabled.update(agent.loaded.definition.skills_disabled)
            own = agent.loaded.path.parent / "skills"
        folders = self._folders(workspace, own)
        found = await asyncio.to_thread(_read_all, folders)
        return [found[name] for name in sorted(found) if name not in disabled]

    def _folders(self, workspace: Workspace | None, own: Path | None) -> list[tuple[str, Path]]:
        """Return the folders from the farthest to the nearest."""
        folders = [("user", self._home.root / "skills")]
        if workspace is not None:
            folders += [("workspace", Path(place) / ".compozy" / "skills") for place in workspace.add_dirs]
            folders.append(("workspace", Path(workspace.root_dir) / ".compozy" / "skills"))
        if own is not None:
            folders.append(("agent", own))
        return folders


def _row(found: FoundSkill) -> dict[str, object]:
    return {
        "name": found.skill.name,
        "description": found.skill.description[:SHOWN_DESCRIPTION],
        "source": found.source,
        "dir": str(found.path.parent),
    }


def _read_all(folders: list[tuple[str, Path]]) -> dict[str, FoundSkill]:
    return {
        found.skill.name: FoundSkill(skill=found.skill, path=found.path, source=source)
        for source, folder in folders
        for found in skills_below(folder)
    }


def _files(path: Path) -> list[str]:
    folder = path.parent
    found = (item for item in sorted(folder.rglob("*")) if item.is_file() and not item.is_symlink() and item != path)
    return [str(item.relative_to(folder)) for _, item in zip(range(_MOST_FILES), found, strict=False)]


def _read_beside(path: Path, wanted: str) -> str:
    folder = Path(os.path.realpath(path.parent))
    target = Path(os.path.realpath(folder / wanted))
    if not target.is_relative_to(folder) or not target.is_file():
        raise NotFound(f"file {wanted!r} does not lie in the skill's folder; skill_view lists its files")
    data = read_regular(target, _LARGEST)
    if len(data) > _LARGEST:
        raise InvalidRequest(f"file {wanted!r} is larger than {_LARGEST} bytes")
    return data.decode("utf-8", "replace")
