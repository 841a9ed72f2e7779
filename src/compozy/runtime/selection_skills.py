"""Which skills an agent can use, by name: what counts beside its capabilities (D29; contract §8).

Reads the headers of SKILL.md files in the home, the workspace and the agent's own folder. Conditions of skills and
the higher layers' shadowing do not matter here: only names are counted, and a disabled name is disabled everywhere.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from compozy.catalog.skills import skills_below
from compozy.model.agent import Agent


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
    return {found.skill.name for found in skills_below(root)}
