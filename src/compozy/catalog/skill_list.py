"""Which skills lie where: one row per SKILL.md that loads, by name; the workspace's win over the home's.

For lists only. Whether a skill is active, its conditions and its trust are decided elsewhere.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from compozy.documents.files import FileProblem, open_child_folder, open_folder, read_file
from compozy.documents.skill_file import read_skill
from compozy.model.workspace_detail import ListedSkill

SKILL_FILE = "SKILL.md"


def list_skills(workspace: Path, home: Path) -> tuple[ListedSkill, ...]:
    """Return the skills of a workspace and of the home."""
    found: dict[str, ListedSkill] = {}
    for skill in (*_skills(workspace / ".compozy" / "skills", "workspace"), *_skills(home / "skills", "user")):
        found.setdefault(skill.name, skill)
    return tuple(found[name] for name in sorted(found))


def _skills(folder: Path, source: Literal["workspace", "user"]) -> Iterator[ListedSkill]:
    try:
        handle = open_folder(folder, "skills folder")
    except FileProblem:
        return
    try:
        for name in sorted(os.listdir(handle), key=os.fsencode):  # noqa: PTH208 - an open handle, not a path
            declared = _name(handle, name)
            if declared:
                yield ListedSkill(name=declared, dir=str(folder / name), source=source)
    finally:
        os.close(handle)


def _name(parent: int, name: str) -> str:
    try:
        handle = open_child_folder(parent, name, "open skill folder", name)
    except FileProblem:
        return ""
    try:
        data, _ = read_file(handle, SKILL_FILE, "read skill", name)
    except FileProblem:
        return ""
    finally:
        os.close(handle)
    skill, _ = read_skill(data, name)
    return skill.name if skill else ""
