"""Which skills an agent can use, by name: what counts beside its capabilities (D29; contract §8).

Reads the headers of SKILL.md files in the home, the workspace and the agent's own folder. Conditions of skills and
the higher layers' shadowing do not matter here: only names are counted, and a disabled name is disabled everywhere.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from compozy.documents.files import read_regular
from compozy.documents.skill_file import read_skill
from compozy.model.agent import Agent

# Contract §8: no root is searched further.
_MOST_SKILLS = 300
_LARGEST = 1 << 20


def enabled_skills(agents: Sequence[Agent], roots: Iterable[Path]) -> dict[str, frozenset[str]]:
    """Return the names of the enabled skills of each agent; `roots` are the folders that all of them share."""
    shared: set[str] = set()
    for root in roots:
        shared |= _names(root)
    found: dict[str, frozenset[str]] = {}
    for agent in agents:
        own = _names(Path(agent.path).parent / "skills") if agent.path else set()
        disabled = agent.skills.disabled if agent.skills else ()
        found[agent.name] = frozenset((shared | own).difference(disabled))
    return found


def _names(root: Path) -> set[str]:
    if not root.is_dir():
        return set()
    names: set[str] = set()
    for number, path in enumerate(sorted(root.rglob("SKILL.md"))):
        if number == _MOST_SKILLS:
            break
        try:
            data = read_regular(path, _LARGEST)
        except OSError:
            # A skill that cannot be read is not enabled for anybody.
            continue
        if len(data) > _LARGEST:
            continue
        skill, _ = read_skill(data, str(path))
        if skill is not None:
            names.add(skill.name)
    return names
