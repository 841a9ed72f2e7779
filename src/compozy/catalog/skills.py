"""The skills below a folder (contract §8): one walk for choosing, for offering, and for what needs trust.

What one of them saw and another did not would be trusted unseen. Conditions and shadowing are not decided here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from compozy.documents.files import read_regular
from compozy.documents.skill_file import Skill, read_skill

# Contract §8: no root is searched further; decisions D11 for the size.
MOST_SKILLS = 300
_LARGEST = 4 << 20


class SkillFile(NamedTuple):
    """A SKILL.md that loads."""

    path: Path
    data: bytes
    skill: Skill


def skills_below(folder: Path) -> Iterator[SkillFile]:
    """Yield the skills below a folder by path; what cannot be read or does not load is left out."""
    if not folder.is_dir():
        return
    for number, path in enumerate(sorted(folder.rglob("SKILL.md"))):
        if number == MOST_SKILLS:
            return
        try:
            data = read_regular(path, _LARGEST)
        except OSError:
            continue
        if len(data) > _LARGEST:
            continue
        skill, _ = read_skill(data, str(path))
        if skill is not None:
            yield SkillFile(path, data, skill)
